// Contractions of two arrays. A matrix product is brought to where a library takes it as it is:
// each operand and the result is, per batch element, one matrix with a leading dimension.
// Everything else is a plain loop nest.
#include "ToLinalg/TiledWindows.h"

#include "Estimates.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace xtensor;

namespace {

/// The dims of a contraction by where they occur.
struct Roles {
  Names batch, left, right, contracted;
};

/// An operand in memory.
struct Matrix {
  Value array;
  Value tensor;
  Names order;
  Type element; // in memory
};

} // namespace

static Roles classify(ArrayType left, ArrayType right, ArrayType result) {
  Roles roles;
  for (StringAttr name : result.getDimNames())
    (left.hasDim(name) ? right.hasDim(name) ? roles.batch : roles.left : roles.right)
        .push_back(name);
  for (StringAttr name : left.getDimNames())
    if (!result.hasDim(name))
      roles.contracted.push_back(name);
  return roles;
}

static Names only(ArrayRef<StringAttr> order, ArrayRef<StringAttr> dims) {
  Names result;
  for (StringAttr name : order)
    if (llvm::is_contained(dims, name))
      result.push_back(name);
  return result;
}

static Names joined(std::initializer_list<ArrayRef<StringAttr>> parts) {
  Names result;
  for (ArrayRef<StringAttr> part : parts)
    llvm::append_range(result, part);
  return result;
}

/// Whether the dims `rows` and `columns` each lie next to each other in `order`, so that they
/// merge into one, and the innermost dim is one of theirs.
static bool isMatrix(ArrayRef<StringAttr> order, ArrayRef<StringAttr> rows,
                     ArrayRef<StringAttr> columns) {
  auto group = [&](StringAttr name) {
    return llvm::is_contained(rows, name) ? 1 : llvm::is_contained(columns, name) ? 2 : 0;
  };
  unsigned changes[3] = {0, 0, 0};
  int previous = 0;
  for (StringAttr name : order) {
    int current = group(name);
    if (current != previous)
      ++changes[current];
    previous = current;
  }
  return previous != 0 && changes[1] <= 1 && changes[2] <= 1;
}

static Value multiplyAdd(OpBuilder &b, Location loc, ValueRange x, Value acc, Type element,
                         Type memory) {
  // Operands that were widened in memory are used as they are.
  auto widened = [&](Value v) { return v.getType() == memory ? v : load(b, loc, v, element); };
  Value left = widened(x[0]), right = widened(x[1]);
  if (isa<FloatType>(memory))
    return arith::AddFOp::create(b, loc, acc, arith::MulFOp::create(b, loc, left, right));
  return arith::AddIOp::create(b, loc, acc, arith::MulIOp::create(b, loc, left, right));
}

/// sum of left * right over all loops that `order` lacks, as a tensor with the dims `order`.
static Value emitLoops(ContractOp op, ArrayRef<View> inputs, ArrayRef<StringAttr> loops,
                       ArrayRef<StringAttr> order, Lowering &to) {
  ArrayType type = reordered(arrayType(op.getY()), order);
  Type element = type.getElementType(), memory = computeType(element);
  Value zero = to.filled(type.withElement(memory), to.number(memory, 0));
  Value result =
      to.generic(inputs, zero, to.mapTo(loops, order), loops.size() - order.size(),
                 [&](OpBuilder &b, Location loc, ValueRange x, ValueRange old) {
                   return SmallVector<Value>{multiplyAdd(b, loc, x, old[0], element, memory)};
                 })
          .front();
  if (memory == storageType(element))
    return result;
  View sum{View::Tensor, result, to.b.getMultiDimIdentityMap(type.getRank()), element};
  return to.elementwise(type, sum, [&](OpBuilder &b, Location loc, ValueRange x) {
    return store(b, loc, x.front(), element);
  });
}

//===- matrix products -----------------------------------------------------===//

/// Brings an operand into `order`, with elements wide enough for a library.
static void pack(Matrix &operand, Names order, Lowering &to) {
  operand.tensor = to.packed(operand.array, order, operand.element);
  operand.order = std::move(order);
}

static bool isWidened(const Matrix &operand) {
  return operand.element != storageType(arrayType(operand.array).getElementType());
}

//===- windows -------------------------------------------------------------===//

/// Steps of a loop along which vectors are worth their while.
static constexpr int64_t kLeastLanes = 4, kFullLanes = 10;
/// Times that an element of a kernel is read before a copy in a better order pays.
static constexpr int64_t kLeastReads = 64;

/// Whether neighbours along `dim` are neighbours in memory.
static bool isContiguous(const View &view, ArrayRef<StringAttr> names, StringAttr dim) {
  if (view.kind != View::Tensor || view.map.getNumResults() == 0)
    return false;
  unsigned loop = llvm::find(names, dim) - names.begin();
  if (loop == names.size())
    return false;
  AffineExpr along = getAffineDimExpr(loop, view.map.getContext());
  for (AffineExpr expr : view.map.getResults().drop_back())
    if (expr.isFunctionOfDim(loop))
      return false;
  // The last axis is read at a sum in which the dim appears once, by itself.
  AffineExpr last = view.map.getResults().back();
  AffineExpr rest = simplifyAffineExpr(last - along, view.map.getNumDims(), 0);
  return last.isFunctionOfDim(loop) && !rest.isFunctionOfDim(loop);
}

namespace {

/// A product of which one factor is windows, summed where the windows are: a CPU has loops for it
/// if vectors can run along a dim. Nothing of the size of all windows is stored.
class WindowProduct {
public:
  WindowProduct(ContractOp op, const Roles &roles, Lowering &to)
      : op(op), roles(roles), to(to), type(arrayType(op.getY())),
        slides(readsWindows(to.view(op.getInputs()[0]))), windows(op.getInputs()[slides ? 0 : 1]),
        kernel(op.getInputs()[slides ? 1 : 0]), windowNames(arrayType(windows).getDimNames()) {}

  bool isOne() const;
  /// Whether vectors can run along a dim of the result, the last one in memory, or along a sum.
  bool chooseOrder();
  void emit();

private:
  bool isKernels(StringAttr dim) const {
    return arrayType(kernel).hasDim(dim) && !arrayType(windows).hasDim(dim);
  }
  bool suits(StringAttr dim, int64_t lanes) const;
  bool sumsSuit(StringAttr dim) const;
  Stored storedKernel();

  ContractOp op;
  const Roles &roles;
  Lowering &to;
  ArrayType type;
  bool slides; // the first factor is the windows
  Value windows, kernel;
  Names windowNames, order; // order: of the result in memory
  bool alongSums = false;   // vectors run along a sum
};

} // namespace

bool WindowProduct::isOne() const {
  Type element = type.getElementType();
  auto isOpen = [](ArrayType type) {
    return type.getRank() > 0 && llvm::any_of(type.getShape().drop_front(), ShapedType::isDynamic);
  };
  return !to.isForDevice() && readsWindows(to.view(windows)) && !readsWindows(to.view(kernel)) &&
         (element.isF32() || element.isF64()) && !isOpen(arrayType(windows)) &&
         !isOpen(arrayType(kernel));
}

bool WindowProduct::suits(StringAttr dim, int64_t lanes) const {
  return type.getSize(dim) >= lanes &&
         (isKernels(dim) || isContiguous(to.view(windows), windowNames, dim));
}

bool WindowProduct::sumsSuit(StringAttr dim) const {
  return !type.hasDim(dim) && arrayType(kernel).getSize(dim) >= kLeastLanes &&
         isContiguous(to.view(windows), windowNames, dim);
}

bool WindowProduct::chooseOrder() {
  order = Names(type.getDimNames());
  if (suits(order.back(), kFullLanes))
    return true;
  // The result may be stored in another order, and its reader puts it right.
  StringAttr widest;
  for (StringAttr dim : order)
    if (isKernels(dim) && (!widest || type.getSize(dim) > type.getSize(widest)))
      widest = dim;
  for (StringAttr dim : order)
    if (!arrayType(kernel).hasDim(dim) && suits(dim, kFullLanes))
      widest = dim;
  if (!widest || !suits(widest, kFullLanes)) {
    if (suits(order.back(), kLeastLanes))
      return true;
    View stored = to.view(kernel);
    alongSums =
        stored.isPermutation() &&
        sumsSuit(arrayType(kernel)
                     .getDimNames()[stored.map.getDimPosition(stored.map.getNumResults() - 1)]);
    if (alongSums || !widest || !suits(widest, 2))
      return alongSums;
  }
  llvm::erase(order, widest);
  order.push_back(widest);
  return true;
}

/// The kernel with what vectors or tiles run along as its last dim.
Stored WindowProduct::storedKernel() {
  Stored stored = to.stored(kernel);
  StringAttr last = order.back();
  if (!isKernels(last)) {
    // Elements for a tile next to each other, if that pays: each is read for many windows.
    Names own;
    llvm::copy_if(order, std::back_inserter(own), [&](StringAttr dim) { return isKernels(dim); });
    if (own.empty() || alongSums)
      return stored;
    Amount elements = Amount::ofSizes(arrayType(kernel).getShape());
    Amount products = Amount::ofSizes(type.getShape());
    for (StringAttr dim : roles.contracted)
      products *= Amount::ofSize(arrayType(windows).getSize(dim));
    if (products < elements * kLeastReads)
      return stored;
    last = *llvm::max_element(
        own, [&](StringAttr a, StringAttr b) { return type.getSize(a) < type.getSize(b); });
  }
  if (stored.order.back() == last)
    return stored;
  Names packed = joined({roles.batch, only(windowNames, roles.contracted)});
  for (StringAttr dim : stored.order)
    if (dim != last && !llvm::is_contained(packed, dim))
      packed.push_back(dim);
  packed.push_back(last);
  return {to.packed(kernel, packed), packed};
}

void WindowProduct::emit() {
  Stored stored = storedKernel();
  if (!alongSums)
    if (Value tiled =
            emitTiledWindows({windows, stored, type, order, roles.contracted, slides}, to))
      return to.setStored(op.getY(), tiled, order);
  Names loops = joined({order, roles.contracted});
  View inputs[2];
  inputs[slides ? 0 : 1] = to.access(windows, loops);
  inputs[slides ? 1 : 0] = {View::Tensor, stored.tensor, to.mapTo(loops, stored.order),
                            type.getElementType()};
  to.setStored(op.getY(), emitLoops(op, inputs, loops, order, to), order);
}

//===- matrix products, continued ------------------------------------------===//

static void emitMatrixProduct(ContractOp op, Roles roles, Lowering &to) {
  ArrayType type = arrayType(op.getY());
  Type memory = computeType(type.getElementType());
  auto operand = [&](Value array) {
    Stored stored = to.stored(array);
    return Matrix{array, stored.tensor, stored.order, memory};
  };
  Matrix left = operand(op.getInputs()[0]), right = operand(op.getInputs()[1]);
  Names wanted(type.getDimNames());
  // C = A B with the dims of A first; else the transposed product.
  auto swap = [&] {
    std::swap(left, right);
    std::swap(roles.left, roles.right);
  };
  Names free = only(wanted, joined({roles.left, roles.right}));
  if (llvm::is_contained(roles.right, free.front()))
    swap();

  // The contracted dims merge only if both operands have them in one order.
  bool leftFits = isMatrix(left.order, roles.left, roles.contracted);
  bool rightFits = isMatrix(right.order, roles.contracted, roles.right);
  Names inner = only(left.order, roles.contracted);
  if (inner != only(right.order, roles.contracted) && leftFits && rightFits) {
    auto size = [](const Matrix &m) { return Amount::ofSizes(arrayType(m.array).getShape()); };
    bool packLeft = size(left) <= size(right);
    (packLeft ? leftFits : rightFits) = false;
  }
  if (!leftFits && rightFits)
    inner = only(right.order, roles.contracted);
  if (!leftFits) {
    // Windows overlap along a free dim, which is copied in whole runs if it comes last.
    bool slides = readsWindows(to.view(left.array));
    pack(left,
         slides ? joined({roles.batch, inner, roles.left})
                : joined({roles.batch, roles.left, inner}),
         to);
  } else if (isWidened(left))
    pack(left, left.order, to);
  if (!rightFits)
    pack(right, joined({roles.batch, inner, roles.right}), to);
  else if (isWidened(right))
    pack(right, right.order, to);

  Names rows = only(left.order, roles.left), columns = only(right.order, roles.right);
  Names order = joined({roles.batch, rows, columns});
  if (isMatrix(wanted, rows, columns) && only(wanted, rows) == rows &&
      only(wanted, columns) == columns)
    order = wanted;
  Names loops = joined({roles.batch, rows, columns, inner});
  View inputs[] = {{View::Tensor, left.tensor, to.mapTo(loops, left.order), memory},
                   {View::Tensor, right.tensor, to.mapTo(loops, right.order), memory}};
  to.setStored(op.getY(), emitLoops(op, inputs, loops, order, to), order);
}

/// Multiplications below which loops are faster than the call: of any product, and of one whose
/// rows, columns and terms are at least `kLeastSide`. The loops lack full vectors for most of
/// those.
static constexpr int64_t kSmallestProduct = 4096, kSmallestCube = 1280, kLeastSide = 8;

/// Whether the runtime has a routine for it, and it is large enough.
static bool isBFloat16Product(ContractOp op, const Roles &roles, const Lowering &to) {
  ArrayType type = arrayType(op.getY()), left = arrayType(op.getInputs()[0]),
            right = arrayType(op.getInputs()[1]);
  if (!to.bfloat16Products || !type.getElementType().isBF16())
    return false;
  auto size = [&](StringAttr dim) {
    int64_t found = left.hasDim(dim) ? left.getSize(dim) : right.getSize(dim);
    return Amount(ShapedType::isDynamic(found) ? kOpenSide : found);
  };
  Amount work = 1;
  bool isCube = true;
  for (ArrayRef<StringAttr> dims : {roles.left, roles.right, roles.contracted}) {
    Amount side = 1;
    for (StringAttr dim : dims)
      side *= size(dim);
    isCube = isCube && side >= kLeastSide;
    work *= side;
  }
  return work >= (isCube ? kSmallestCube : kSmallestProduct);
}

/// The routine takes operands and the result as they are stored.
static void emitBFloat16Product(ContractOp op, const Roles &roles, Lowering &to) {
  ArrayType type = arrayType(op.getY());
  Stored left = to.stored(op.getInputs()[0]), right = to.stored(op.getInputs()[1]);
  // What is summed over in the order of the larger factor.
  auto size = [](Value x) { return Amount::ofSizes(arrayType(x).getShape()); };
  Names inner = only(size(op.getInputs()[0]) < size(op.getInputs()[1]) ? right.order : left.order,
                     roles.contracted);
  Attribute axes[] = {to.axes(left.order, joined({roles.batch, roles.left, inner})),
                      to.axes(right.order, joined({roles.batch, inner, roles.right})),
                      to.axes(type.getDimNames(), joined({roles.batch, roles.left, roles.right}))};
  int64_t options[] = {int64_t(roles.batch.size()), int64_t(roles.left.size()),
                       int64_t(roles.right.size())};
  auto call = LibraryOp::create(to.b, to.loc(), "xt_bfloat16_product",
                                ValueRange{left.tensor, right.tensor}, to.empty(type),
                                to.b.getArrayAttr(axes), options);
  to.setTensor(op.getY(), call.getResult(0));
}

void xtensor::lowerContract(ContractOp op, Lowering &to) {
  Value left = op.getInputs()[0], right = op.getInputs()[1];
  ArrayType type = arrayType(op.getY());
  Roles roles = classify(arrayType(left), arrayType(right), type);
  if (type.isFloat() && !roles.left.empty() && !roles.right.empty() && !roles.contracted.empty()) {
    if (isBFloat16Product(op, roles, to))
      return emitBFloat16Product(op, roles, to);
    WindowProduct product(op, roles, to);
    if (product.isOne() && product.chooseOrder())
      return product.emit();
    return emitMatrixProduct(op, roles, to);
  }

  Names loops = joined({type.getDimNames(), roles.contracted});
  SmallVector<View, 3> inputs = {to.access(left, loops), to.access(right, loops)};
  for (unsigned d = type.getRank(); d < loops.size(); ++d) {
    if (readsPlainly(inputs[0], d) || readsPlainly(inputs[1], d))
      continue;
    if (readsWindows(inputs[0]) || readsWindows(inputs[1])) {
      inputs.push_back(to.range(loops[d], arrayType(left), loops));
      continue;
    }
    Stored stored = to.stored(left);
    inputs[0] = {View::Tensor, stored.tensor, to.mapTo(loops, stored.order), type.getElementType()};
    break;
  }
  to.setTensor(op.getY(), emitLoops(op, inputs, loops, type.getDimNames(), to));
}
