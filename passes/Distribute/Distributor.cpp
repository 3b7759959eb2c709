#include "Distribute/Distributor.h"

#include "Distribute/Blocks.h"
#include "Distribute/Neighbours.h"
#include "Distribute/Passes.h"
#include "XTensor/Fault.h"
#include "XTensor/Products.h"

using namespace mlir;
using namespace xtensor;

//===- layouts -------------------------------------------------------------===//

LogicalResult Distributor::read() {
  auto dims = func->getAttrOfType<DictionaryAttr>(kMeshAttr);
  auto layout = func->getAttrOfType<DictionaryAttr>(kSplitAttr);
  if (!dims || !layout)
    return func.emitOpError() << "needs the attributes " << kMeshAttr << " and " << kSplitAttr;
  for (NamedAttribute dim : dims) {
    auto numbers = dyn_cast<DenseI64ArrayAttr>(dim.getValue());
    bool isThere = numbers && (numbers.size() == 2 || numbers.size() == 3) && numbers[0] >= 1;
    if (!isThere || (numbers.size() == 3 && (numbers[2] < 0 || numbers[2] >= numbers[0])))
      return func.emitOpError() << "attribute " << kMeshAttr << ", dim " << dim.getName()
                                << ": expected the number of processes and the communicator, and "
                                   "the position of this process if parts differ in size, got "
                                << dim.getValue();
    mesh.push_back({dim.getName(), numbers[0], numbers[1]});
    if (numbers.size() == 3)
      mesh.back().here = numbers[2];
  }
  for (NamedAttribute dim : layout) {
    auto *along = llvm::find_if(mesh, [&](MeshDim &m) { return m.name == dim.getValue(); });
    if (along == mesh.end())
      return func.emitOpError() << "attribute " << kSplitAttr << ": the mesh has no dim "
                                << dim.getValue();
    split[dim.getName()] = along - mesh.begin();
  }
  if (failed(readBlocks()))
    return failure();
  FunctionType type = func.getFunctionType();
  for (Type t : llvm::concat<const Type>(type.getInputs(), type.getResults()))
    if (auto array = dyn_cast<ArrayType>(t))
      for (StringAttr dim : array.getDimNames())
        if (!array.isDynamic(dim))
          sizes[dim].insert(array.getSize(dim));
  return success();
}

LogicalResult Distributor::readBlocks() {
  Attribute given = func->getAttr(kBlocksAttr);
  auto blocks = dyn_cast_if_present<IntegerAttr>(given);
  if (!given)
    return success();
  for (MeshDim &along : mesh) {
    if (!blocks || blocks.getInt() < 1 || blocks.getInt() % along.processes)
      return func.emitOpError() << "attribute " << kBlocksAttr
                                << ": expected a number that each number of processes of the mesh "
                                   "divides, got "
                                << given;
    along.blocks = blocks.getInt();
  }
  return success();
}

const MeshDim *Distributor::meshDim(Attribute dim) const {
  auto it = split.find(dim);
  return it == split.end() ? nullptr : &mesh[it->second];
}

const MeshDim *Distributor::splitOf(ArrayType whole, Attribute dim) const {
  const MeshDim *along = meshDim(dim);
  if (!along || !whole.hasDim(dim) || whole.isDynamic(dim))
    return nullptr;
  int64_t size = whole.getSize(dim);
  if (size % along->pieces() == 0)
    return isBetween(dim, size, *along) ? nullptr : along;
  auto it = sizes.find(dim);
  bool isGiven = it != sizes.end() && it->second.contains(size);
  return isGiven && along->here >= 0 && !along->blocks && along->reaches(size) ? along : nullptr;
}

bool Distributor::isBetween(Attribute dim, int64_t size, const MeshDim &along) const {
  auto it = sizes.find(dim);
  if (it == sizes.end() || it->second.contains(size))
    return false;
  return llvm::any_of(
      it->second, [&](int64_t given) { return std::abs(size - given) < given / along.pieces(); });
}

const MeshDim *Distributor::splitOf(ValueRange parts, Attribute dim) const {
  for (Value part : parts)
    if (wholeOf(part).hasDim(dim))
      return splitOf(wholeOf(part), dim);
  return nullptr;
}

llvm::SmallPtrSet<const MeshDim *, 4> Distributor::splitsOf(ArrayType whole) const {
  llvm::SmallPtrSet<const MeshDim *, 4> found;
  for (StringAttr dim : whole.getDimNames())
    if (const MeshDim *along = splitOf(whole, dim))
      found.insert(along);
  return found;
}

ArrayType Distributor::wholeOf(Value part) const {
  auto it = wholes.find(part);
  return it == wholes.end() ? arrayType(part) : it->second;
}

FailureOr<ArrayType> Distributor::partOf(ArrayType whole, Operation *op) {
  SmallVector<int64_t> shape(whole.getShape());
  llvm::SmallDenseMap<StringAttr, StringAttr, 4> taken;
  for (auto [name, size] : llvm::zip_equal(whole.getDimNames(), shape)) {
    const MeshDim *along = splitOf(whole, name);
    if (!along)
      continue;
    auto [other, isNew] = taken.try_emplace(along->name, name);
    if (!isNew)
      return op->emitError() << Fault::Dimension << "dims " << other->second << " and " << name
                             << " of one array (" << describeDims(whole)
                             << ") are both split along " << along->name
                             << " of the mesh; rename one of them to a dim that is not split";
    size = along->own(size);
  }
  return withShape(whole, shape);
}

LogicalResult Distributor::setArguments(Block &block, Operation *op) {
  for (BlockArgument argument : block.getArguments()) {
    wholes[argument] = arrayType(argument);
    auto type = partOf(arrayType(argument), op);
    if (failed(type))
      return failure();
    argument.setType(*type);
  }
  return success();
}

/// What a function takes and returns is a part: its callers could not tell it from a whole array.
LogicalResult Distributor::checkSplit(TypeRange types, StringRef what) {
  for (auto [number, type] : llvm::enumerate(types)) {
    auto array = cast<ArrayType>(type);
    for (StringAttr dim : array.getDimNames()) {
      const MeshDim *along = meshDim(dim);
      if (!along || splitOf(array, dim))
        continue;
      InFlightDiagnostic error = func.emitError()
                                 << Fault::Size << what << ' ' << number << ": dim " << dim
                                 << " of (" << describeDims(array) << ") is split along "
                                 << along->name << " of the mesh, ";
      if (array.isDynamic(dim))
        return error << "so its size must be static";
      if (along->here >= 0 && !along->blocks)
        return error << "and the last of " << along->processes
                     << " processes would have no part of it; rename it to a dim that is not split";
      return error << "and its size cannot be divided by " << along->pieces()
                   << (along->blocks ? " blocks" : " processes")
                   << "; rename it to a dim that is not split";
    }
  }
  return success();
}

//===- values --------------------------------------------------------------===//

Value Distributor::whole(Value part, ArrayRef<Attribute> dims) {
  ArrayType type = wholeOf(part);
  for (Attribute dim : dims) {
    const MeshDim *along = splitOf(type, dim);
    if (!along)
      continue;
    auto it = taken.find(part);
    if (it != taken.end() && it->second.second == dim)
      part = it->second.first; // this process has computed all of it
    else {
      auto name = cast<StringAttr>(dim);
      int64_t size = type.getSize(name);
      part = padded(part, name, along->each(size));
      part = AllGatherOp::create(b, location, part, name.getValue(), along->name.getValue(),
                                 along->communicator, along->processes);
      part = sliced(*this, part, name, 0, size);
    }
  }
  return part;
}

bool Distributor::isTaken(Value part, Attribute dim) const {
  auto it = taken.find(part);
  return it != taken.end() && it->second.second == dim;
}

bool Distributor::isMoved(Value part, StringAttr from, StringAttr to) const {
  auto it = moves.find(part);
  return it != moves.end() && llvm::any_of(it->second, [&](const MovedArray &move) {
           return move.from == from && move.to == to && move.block == b.getBlock();
         });
}

Value Distributor::padded(Value x, StringAttr dim, int64_t size) {
  ArrayType type = arrayType(x);
  if (type.getSize(dim) == size)
    return x;
  Value &made = longer[{x, dim, b.getBlock()}];
  if (made && arrayType(made).getSize(dim) == size)
    return made;
  Value zero = scalar(b, location, type.getElementType(), 0);
  made = PadOp::create(b, location, x, zero, b.getArrayAttr({dim}), int64_t(0),
                       size - type.getSize(dim), int64_t(0));
  return made;
}

/// All processes send blocks of one size, with zeros where they have less.
Value Distributor::exchanged(Value x, const MeshDim &along, StringAttr from, int64_t size,
                             StringAttr to) {
  int64_t other = arrayType(x).getSize(to);
  x = padded(x, from, along.each(size));
  x = padded(x, to, along.each(other) * along.processes);
  x = AllToAllOp::create(b, location, x, from.getValue(), to.getValue(), along.name.getValue(),
                         along.communicator, along.processes);
  x = sliced(*this, x, from, 0, size);
  return sliced(*this, x, to, 0, along.own(other));
}

Value Distributor::moved(Value part, StringAttr from, int64_t size, StringAttr to) {
  SmallVector<MovedArray, 1> &made = moves[part];
  for (const MovedArray &move : made)
    if (move.from == from && move.to == to && move.block == b.getBlock())
      return move.x;
  Value x = exchanged(part, *meshDim(from), from, size, to);
  made.push_back({from, to, x, b.getBlock()});
  return x;
}

Value Distributor::movedBack(Value x, StringAttr from, StringAttr to) {
  const MeshDim *along = meshDim(to);
  Value part = exchanged(x, *along, from, arrayType(x).getSize(from) * along->processes, to);
  moves[part].push_back({to, from, x, b.getBlock()});
  return part;
}

Value Distributor::firstOf(const MeshDim &along, int64_t size, Type element) {
  Value here = ProcessIndexOp::create(b, location, along.name.getValue(), along.communicator);
  Value first = MulOp::create(b, location, here,
                              scalar(b, location, b.getI64Type(), static_cast<double>(size)));
  return as(first, element);
}

Value Distributor::part(Value whole, StringAttr dim) {
  const MeshDim *along = meshDim(dim);
  int64_t size = arrayType(whole).getSize(dim), own = along->own(size);
  Type i64 = b.getI64Type();
  Value at = IotaOp::create(b, location, ArrayType::get(b.getContext(), {dim}, {own}, i64), {});
  at = AddOp::create(b, location, at, firstOf(*along, along->each(size), i64));
  auto found = GatherOp::create(b, location, IndexMode::clip, whole, at, b.getArrayAttr({dim}));
  parts.push_back(found);
  taken[found] = {whole, dim};
  return found;
}

Value Distributor::part(Value whole, ArrayType wanted) {
  for (StringAttr dim : wanted.getDimNames())
    if (arrayType(whole).getSize(dim) != wanted.getSize(dim))
      whole = part(whole, dim);
  return whole;
}

Value Distributor::as(Value x, Type element) {
  return arrayType(x).getElementType() == element
             ? x
             : CastOp::create(b, location, x, element).getResult();
}

Value Distributor::widened(Value part) {
  Type element = arrayType(part).getElementType();
  return element.isF16() || element.isBF16() ? as(part, b.getF32Type()) : part;
}

Value Distributor::combined(ReduceKind kind, Value partial, ArrayRef<const MeshDim *> across,
                            Type element) {
  partial = widened(partial);
  for (const MeshDim *along : across)
    partial = AllReduceOp::create(b, location, kind, ValueRange(partial), along->name.getValue(),
                                  along->communicator)
                  .getResult(0);
  return as(partial, element);
}

//===- ops -----------------------------------------------------------------===//

LogicalResult Distributor::infer(Operation *op) {
  auto inferred = dyn_cast<InferTypeOpInterface>(op);
  if (!inferred)
    return success();
  SmallVector<Type> types;
  if (failed(inferred.inferReturnTypes(b.getContext(), op->getLoc(), op->getOperands(),
                                       op->getRawDictionaryAttrs(), op->getPropertiesStorage(),
                                       op->getRegions(), types)))
    return failure();
  for (auto [result, type] : llvm::zip_equal(op->getResults(), types))
    result.setType(type);
  return success();
}

FailureOr<SmallVector<ArrayType>> Distributor::wantedOf(Operation *op) {
  SmallVector<ArrayType> wanted;
  for (Value result : op->getResults()) {
    auto type = partOf(arrayType(result), op);
    if (failed(type))
      return failure();
    wanted.push_back(*type);
  }
  return wanted;
}

void Distributor::replaceUses(Value old, llvm::function_ref<Value()> make) {
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : old.getUses())
    uses.push_back(&use);
  ArrayType type = wholeOf(old);
  Value made = make();
  wholes[made] = type;
  for (OpOperand *use : uses)
    use->set(made);
}

void Distributor::usePart(Value whole, ArrayType wanted) {
  if (whole.getType() != wanted)
    replaceUses(whole, [&] { return part(whole, wanted); });
}

void Distributor::takeParts(Operation *op, ArrayRef<ArrayType> wanted) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfter(op);
  for (auto [result, type] : llvm::zip_equal(op->getResults(), wanted))
    usePart(result, type);
}

LogicalResult Distributor::onWhole(Operation *op, ArrayRef<Attribute> touched) {
  auto wanted = wantedOf(op);
  if (failed(wanted))
    return failure();
  for (OpOperand &operand : op->getOpOperands())
    operand.set(whole(operand.get(), touched));
  if (failed(infer(op)))
    return failure();
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfter(op);
  auto results = useBlocks(*this, op, touched);
  if (failed(results))
    return failure();
  for (auto [result, type] : llvm::zip_equal(*results, *wanted))
    usePart(result, type);
  return success();
}

LogicalResult Distributor::visit(Operation *op) {
  const DistributeRules::Rule *rule = DistributeRules::get().lookup(op);
  if (!rule || !rule->visit)
    return op->emitOpError("cannot be distributed over processes");
  location = op->getLoc();
  b.setInsertionPoint(op);
  for (Value result : op->getResults())
    wholes[result] = arrayType(result);
  return rule->visit(*this, op);
}

LogicalResult Distributor::run(Block &block) {
  SmallVector<Operation *> ops; // those that rules add are right already
  for (Operation &op : block.without_terminator())
    ops.push_back(&op);
  for (Operation *op : ops)
    if (failed(visit(op)))
      return failure();
  return success();
}

/// The programs that the pass takes are written by programs, and by hand.
LogicalResult Distributor::checkShape() {
  if (!func.getBody().hasOneBlock())
    return func.emitOpError() << "has several blocks, and is distributed over processes: branches "
                                 "are xtensor.switch ops";
  FunctionType type = func.getFunctionType();
  for (Type t : llvm::concat<const Type>(type.getInputs(), type.getResults()))
    if (!isa<ArrayType>(t))
      return func.emitOpError() << "takes or returns " << t
                                << ", and is distributed over processes: arrays are needed";
  Attribute given = func->getAttr(kWholeAttr);
  auto kept = dyn_cast_if_present<DenseI64ArrayAttr>(given);
  if (given && !kept)
    return func.emitOpError() << "attribute " << kWholeAttr
                              << ": expected numbers of arguments, got " << given;
  auto count = static_cast<int64_t>(type.getNumInputs());
  for (int64_t number : kept ? kept.asArrayRef() : ArrayRef<int64_t>())
    if (number < 0 || number >= count)
      return func.emitOpError() << "attribute " << kWholeAttr << ": argument " << number
                                << " is not there; the function has " << count;
  return success();
}

LogicalResult Distributor::run() {
  if (failed(read()) || failed(checkShape()))
    return failure();
  Block &body = func.getBody().front();
  Operation *end = body.getTerminator();
  if (failed(checkSplit(body.getArgumentTypes(), "argument")) ||
      failed(checkSplit(end->getOperandTypes(), "result")))
    return failure();
  if (failed(setArguments(body, func)) || failed(run(body)))
    return failure();
  if (auto kept = func->getAttrOfType<DenseI64ArrayAttr>(kWholeAttr)) {
    b.setInsertionPointToStart(&body);
    location = func.getLoc();
    for (int64_t number : kept.asArrayRef()) {
      BlockArgument argument = body.getArgument(number);
      auto part = cast<ArrayType>(argument.getType());
      argument.setType(wholeOf(argument));
      usePart(argument, part);
    }
  }
  useNeighbours(*this, func, parts);
  if (isDeterministic())
    func->setAttr(kUnfusedAttr, b.getUnitAttr());
  func.setType(FunctionType::get(b.getContext(), body.getArgumentTypes(), end->getOperandTypes()));
  for (StringRef name :
       {StringRef(kMeshAttr), StringRef(kSplitAttr), StringRef(kWholeAttr), StringRef(kBlocksAttr)})
    func->removeAttr(name);
  return success();
}
