#include "compiler/Interpreter.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace xtensor;
using F = Formulas;

constexpr size_t kMostOps = 10000000;

bool Interpreter::call(LLVM::LLVMFuncOp function, ArrayRef<HostData> arguments) {
  for (auto [parameter, data] : llvm::zip_equal(function.getArguments(), arguments))
    set(parameter, data);
  for (Block *block = &function.getBody().front(); block; block = next) {
    next = nullptr;
    for (Operation &op : *block) {
      if (++ops > kMostOps)
        return fail("its host takes more than " + Twine(kMostOps) + " operations");
      if (!follow(op))
        return false;
    }
  }
  return true;
}

bool Interpreter::branch(Block *to, ValueRange operands) {
  SmallVector<HostData> given;
  for (Value v : operands)
    given.push_back(of(v));
  for (auto [argument, data] : llvm::zip_equal(to->getArguments(), given))
    set(argument, data);
  next = to;
  return true;
}

bool Interpreter::callee(LLVM::CallOp op) {
  SmallVector<HostData> arguments;
  for (Value v : op.getArgOperands())
    arguments.push_back(of(v));
  auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(op.getCallee().value_or(""));
  if (!function || function.isExternal())
    return callRuntime(op, arguments);
  if (op.getNumResults())
    return fail(kReads);
  bool done = call(function, arguments);
  next = nullptr;
  return done;
}

bool Interpreter::follow(Operation &op) {
  return llvm::TypeSwitch<Operation *, bool>(&op)
      .Case<LLVM::PoisonOp, LLVM::UndefOp>([&](auto o) { return set(o, {}); })
      .Case([&](LLVM::ZeroOp o) {
        bool isAddress = isa<LLVM::LLVMPointerType>(o.getType());
        return set(o, isAddress ? HostData::at(-1) : HostData::of(Number(0)));
      })
      .Case([&](LLVM::ConstantOp o) { return constant(o); })
      .Case([&](LLVM::AddressOfOp o) { return addressOf(o); })
      .Case([&](LLVM::AllocaOp o) { return set(o, HostData::at(add({"host"}))); })
      .Case([&](LLVM::InsertValueOp o) { return insert(o); })
      .Case([&](LLVM::ExtractValueOp o) { return extract(o); })
      .Case([&](LLVM::GEPOp o) { return step(o); })
      .Case([&](LLVM::LoadOp o) { return load(o); })
      .Case([&](LLVM::StoreOp o) { return store(o); })
      // An address as a number is still that address, a float as a word that float.
      .Case<LLVM::PtrToIntOp, LLVM::BitcastOp>(
          [&](auto o) { return set(o, HostData(of(o.getArg()))); })
      .Case([&](LLVM::IntToPtrOp o) {
        HostData data = of(o.getArg());
        return data.kind == HostData::address ? set(o, data) : fail(kAddresses);
      })
      .Case([&](LLVM::CallOp o) { return callee(o); })
      .Case([&](LLVM::BrOp o) { return branch(o.getDest(), o.getDestOperands()); })
      .Case([&](LLVM::CondBrOp o) {
        Number on = of(o.getCondition()).number;
        if (on.isOpen)
          return fail("which kernels it launches depends on sizes that are open");
        return on.value ? branch(o.getTrueDest(), o.getTrueDestOperands())
                        : branch(o.getFalseDest(), o.getFalseDestOperands());
      })
      .Case([&](LLVM::ReturnOp) { return true; })
      .Case([&](LLVM::ICmpOp o) { return compare(o); })
      .Case([&](LLVM::SelectOp o) { return choose(o); })
      .Case<LLVM::UIToFPOp, LLVM::SIToFPOp, LLVM::FMulOp, LLVM::FAddOp, LLVM::FCmpOp>(
          [&](auto) { return followReal(op); })
      .Default([&](Operation *) { return followNumber(op); });
}

//===- numbers ---------------------------------------------------------------===//

static std::string unknown(Operation &op) {
  return ("its host has an operation that is not followed: " + op.getName().getStringRef()).str();
}

/// What computes one number of others.
bool Interpreter::followNumber(Operation &op) {
  if (op.getNumResults() != 1 || !op.getResult(0).getType().isSignlessInteger() ||
      op.getNumOperands() < 1 || op.getNumOperands() > 2)
    return fail(unknown(op));
  const HostData &first = of(op.getOperand(0));
  HostData last = of(op.getOperands().back());
  if (first.kind == HostData::address || last.kind == HostData::address)
    return addAddresses(op, first, last);
  if (first.kind != HostData::integer || last.kind != HostData::integer)
    return fail("it reads what was not written");
  Number a = first.number, b = last.number;
  auto type = cast<IntegerType>(op.getResult(0).getType());
  if (isa<LLVM::TruncOp, LLVM::ZExtOp, LLVM::SExtOp>(op)) {
    // Words that a kernel gets are cut off where they are passed.
    unsigned from = op.getOperand(0).getType().getIntOrFloatBitWidth();
    if (a.isOpen && !(isa<LLVM::TruncOp>(op) && type.getWidth() == 32) && from != 1)
      return fail("it computes with words of 32 bits");
    if (!a.isOpen) {
      APInt bits(64, a.value, /*isSigned=*/true);
      bits = bits.trunc(std::min(from, type.getWidth()));
      a = isa<LLVM::ZExtOp>(op) || type.getWidth() == 1 ? bits.getZExtValue() : bits.getSExtValue();
    }
    return set(op.getResult(0), HostData::of(a));
  }
  if (type.getWidth() != 64 && type.getWidth() != 1 && (a.isOpen || b.isOpen))
    return fail("it computes with words of 32 bits");
  return followBinary(op, a, b);
}

bool Interpreter::followBinary(Operation &op, Number a, Number b) {
  auto operation = llvm::TypeSwitch<Operation *, std::optional<F::Operation>>(&op)
                       .Case<LLVM::AddOp>([](auto) { return F::add; })
                       .Case<LLVM::SubOp>([](auto) { return F::sub; })
                       .Case<LLVM::MulOp>([](auto) { return F::mul; })
                       .Case<LLVM::SDivOp, LLVM::UDivOp>([](auto) { return F::div; })
                       .Case<LLVM::SRemOp, LLVM::URemOp>([](auto) { return F::rem; })
                       .Case<LLVM::SMinOp, LLVM::UMinOp>([](auto) { return F::min; })
                       .Case<LLVM::SMaxOp, LLVM::UMaxOp>([](auto) { return F::max; })
                       .Default([](Operation *) { return std::nullopt; });
  if (!operation)
    return followBits(op, a, b);
  bool isUnsigned = isa<LLVM::UDivOp, LLVM::URemOp, LLVM::UMinOp, LLVM::UMaxOp>(op);
  if (isUnsigned && ((!a.isOpen && a.value < 0) || (!b.isOpen && b.value < 0)))
    return fail("its numbers are beyond what sizes are");
  if ((*operation == F::div || *operation == F::rem) && (b.isOpen || b.value <= 0))
    return fail("it divides by a size that is open");
  return set(op.getResult(0), HostData::of(formulas.make(*operation, {a, b})));
}

bool Interpreter::followBits(Operation &op, Number a, Number b) {
  if (isa<LLVM::AndOp, LLVM::OrOp, LLVM::XOrOp>(op) && !a.isOpen)
    std::swap(a, b);
  bool isTruth = op.getResult(0).getType().isInteger(1);
  std::optional<Number> made;
  auto shift = [&](F::Operation operation) {
    if (!b.isOpen && b.value >= 0 && b.value < 62)
      made = formulas.make(operation, {a, int64_t(1) << b.value});
  };
  if (isa<LLVM::AndOp>(op)) {
    if (!a.isOpen)
      made = a.value & b.value;
    else if (isTruth)
      made = formulas.make(F::mul, {a, b});
    else if (!b.isOpen && llvm::isPowerOf2_64(-uint64_t(b.value))) // a multiple of that power
      made = formulas.make(F::sub, {a, formulas.make(F::rem, {a, -b.value})});
    else if (!b.isOpen && b.value > 0 && llvm::isPowerOf2_64(uint64_t(b.value) + 1))
      made = formulas.make(F::rem, {a, b.value + 1});
  } else if (isa<LLVM::OrOp>(op)) {
    if (!a.isOpen)
      made = a.value | b.value;
    else if (isTruth)
      made = formulas.make(F::max, {a, b});
  } else if (isa<LLVM::XOrOp>(op)) {
    if (!a.isOpen)
      made = a.value ^ b.value;
    else if (isTruth && b.is(1))
      made = formulas.make(F::equal, {a, 0});
  } else if (isa<LLVM::ShlOp>(op)) {
    shift(F::mul);
  } else if (isa<LLVM::LShrOp, LLVM::AShrOp>(op) && (a.isOpen || a.value >= 0)) {
    shift(F::div);
  }
  if (!made)
    return fail(unknown(op));
  return set(op.getResult(0), HostData::of(*made));
}

bool Interpreter::compare(LLVM::ICmpOp op) {
  using P = LLVM::ICmpPredicate;
  HostData a = of(op.getLhs()), b = of(op.getRhs());
  P predicate = op.getPredicate();
  if (a.kind == HostData::address || b.kind == HostData::address) {
    // All that is asked of addresses is whether there is memory.
    if ((predicate != P::eq && predicate != P::ne) || (a.memory >= 0) == (b.memory >= 0))
      return fail("it compares addresses");
    return set(op, HostData::of(predicate == P::ne));
  }
  if (a.kind != HostData::integer || b.kind != HostData::integer)
    return fail("it reads what was not written");
  bool isUnsigned = llvm::is_contained({P::ult, P::ule, P::ugt, P::uge}, predicate);
  if (isUnsigned &&
      ((!a.number.isOpen && a.number.value < 0) || (!b.number.isOpen && b.number.value < 0)))
    return fail("its numbers are beyond what sizes are");
  if (llvm::is_contained({P::sgt, P::ugt, P::sle, P::ule}, predicate))
    std::swap(a, b);
  bool isEqual = predicate == P::eq || predicate == P::ne;
  Number holds = formulas.make(isEqual ? F::equal : F::less, {a.number, b.number});
  if (llvm::is_contained({P::ne, P::sle, P::ule, P::sge, P::uge}, predicate))
    holds = formulas.make(F::equal, {holds, 0});
  return set(op, HostData::of(holds));
}

/// Addresses are numbers for a while: so far from the start of their memory.
bool Interpreter::addAddresses(Operation &op, const HostData &a, const HostData &b) {
  const HostData &base = a.kind == HostData::address ? a : b, &other = &base == &a ? b : a;
  if (!isa<LLVM::AddOp>(op) || other.kind != HostData::integer)
    return fail(kAddresses);
  Number offset = formulas.make(F::add, {base.number, other.number});
  return set(op.getResult(0), HostData::at(base.memory, offset));
}

bool Interpreter::constant(LLVM::ConstantOp op) {
  if (auto attr = dyn_cast<IntegerAttr>(op.getValue())) {
    const APInt &bits = attr.getValue();
    int64_t value = bits.getBitWidth() == 1 ? bits.getZExtValue() : bits.getSExtValue();
    return set(op, HostData::of(value));
  }
  if (auto attr = dyn_cast<FloatAttr>(op.getValue()))
    return set(op, HostData::ofReal(std::optional<APFloat>(attr.getValue())));
  return fail("its host has a constant that is not a number");
}

/// Bytes are computed in floating point, too, to see whether they overflow: not in a list, where a
/// host of its own asks for memory.
bool Interpreter::followReal(Operation &op) {
  Value result = op.getResult(0);
  if (isa<LLVM::UIToFPOp, LLVM::SIToFPOp>(op)) {
    Number n = of(op.getOperand(0)).number;
    auto type = cast<FloatType>(result.getType());
    HostData data = HostData::ofReal(std::nullopt);
    if (!n.isOpen) {
      data.value.emplace(type.getFloatSemantics());
      data.value->convertFromAPInt(APInt(64, n.value), isa<LLVM::SIToFPOp>(op),
                                   APFloat::rmNearestTiesToEven);
    } else if (type.isF32()) {
      data.number = formulas.make(F::real, {n});
    }
    return set(result, data);
  }
  std::optional<APFloat> a = of(op.getOperand(0)).value, b = of(op.getOperand(1)).value;
  if (auto o = dyn_cast<LLVM::FCmpOp>(op)) {
    if (o.getPredicate() != LLVM::FCmpPredicate::olt || !b)
      return fail(unknown(op));
    return set(result, HostData::of(Number(!a || *a < *b)));
  }
  if (a && b) {
    if (isa<LLVM::FMulOp>(op))
      a->multiply(*b, APFloat::rmNearestTiesToEven);
    else
      a->add(*b, APFloat::rmNearestTiesToEven);
  }
  return set(result, HostData::ofReal(a && b ? a : std::nullopt));
}

bool Interpreter::choose(LLVM::SelectOp op) {
  Number on = of(op.getCondition()).number;
  const HostData &a = of(op.getTrueValue()), &b = of(op.getFalseValue());
  if (!on.isOpen)
    return set(op, HostData(on.value ? a : b));
  if (a.kind != HostData::integer || b.kind != HostData::integer)
    return fail("which memory it uses depends on sizes that are open");
  return set(op, HostData::of(formulas.make(F::choose, {on, a.number, b.number})));
}

//===- memory ----------------------------------------------------------------===//

bool Interpreter::addressOf(LLVM::AddressOfOp op) {
  auto global = module.lookupSymbol<LLVM::GlobalOp>(op.getGlobalName());
  if (!global)
    return fail(unknown(*op));
  auto [it, isNew] = globals.try_emplace(global, 0);
  if (isNew)
    it->second = add({"global", 0, global});
  return set(op, HostData::at(it->second));
}

LLVM::GlobalOp Interpreter::globalAt(const HostData &address) const {
  return address.memory < 0 ? LLVM::GlobalOp() : memories[address.memory].global;
}

HostData Interpreter::initial(LLVM::GlobalOp global) {
  if (Block *block = global.getInitializerBlock())
    for (Operation &op : *block) {
      if (auto end = dyn_cast<LLVM::ReturnOp>(op))
        return of(end.getArg());
      if (!follow(op))
        break;
    }
  return {};
}

bool Interpreter::insert(LLVM::InsertValueOp op) {
  HostData data = of(op.getContainer()), *part = &data;
  for (size_t i : op.getPosition()) {
    part->kind = HostData::structure;
    part->parts.resize(std::max(part->parts.size(), i + 1));
    part = &part->parts[i];
  }
  *part = of(op.getValue());
  return set(op, data);
}

bool Interpreter::extract(LLVM::ExtractValueOp op) {
  const HostData *part = &of(op.getContainer());
  for (size_t i : op.getPosition()) {
    if (i >= part->parts.size())
      return fail("it reads what was not written");
    part = &part->parts[i];
  }
  return set(op, HostData(*part));
}

bool Interpreter::step(LLVM::GEPOp op) {
  HostData base = of(op.getBase());
  if (op.getIndices().size() != 1 || base.kind != HostData::address)
    return fail(kAddresses);
  auto index = op.getIndices()[0];
  Number at;
  if (auto attr = dyn_cast<IntegerAttr>(index))
    at = attr.getInt();
  else
    at = of(cast<Value>(index)).number;
  int64_t bytes = layout.getTypeSize(op.getElemType()).getFixedValue();
  Number offset = formulas.make(F::add, {base.number, formulas.make(F::mul, {at, Number(bytes)})});
  return set(op, HostData::at(base.memory, offset));
}

const HostData *Interpreter::element(const HostData &array, int64_t i, int64_t bytes) const {
  if (array.kind != HostData::address || array.memory < 0 || array.number.isOpen)
    return nullptr;
  auto &contents = memories[array.memory].contents;
  auto it = contents.find(array.number.value + i * bytes);
  return it == contents.end() ? nullptr : &it->second;
}

bool Interpreter::load(LLVM::LoadOp op) {
  const HostData *found = element(of(op.getAddr()), 0, 0);
  return found ? set(op, HostData(*found)) : fail(kReads);
}

bool Interpreter::store(LLVM::StoreOp op) {
  const HostData &to = of(op.getAddr());
  if (to.kind != HostData::address || to.memory < 0 || to.number.isOpen ||
      StringRef(memories[to.memory].of) != "host")
    return fail(kReads);
  memories[to.memory].contents[to.number.value] = of(op.getValue());
  return true;
}
