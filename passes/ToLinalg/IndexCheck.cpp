// `raise`: before a gather or scatter, a reduction finds one position of each index array that lies
// outside, if there is one, and the program reports it. The reduction is an ordinary linalg op and
// only numbers reach the call, so neither fusion nor bufferisation has an order to keep.
#include "ToLinalg/Lowering.h"
#include "XTensor/IndexOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace xtensor;

static void declareReport(Lowering &to) {
  auto module = to.getFunc()->getParentOfType<ModuleOp>();
  if (module.lookupSymbol("xt_report_index"))
    return;
  OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
  Type i64 = b.getI64Type();
  auto report = func::FuncOp::create(b, module.getLoc(), "xt_report_index",
                                     b.getFunctionType({b.getI32Type(), i64, i64}, {}));
  report.setPrivate();
}

void xtensor::checkIndex(Value index, StringAttr dim, ArrayType source, Lowering &to) {
  ArrayType type = arrayType(index);
  if (isKnownInside(index, source, dim) || llvm::is_contained(type.getShape(), 0) ||
      !to.firstCheck(index, dim, source.getSize(dim)))
    return;
  OpBuilder &b = to.b;
  Location loc = to.loc();
  Type element = type.getElementType();
  Value size = b.createOrFold<arith::IndexCastOp>(loc, b.getI64Type(), to.sizeValue(dim, source));
  // Read as unsigned, positions outside are those that are not below the size. The largest of them
  // is reported: a negative one, if there is any.
  Value zero = to.constant(b.getI64IntegerAttr(0));
  View view = to.view(index);
  Value worst;
  if (view.kind == View::Scalar) {
    worst = fromEnd(b, loc, toI64(b, loc, view.source, element), size, element);
  } else {
    Stored stored = to.stored(index);
    unsigned rank = type.getRank();
    auto number = ArrayType::get(b.getContext(), {}, {}, b.getI64Type());
    View input{View::Tensor, stored.tensor, b.getMultiDimIdentityMap(rank), element};
    Value reduced =
        to.generic(
              input, to.filled(number, zero), AffineMap::get(rank, 0, b.getContext()), rank,
              [&](OpBuilder &b, Location loc, ValueRange x, ValueRange old) {
                Value position = fromEnd(b, loc, toI64(b, loc, x.front(), element), size, element);
                return SmallVector<Value>{arith::MaxUIOp::create(b, loc, old.front(), position)};
              })
            .front();
    worst = Lowering::elementAt(
        b, loc, {View::Tensor, reduced, AffineMap::get(0, 0, b.getContext()), b.getI64Type()}, {});
  }
  Value outside = b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::uge, worst, size);
  if (source.isDynamic(dim) || source.getSize(dim) == 0)
    for (StringAttr own : dynamicDims(type)) {
      // Over no indices the reduction gives 0, which is outside of an empty dim.
      Value some = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, to.sizeValue(own, type),
                                         to.index(0));
      outside = arith::AndIOp::create(b, loc, outside, some);
    }
  if (isUnsigned(element))
    return reportWhere(outside, dim, worst, size, to, /*isUnsigned=*/true);
  // As the user wrote it: a position before the start was counted from the end.
  Value before = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, worst, zero);
  Value back = arith::SubIOp::create(b, loc, worst, size);
  Value written = arith::SelectOp::create(b, loc, before, back, worst);
  reportWhere(outside, dim, written, size, to);
}

void xtensor::reportWhere(Value condition, StringAttr dim, Value index, Value size, Lowering &to,
                          bool isUnsigned) {
  declareReport(to);
  Value site = to.constant(to.b.getI32IntegerAttr(to.addSite(dim, isUnsigned)));
  scf::IfOp::create(to.b, to.loc(), condition, [&](OpBuilder &b, Location loc) {
    func::CallOp::create(b, loc, "xt_report_index", TypeRange(), ValueRange{site, index, size});
    scf::YieldOp::create(b, loc);
  });
}
