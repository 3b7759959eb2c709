// The derivative rules: a registry keyed by op and kind, filled from the tables.
//
// A rule says how an op linearises; a linear op also says how it transposes. Forward mode is
// linearise and inline, reverse mode is linearise, transpose and inline, so the two modes
// cannot disagree.
#ifndef XTENSOR_AUTODIFF_RULES_H
#define XTENSOR_AUTODIFF_RULES_H

#include "Autodiff/Expr.h"
#include "XTensor/Dims.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace xtensor {

class Linearizer;
class Transposer;

enum class Table {
  Elementwise, ///< a formula for the partial derivative per operand
  Linear,      ///< linearises to itself; says how it transposes
  Chooser,     ///< a residual, such as the chosen elements, then a linear op of the tangent
  Control,     ///< regions: three functions
  NoTangent,   ///< integers and bools: nothing to differentiate
  Request,     ///< the derivative ops, which the passes themselves expand
};
llvm::StringRef name(Table table);

/// d y / d operand from the operands `a`, `b` .. and the result `y`, and its text.
struct Partial {
  Expr (*formula)(Expr a, Expr b, Expr c, Expr d, Expr e, Expr y);
  llvm::StringRef text;
};

/// How a linear op depends on its linear operands: on all together, or on each while the
/// others are fixed (a product).
enum class Linearity { None, Jointly, Each };

/// The op on tangents, one per operand, null where absent; at least one is there.
using ForwardFn = mlir::Value (*)(Linearizer &, mlir::Operation *,
                                  llvm::ArrayRef<mlir::Value> tangents);
/// The cotangent of operand `i` from that of the result. It need not have the operand's dims:
/// the caller sums, broadcasts and reorders.
using TransposeFn = mlir::Value (*)(Transposer &, mlir::Operation *, unsigned i, mlir::Value ct);
/// Residuals go to `primal`; the result is the tangent, made in `linear`.
using ChooseFn = mlir::Value (*)(Linearizer &, mlir::Operation *);
/// As `ChooseFn`, for all results: `tangents` has one per result, null where absent or left so.
using TangentsFn = void (*)(Linearizer &, mlir::Operation *,
                            llvm::MutableArrayRef<mlir::Value> tangents);
/// The op's result made of simpler ops, which are then linearised instead; null if it stays.
using ExpandFn = mlir::Value (*)(mlir::ImplicitLocOpBuilder &, mlir::Operation *);

/// Puts other ops in the place of the op, which are then linearised instead; false if it stays.
using RewriteFn = bool (*)(Linearizer &, mlir::Operation *);

struct Rule {
  Table table;
  llvm::SmallVector<Partial, 2> partials = {};
  /// What all partials have in common, if anything: multiplied with once, after their sum.
  std::optional<Partial> factor = std::nullopt;

  /// Also of an op in another table that is linear in some operands: in a user's rule it may meet
  /// a tangent there. What it is linearised to has the transpose.
  Linearity linearity = Linearity::None;
  llvm::SmallVector<unsigned, 2> operands = {}; ///< the linear ones; empty: all
  ForwardFn forward = nullptr;                  ///< null: a copy of the op on tangents
  TransposeFn transpose = nullptr;

  ChooseFn choose = nullptr;
  TangentsFn tangents = nullptr; ///< of an op with several results, or one linear in some operands
  ExpandFn expand = nullptr;
  RewriteFn rewrite = nullptr;

  mlir::LogicalResult (*linearizeControl)(Linearizer &, mlir::Operation *) = nullptr;
  mlir::LogicalResult (*transposeControl)(Transposer &, mlir::Operation *) = nullptr;
  /// Adds those of the op's values to the set that are linear in what is in it.
  mlir::LogicalResult (*verifyControl)(mlir::Operation *, llvm::DenseSet<mlir::Value> &) = nullptr;

  llvm::StringRef text = {}; ///< what is printed of it beside the partials

  bool isLinearIn(unsigned operand) const {
    return operands.empty() || llvm::is_contained(operands, operand);
  }
};

class Rules {
public:
  static const Rules &get();
  /// The rule of `op`, or null.
  const Rule *lookup(mlir::Operation *op) const;
  /// One line per op and kind, sorted.
  void print(llvm::raw_ostream &os) const;
  /// Names of the ops (with their kinds) of `context`'s dialect that are in no table.
  llvm::SmallVector<std::string> missing(mlir::MLIRContext *context) const;

  template <typename Op>
  void add(Rule rule) {
    add(mlir::TypeID::get<Op>(), kNoKind, Op::getOperationName(), "", std::move(rule));
  }
  template <typename Op, typename Kind>
  void add(Kind kind, llvm::StringRef text, Rule rule) {
    add(mlir::TypeID::get<Op>(), static_cast<unsigned>(kind), Op::getOperationName(), text,
        std::move(rule));
  }

private:
  static constexpr unsigned kNoKind = ~0u >> 1;
  struct Row {
    std::string key;
    Rule rule;
  };
  Rules();
  void add(mlir::TypeID op, unsigned kind, llvm::StringRef name, llvm::StringRef kindName,
           Rule rule);
  llvm::DenseMap<std::pair<mlir::TypeID, unsigned>, unsigned> index;
  std::vector<Row> rows;
};

void addChooserRules(Rules &);
void addControlRules(Rules &);
void addElementwiseRules(Rules &);
void addFactorRules(Rules &);
void addLinearRules(Rules &);
void addNoTangentRules(Rules &);
void addScanRules(Rules &);

} // namespace xtensor

#endif // XTENSOR_AUTODIFF_RULES_H
