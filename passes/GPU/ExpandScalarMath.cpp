// xtensor-expand-scalar-math: replaces each math operation by its function, inline or as a call.
#include "Functions/Functions.h"
#include "GPU/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"

namespace xtensor {
#define GEN_PASS_DEF_EXPANDSCALARMATH
#include "GPU/Passes.h.inc"
} // namespace xtensor

using namespace mlir;
using namespace xtensor;

namespace {

struct Function {
  StringLiteral operation;
  size_t arity;
  Written emit;
  /// So short that a call would not be shorter.
  bool isShort;

  StringRef name() const { return operation.split('.').second; }
};

template <auto emit, size_t arity>
constexpr Function function(StringLiteral operation, bool isShort = false) {
  return {operation, arity, write<emit, arity>, isShort};
}

const Function kFunctions[] = {
#define XTENSOR_KERNEL_FUNCTION(Math, arity, emit, isShort)                                        \
  function<emit, arity>(math::Math::getOperationName(), isShort),
#define XTENSOR_ELEMENTARY_FUNCTION(Op, name, arity, emit, isShort)                                \
  function<emit, arity>(Op::getOperationName(), isShort),
#include "XTensor/XTensorElementwise.inc"
    function<emitRemainder, 2>("arith.remf"),
    function<emitRound, 1>("math.round", /*isShort=*/true),
};

/// What devices have instructions for, but not all of them good ones.
const Function kCorrected[] = {
    function<emitQuotient, 2>("arith.divf"),
    function<emitSquareRoot, 1>("math.sqrt"),
};

/// Mesa's driver for CPUs rounds f64 wrongly on processors without AVX-512: 1.5 to 1.
const Function kCorrectedF64[] = {
    function<emitRoundEven, 1>("math.roundeven", /*isShort=*/true),
};

const Function *functionFor(ArrayRef<Function> functions, StringRef dialect, StringRef name) {
  const auto *found = llvm::find_if(functions, [&](const Function &f) {
    return f.name() == name && f.operation.starts_with(dialect);
  });
  return found == functions.end() ? nullptr : found;
}

const Function *functionFor(ArrayRef<Function> functions, Operation *op) {
  if (auto elementary = dyn_cast<ElementaryOp>(op))
    return functionFor(functions, "xtensor", elementary.getFunction());
  if (isa_and_nonnull<math::MathDialect, arith::ArithDialect>(op->getDialect()))
    return functionFor(functions, op->getDialect()->getNamespace(), op->getName().stripDialect());
  return nullptr;
}

} // namespace

bool xtensor::isWrittenOut(Operation *op) { return functionFor(kFunctions, op); }

namespace {

/// The functions of one symbol table.
class Library {
public:
  Library(Operation *table, bool calls) : table(table), symbols(table), calls(calls) {}

  Value emit(OpBuilder &b, Location loc, const Function &function, FloatType type,
             ValueRange operands) {
    if (calls && !function.isShort)
      return func::CallOp::create(b, loc, get(function, type, loc), operands).getResult(0);
    return write(b, loc, function, type, operands);
  }

  /// The function will replace an op of this place.
  void addUser(const Function &function, Location loc) { users[&function].insert(loc); }

private:
  Value write(OpBuilder &b, Location loc, const Function &function, FloatType type,
              ValueRange operands) {
    auto caller = [&](Scalars &s, StringRef name, ArrayRef<Real> x) -> Real {
      SmallVector<Value> values;
      for (Real real : x)
        values.push_back(real.value);
      const Function *callee = functionFor(kFunctions, "math", name);
      if (!callee)
        callee = functionFor(kFunctions, "xtensor", name);
      return {emit(s, s.getLoc(), *callee, s.type, values), &s};
    };
    Scalars s(loc, b, type, /*fuses=*/false, caller);
    SmallVector<Real> reals;
    for (Value operand : operands)
      reals.push_back({operand, &s});
    return function.emit(s, reals).value;
  }

  /// A function that several ops call comes from the places of all of them.
  func::FuncOp get(const Function &function, FloatType type, Location caller) {
    std::string name = ("xt_" + function.name() + (type.isF64() ? "_f64" : "_f32")).str();
    if (auto made = symbols.lookup<func::FuncOp>(name))
      return made;
    SmallVector<Type> operands(function.arity, type);
    auto known = users.find(&function);
    Location loc = known == users.end()
                       ? caller
                       : FusedLoc::get(table->getContext(), known->second.getArrayRef());
    OpBuilder b = OpBuilder::atBlockBegin(&table->getRegion(0).front());
    auto made = func::FuncOp::create(b, loc, name, b.getFunctionType(operands, type));
    made.setPrivate();
    symbols.insert(made, table->getRegion(0).front().begin());
    b.setInsertionPointToStart(made.addEntryBlock());
    Value result = write(b, loc, function, type, made.getArguments());
    func::ReturnOp::create(b, loc, result);
    // Constants are written wherever they are used.
    IRRewriter rewriter(b);
    DominanceInfo dominance(made);
    eliminateCommonSubExpressions(rewriter, dominance, made);
    return made;
  }

  Operation *table;
  SymbolTable symbols;
  llvm::DenseMap<const Function *, llvm::SetVector<Location>> users;
  bool calls;
};

struct ExpandScalarMathPass : xtensor::impl::ExpandScalarMathBase<ExpandScalarMathPass> {
  using Base::Base;

  void runOnOperation() override {
    for (const std::string &type : inexact)
      if (type != "f32" && type != "f64") {
        getOperation()->emitError() << "inexact: f32 or f64, not '" << type << "'";
        return signalPassFailure();
      }
    expand(kFunctions, [](FloatType) { return true; });
    expand(kCorrectedF64, [](FloatType type) { return type.isF64(); });
    // The functions' own quotients are corrected with the others.
    expand(kCorrected, [&](FloatType type) {
      return llvm::is_contained(inexact, type.isF32() ? "f32" : type.isF64() ? "f64" : "");
    });
  }

  void expand(ArrayRef<Function> functions, llvm::function_ref<bool(FloatType)> chosen) {
    SmallVector<std::pair<Operation *, const Function *>> found;
    getOperation()->walk([&](Operation *op) {
      if (const Function *function = functionFor(functions, op)) {
        auto type = dyn_cast<FloatType>(op->getResult(0).getType());
        if (type && chosen(type) && !isCorrection(op))
          found.push_back({op, function});
      }
    });
    llvm::MapVector<Operation *, std::unique_ptr<Library>> libraries;
    for (auto [op, function] : found) {
      Operation *table = SymbolTable::getNearestSymbolTable(op);
      auto &library = libraries[table];
      if (!library)
        library = std::make_unique<Library>(table, calls);
      library->addUser(*function, op->getLoc());
    }
    for (auto [op, function] : found)
      replace(op, *function, *libraries[SymbolTable::getNearestSymbolTable(op)]);
  }

  static bool isCorrection(Operation *op) {
    auto function = op->getParentOfType<func::FuncOp>();
    return function && (function.getName().starts_with("xt_divf_") ||
                        function.getName().starts_with("xt_sqrt_"));
  }

  /// Narrow types are computed in f32 and rounded once.
  static void replace(Operation *op, const Function &function, Library &library) {
    OpBuilder b(op);
    Location loc = op->getLoc();
    auto given = cast<FloatType>(op->getResult(0).getType());
    FloatType type = given.getWidth() < 32 ? b.getF32Type() : given;
    SmallVector<Value> operands(op->getOperands());
    if (type != given)
      for (Value &operand : operands)
        operand = arith::ExtFOp::create(b, loc, type, operand);
    Value result = library.emit(b, loc, function, type, operands);
    if (type != given)
      result = arith::TruncFOp::create(b, loc, given, result);
    op->replaceAllUsesWith(ValueRange{result});
    op->erase();
  }
};

} // namespace
