// Result types and verifiers of what processes do together.
#include "XTensor/Fault.h"
#include "XTensor/TypeInference.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace xtensor;

LogicalResult AllReduceOp::inferReturnTypes(MLIRContext *, MaybeLoc, Adaptor adaptor,
                                            Types &types) {
  llvm::append_range(types, adaptor.getXs().getTypes());
  return success();
}

LogicalResult AllReduceOp::verify() {
  if (getXs().empty())
    return emitOpError() << "there is no array to combine";
  Type element = arrayType(getXs().front()).getElementType();
  for (Value x : getXs().drop_front())
    if (arrayType(x).getElementType() != element)
      return emitOpError() << Fault::DType << "arrays of " << element << " and "
                           << arrayType(x).getElementType() << " are not sent together";
  bool ofBools = llvm::is_contained({ReduceKind::any, ReduceKind::all}, getKind());
  if (llvm::is_contained({ReduceKind::argmax, ReduceKind::argmin}, getKind()))
    return emitOpError() << "there is no " << stringifyReduceKind(getKind()) << " of processes";
  if (ofBools != arrayType(getXs().front()).isBool())
    return emitOpError() << Fault::DType << stringifyReduceKind(getKind()) << " of " << element;
  return success();
}

LogicalResult AllGatherOp::inferReturnTypes(MLIRContext *, MaybeLoc loc, Adaptor adaptor,
                                            Types &types) {
  auto type = dyn_cast<ArrayType>(adaptor.getX().getType());
  if (!type)
    return emitOptionalError(loc, "all_gather: the operand must be an array");
  StringAttr dim = adaptor.getDimAttr();
  if (failed(checkDims("all_gather", loc, type, {dim})))
    return failure();
  auto processes = static_cast<int64_t>(adaptor.getProcesses());
  int64_t size;
  if (type.isDynamic(dim) || processes < 1 || llvm::MulOverflow(type.getSize(dim), processes, size))
    return emitOptionalError(loc, Fault::Size, "all_gather: ", processes, " parts along dim ", dim,
                             " of ", describeDims(type));
  types.push_back(withSize(type, dim, size));
  return success();
}

LogicalResult HaloOp::inferReturnTypes(MLIRContext *, MaybeLoc loc, Adaptor adaptor, Types &types) {
  auto type = dyn_cast<ArrayType>(adaptor.getX().getType());
  if (!type)
    return emitOptionalError(loc, "halo: the operand must be an array");
  StringAttr dim = adaptor.getDimAttr();
  if (failed(checkDims("halo", loc, type, {dim})))
    return failure();
  auto number = [](IntegerAttr attr) { return attr.getValue().getSExtValue(); };
  int64_t processes = number(adaptor.getProcessesAttr()), whole, last;
  int64_t start = number(adaptor.getStartAttr()), count = number(adaptor.getSizeAttr());
  bool isThere = !type.isDynamic(dim) && processes >= 1 && count >= 0 &&
                 !llvm::MulOverflow(type.getSize(dim), processes, whole) &&
                 !llvm::MulOverflow(number(adaptor.getStepAttr()), processes, last) &&
                 !llvm::AddOverflow(start, last, last) && !llvm::AddOverflow(last, count, last) &&
                 !llvm::AddOverflow(start, count, start);
  if (!isThere)
    return emitOptionalError(loc, Fault::Size, "halo: ", count, " elements of ", processes,
                             " parts along dim ", dim, " of ", describeDims(type));
  types.push_back(withSize(type, dim, count));
  return success();
}

LogicalResult AllToAllOp::inferReturnTypes(MLIRContext *, MaybeLoc loc, Adaptor adaptor,
                                           Types &types) {
  auto type = dyn_cast<ArrayType>(adaptor.getX().getType());
  if (!type)
    return emitOptionalError(loc, "all_to_all: the operand must be an array");
  StringAttr from = adaptor.getFromAttr(), to = adaptor.getToAttr();
  if (failed(checkDims("all_to_all", loc, type, {from, to})))
    return failure();
  auto processes = static_cast<int64_t>(adaptor.getProcesses());
  int64_t size;
  bool isThere = !type.isDynamic(from) && !type.isDynamic(to) && processes >= 1 &&
                 type.getSize(to) % processes == 0 &&
                 !llvm::MulOverflow(type.getSize(from), processes, size);
  if (!isThere)
    return emitOptionalError(loc, Fault::Size, "all_to_all: ", processes, " parts along dim ", from,
                             " of ", describeDims(type), " become parts along dim ", to);
  types.push_back(withSize(withSize(type, from, size), to, type.getSize(to) / processes));
  return success();
}

OpFoldResult AllToAllOp::fold(FoldAdaptor) {
  auto before = getX().getDefiningOp<AllToAllOp>();
  bool isUndone = before && before.getFrom() == getTo() && before.getTo() == getFrom() &&
                  before.getCommunicator() == getCommunicator() &&
                  before.getProcesses() == getProcesses();
  return isUndone ? before.getX() : Value();
}

LogicalResult ProcessIndexOp::inferReturnTypes(MLIRContext *context, MaybeLoc, Adaptor,
                                               Types &types) {
  types.push_back(ArrayType::get(context, {}, {}, IntegerType::get(context, 64)));
  return success();
}
