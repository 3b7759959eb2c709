// Ops that work element by element on operands aligned by name: the result has the union of
// the dims in order of first appearance, equal names have equal sizes, scalars broadcast.
//
// This file is also the table of such ops that the passes use (XTensor_ElementwiseFields).
// elementwise_table.py writes XTensorElementwise.inc from it.
#ifndef XTENSOR_ELEMENTWISE_OPS_TD
#define XTENSOR_ELEMENTWISE_OPS_TD

include "XTensor/Base.td"

/// The fields of an elementwise op that the passes read. If a field is empty, the pass has code of
/// its own for the op, or needs no code.
class XTensor_ElementwiseFields {
  /// The math op that computes one float (passes/ToLinalg).
  string math = "";
  /// The function of the CPU's vector library that computes the math op (passes/CPU).
  string vector = "";
  /// The function of passes/Functions that writes the op as arithmetic: in kernels, and on the CPU
  /// if the math dialect lacks the op. If `isShort` is set, kernels contain this code in line.
  string kernel = "";
  bit isShort = 0;
  /// The derivative with respect to each operand (passes/Autodiff/ElementwiseRules.cpp), as an Expr
  /// of the operands `a`, `b` .. and the result `y`. For 0, no tangent is passed on.
  list<string> partials = [];
  /// A factor of both partials of an op with two operands.
  string factor = "";
}

/// `fn` is the type inference function (TypeInference.h), called with all operands.
class XTensor_ElementwiseOp<string mnemonic, string fn, list<Trait> traits = []>
    : XTensor_InferredOp<mnemonic, !listconcat([XTensor_Elementwise], traits)>,
      XTensor_ElementwiseFields {
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *, std::optional<::mlir::Location> loc, Adaptor adaptor,
        ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      return }] # fn # [{("}] # mnemonic # [{", loc, adaptor.getOperands(), types);
    }
  }];
}

class XTensor_UnaryOp<string mnemonic, string what, Type operand, list<Trait> traits = [],
                      string fn = "inferElementwise", Type res = operand>
    : XTensor_ElementwiseOp<mnemonic, fn, traits> {
  let summary = what;
  let arguments = (ins operand:$x);
  let results = (outs res:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}
class XTensor_FloatUnaryOp<string mnemonic, string what>
    : XTensor_UnaryOp<mnemonic, what, XTensor_FloatArray>;
/// A function that is an op of the math dialect, a function of the vector library and a function
/// of kernels, all of this name.
class XTensor_FunctionOp<string mnemonic, string name, string what, string derivative>
    : XTensor_FloatUnaryOp<mnemonic, what> {
  let math = name # "Op";
  let vector = mnemonic;
  let kernel = "emit" # name;
  let partials = [derivative];
}
/// A function that is an op of the math dialect, and an instruction of processors and devices.
class XTensor_InstructionOp<string mnemonic, string name, string what, string derivative>
    : XTensor_FloatUnaryOp<mnemonic, what> {
  let math = name # "Op";
  let partials = [derivative];
}
/// A function that the math dialect lacks: the same arithmetic on the CPU and on devices, written by
/// the function emit<name> of passes/Functions.
class XTensor_ArithmeticOp<string mnemonic, string name, string what, string derivative>
    : XTensor_FloatUnaryOp<mnemonic, what> {
  let kernel = "emit" # name;
  let partials = [derivative];
}
class XTensor_FloatTestOp<string mnemonic, string what>
    : XTensor_UnaryOp<mnemonic, what, XTensor_FloatArray, [], "inferTest", XTensor_BoolArray>;

class XTensor_BinaryOp<string mnemonic, string what, Type operand, list<Trait> traits = []>
    : XTensor_ElementwiseOp<mnemonic, "inferElementwise", traits> {
  let summary = what;
  let arguments = (ins operand:$lhs, operand:$rhs);
  let results = (outs operand:$y);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs)";
}

//===- of one float array --------------------------------------------------===//

def XTensor_AcosOp : XTensor_FunctionOp<"acos", "Acos", "Inverse cosine",
                                        "-rsqrt(oneMinusSquare(a))">;
def XTensor_AcoshOp : XTensor_FunctionOp<"acosh", "Acosh", "Inverse hyperbolic cosine",
                                         "rsqrt(a - 1) * rsqrt(a + 1)">;
def XTensor_AsinOp : XTensor_FunctionOp<"asin", "Asin", "Inverse sine", "rsqrt(oneMinusSquare(a))">;
def XTensor_AsinhOp : XTensor_FunctionOp<"asinh", "Asinh", "Inverse hyperbolic sine",
                                         "slopeOfAsinh(a)">;
def XTensor_AtanOp : XTensor_FunctionOp<"atan", "Atan", "Inverse tangent", "slopeOfAtan(a)">;
def XTensor_AtanhOp : XTensor_FunctionOp<"atanh", "Atanh", "Inverse hyperbolic tangent",
                                         "1 / oneMinusSquare(a)">;
def XTensor_CbrtOp : XTensor_FunctionOp<"cbrt", "Cbrt", "Cube root", "1 / y / (3 * y)">;
def XTensor_CeilOp : XTensor_InstructionOp<"ceil", "Ceil", "Smallest integer not below the value",
                                           "0">;
def XTensor_CosOp : XTensor_FunctionOp<"cos", "Cos", "Cosine", "-sin(a)">;
def XTensor_CoshOp : XTensor_FunctionOp<"cosh", "Cosh", "Hyperbolic cosine", "sinh(a)">;
def XTensor_DigammaOp
    : XTensor_ArithmeticOp<"digamma", "Digamma", "Derivative of the logarithm of the gamma function",
                           "polygamma(1, a)">;
def XTensor_ErfOp : XTensor_FunctionOp<"erf", "Erf", "Error function",
                                       "kTwoOverSqrtPi * exp(-(a * a))">;
def XTensor_ErfcOp : XTensor_FunctionOp<"erfc", "Erfc", "Complementary error function",
                                        "-kTwoOverSqrtPi * exp(-(a * a))">;
def XTensor_ErfcinvOp
    : XTensor_ArithmeticOp<"erfcinv", "Erfcinv", "Inverse complementary error function",
                           "-kHalfSqrtPi * exp(y * y)">;
def XTensor_ErfcxOp : XTensor_ArithmeticOp<"erfcx", "Erfcx", "exp(x^2) times erfc(x)",
                                           "slopeOfErfcx(a, y)">;
def XTensor_ErfinvOp : XTensor_ArithmeticOp<"erfinv", "Erfinv", "Inverse error function",
                                            "kHalfSqrtPi * exp(y * y)">;
def XTensor_ExpOp : XTensor_FunctionOp<"exp", "Exp", "Exponential", "y">;
def XTensor_Exp2Op : XTensor_FunctionOp<"exp2", "Exp2", "Power of two", "kLn2 * y">;
// Not y + 1, which has no digits left where a is far below zero.
def XTensor_Expm1Op
    : XTensor_FunctionOp<"expm1", "Expm1", "exp(x) - 1, accurate near zero", "exp(a)"> {
  let math = "ExpM1Op";
}
def XTensor_FloorOp : XTensor_InstructionOp<"floor", "Floor", "Largest integer not above the value",
                                            "0">;
def XTensor_I0Op
    : XTensor_ArithmeticOp<"i0", "I0", "Modified Bessel function of order 0", "i1(a)">;
def XTensor_I0eOp : XTensor_ArithmeticOp<"i0e", "I0e", "exp(-|x|) times i0(x)",
                                         "slopeOfI0e(a, y)">;
def XTensor_I1Op
    : XTensor_ArithmeticOp<"i1", "I1", "Modified Bessel function of order 1",
                           "slopeOfI1(a, y)">;
def XTensor_I1eOp
    : XTensor_ArithmeticOp<"i1e", "I1e", "exp(-|x|) times i1(x)",
                           "slopeOfI1e(a, y)">;
def XTensor_J0Op
    : XTensor_ArithmeticOp<"j0", "J0", "Bessel function of the first kind of order 0", "-j1(a)">;
def XTensor_J1Op
    : XTensor_ArithmeticOp<"j1", "J1", "Bessel function of the first kind of order 1",
                           "j0(a) - where(less(a * a, 1), besselSeries(a * a * -0.25), "
                           "y / where(less(a * a, 1), 1, a))">;
def XTensor_LgammaOp
    : XTensor_ArithmeticOp<"lgamma", "Lgamma", "Logarithm of the magnitude of the gamma function",
                           "digamma(a)">;
def XTensor_LogOp : XTensor_FunctionOp<"log", "Log", "Natural logarithm", "1 / a">;
def XTensor_Log10Op : XTensor_FunctionOp<"log10", "Log10", "Logarithm to base 10", "kInvLn10 / a">;
def XTensor_Log1pOp : XTensor_FunctionOp<"log1p", "Log1p", "log(1 + x), accurate near zero",
                                         "1 / (1 + a)">;
def XTensor_Log2Op : XTensor_FunctionOp<"log2", "Log2", "Logarithm to base 2", "kInvLn2 / a">;
def XTensor_NdtrOp
    : XTensor_ArithmeticOp<"ndtr", "Ndtr", "Distribution function of the standard normal",
                           "kInvSqrtTwoPi * exp(-0.5 * (a * a))">;
def XTensor_RoundOp : XTensor_InstructionOp<"round", "RoundEven", "Nearest integer, halves to even",
                                            "0">;
def XTensor_RsqrtOp : XTensor_FunctionOp<"rsqrt", "Rsqrt", "Reciprocal of the square root",
                                         "-0.5 * y * (y * y)"> {
  let vector = "";
  let isShort = 1;
}
def XTensor_SinOp : XTensor_FunctionOp<"sin", "Sin", "Sine", "cos(a)">;
def XTensor_SinhOp : XTensor_FunctionOp<"sinh", "Sinh", "Hyperbolic sine", "cosh(a)">;
def XTensor_SqrtOp : XTensor_InstructionOp<"sqrt", "Sqrt", "Square root", "0.5 / y">;
def XTensor_TanOp : XTensor_FunctionOp<"tan", "Tan", "Tangent", "1 + y * y">;
def XTensor_TanhOp : XTensor_FunctionOp<"tanh", "Tanh", "Hyperbolic tangent", "1 - y * y">;
def XTensor_TruncOp : XTensor_FunctionOp<"trunc", "Trunc", "Integer part, towards zero", "0"> {
  let vector = "";
  let isShort = 1;
}

def XTensor_Y0Op
    : XTensor_ArithmeticOp<"y0", "Y0", "Bessel function of the second kind of order 0", "-y1(a)">;
def XTensor_Y1Op
    : XTensor_ArithmeticOp<"y1", "Y1", "Bessel function of the second kind of order 1",
                           "y0(a) - y / a">;

def XTensor_IsfiniteOp : XTensor_FloatTestOp<"isfinite", "Whether neither infinite nor NaN">;
def XTensor_IsinfOp : XTensor_FloatTestOp<"isinf", "Whether infinite">;
def XTensor_IsnanOp : XTensor_FloatTestOp<"isnan", "Whether not a number">;

//===- of one array --------------------------------------------------------===//

def XTensor_AbsOp : XTensor_UnaryOp<"abs", "Absolute value", XTensor_NumberArray> {
  let partials = ["sign(a)"];
}
def XTensor_NegOp : XTensor_UnaryOp<"neg", "Negation (wraps for integers)", XTensor_NumberArray> {
  let hasFolder = 1;
}
def XTensor_NotOp : XTensor_UnaryOp<"not", "Complement of every bit", XTensor_BitsArray> {
  let hasFolder = 1;
}
def XTensor_SignOp : XTensor_UnaryOp<"sign", "-1, 0 or 1; NaN stays NaN", XTensor_NumberArray> {
  let partials = ["0"];
}

def XTensor_CastOp : XTensor_InferredOp<"cast", [XTensor_Elementwise]> {
  let summary = "Conversion to another element type";
  let description = [{
    A float becomes an integer by truncation. A float outside the range of the integer becomes the
    nearest integer, and NaN becomes 0. A number becomes a bool by comparison with zero.

    Example: `xtensor.cast %x to f64 : !xtensor.array<i: 4, i32>`
  }];
  let arguments = (ins XTensor_ArrayType:$x, TypeAttr:$to);
  let results = (outs XTensor_ArrayType:$y);
  let assemblyFormat = "$x `to` $to attr-dict `:` type($x)";
  let hasFolder = 1;
}

//===- of two arrays -------------------------------------------------------===//

def XTensor_AddOp : XTensor_BinaryOp<"add", "Sum", XTensor_NumberArray, [Commutative]> {
  let hasFolder = 1;
}
def XTensor_SubOp : XTensor_BinaryOp<"sub", "Difference", XTensor_NumberArray> {
  let hasFolder = 1;
}
def XTensor_MulOp : XTensor_BinaryOp<"mul", "Product", XTensor_NumberArray, [Commutative]> {
  let hasFolder = 1;
}
def XTensor_DivOp : XTensor_BinaryOp<"div", "Quotient", XTensor_FloatArray> {
  let hasFolder = 1;
}
def XTensor_FloorDivOp
    : XTensor_BinaryOp<"floor_div", "Quotient rounded down; integer division by zero gives 0",
                       XTensor_NumberArray> {
  let partials = ["0", "0"];
}
def XTensor_ModOp
    : XTensor_BinaryOp<"mod", "Remainder with the divisor's sign; an integer modulo zero is 0",
                       XTensor_NumberArray> {
  let partials = ["1", "-floorDiv(a, b)"];
}
// The derivative with respect to the base, b a^(b-1), is 0 * inf at a = b = 0, where the power is
// constant in a. The derivative with respect to the exponent, y log a, has the limit 0 at a = 0. The
// derivatives of both formulas are exact, too.
def XTensor_PowOp : XTensor_BinaryOp<"pow", "Power", XTensor_NumberArray> {
  let math = "PowFOp";
  let vector = "pow";
  let kernel = "emitPow";
  let partials = ["b * pow(a, where(both(equal(a, 0), equal(b, 0)), 1, b - 1))",
                  "scale(y, log(where(equal(a, 0), 1, a)))"];
}
def XTensor_MaximumOp
    : XTensor_BinaryOp<"maximum", "Larger value; NaN wins", XTensor_NumberArray, [Commutative]>;
def XTensor_MinimumOp
    : XTensor_BinaryOp<"minimum", "Smaller value; NaN wins", XTensor_NumberArray, [Commutative]>;
def XTensor_Atan2Op : XTensor_BinaryOp<"atan2", "Angle of (rhs, lhs)", XTensor_FloatArray> {
  let math = "Atan2Op";
  let vector = "atan2";
  let kernel = "emitAtan2";
  let partials = ["b * overLarger(a, b)", "-a * overLarger(a, b)"];
  let factor = "slopeOfAngle(a, b, overLarger(a, b))";
}
// The order is a whole number, so there is no derivative with respect to it.
def XTensor_PolygammaOp
    : XTensor_BinaryOp<"polygamma", "Derivative of digamma at rhs, of order lhs (1 or more); NaN at a "
                       "negative rhs if the order is not a constant up to 20", XTensor_FloatArray> {
  let kernel = "emitPolygamma";
  let isShort = 1; // Kernels read the order in line.
  let partials = ["0", "polygamma(a + 1, b)"];
}
def XTensor_GammaincOp
    : XTensor_BinaryOp<"gammainc", "Regularised lower incomplete gamma function of order lhs at rhs",
                       XTensor_FloatArray> {
  let kernel = "emitGammainc";
  let partials = ["gammaincByA(1, a, b)", "gammaDensityByA(0, a, b)"];
}
def XTensor_GammainccOp
    : XTensor_BinaryOp<"gammaincc", "1 - gammainc", XTensor_FloatArray> {
  let kernel = "emitGammaincc";
  let partials = ["-gammaincByA(1, a, b)", "-gammaDensityByA(0, a, b)"];
}
def XTensor_CopysignOp
    : XTensor_BinaryOp<"copysign", "lhs with the sign of rhs", XTensor_FloatArray> {
  let math = "CopySignOp";
  let kernel = "emitCopysign";
  let isShort = 1;
  let partials = ["sign(a) * copysign(1, b)", "0"];
}
def XTensor_AndOp : XTensor_BinaryOp<"and", "Bitwise and", XTensor_BitsArray, [Commutative]>;
def XTensor_OrOp : XTensor_BinaryOp<"or", "Bitwise or", XTensor_BitsArray, [Commutative]>;
def XTensor_XorOp : XTensor_BinaryOp<"xor", "Bitwise exclusive or", XTensor_BitsArray, [Commutative]>;
def XTensor_ShlOp
    : XTensor_BinaryOp<"shl", "Shift left; a count of the width or more gives 0", XTensor_IntegerArray>;
def XTensor_ShrOp
    : XTensor_BinaryOp<"shr", "Shift right, filled with the sign, also for counts of the width or more",
                       XTensor_IntegerArray>;
def XTensor_ScaleOp
    : XTensor_BinaryOp<"scale", "Product; a zero rhs gives zero, even times inf or NaN",
                       XTensor_FloatArray>;

def XTensor_ComparePredicate : I32EnumAttr<"ComparePredicate", "comparison", [
    I32EnumAttrCase<"eq", 0>, I32EnumAttrCase<"ne", 1>, I32EnumAttrCase<"lt", 2>,
    I32EnumAttrCase<"le", 3>, I32EnumAttrCase<"gt", 4>, I32EnumAttrCase<"ge", 5>]> {
  let cppNamespace = "::xtensor";
}
def XTensor_CompareOp : XTensor_InferredOp<"compare", [XTensor_Elementwise]> {
  let summary = "Comparison";
  let description = [{
    If an operand is NaN, the result is false, except for `ne`, which gives true.

    Example: `xtensor.compare lt %a, %b : !xtensor.array<i: 4, f32>, !xtensor.array<f32>`
  }];
  let arguments = (ins XTensor_ComparePredicate:$predicate, XTensor_ArrayType:$lhs,
                       XTensor_ArrayType:$rhs);
  let results = (outs XTensor_BoolArray:$y);
  let assemblyFormat = "$predicate $lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs)";
}

//===- of three arrays -----------------------------------------------------===//

/// A derivative of order n by a parameter, of a function of two arrays.
class XTensor_DerivativeOp<string mnemonic, string what>
    : XTensor_ElementwiseOp<mnemonic, "inferElementwise"> {
  let summary = what;
  let arguments = (ins XTensor_FloatArray:$n, XTensor_FloatArray:$a, XTensor_FloatArray:$x);
  let results = (outs XTensor_FloatArray:$y);
  let assemblyFormat = "$n `,` $a `,` $x attr-dict `:` type($n) `,` type($a) `,` type($x)";
  let isShort = 1; // Kernels read the order in line.
}
def XTensor_GammaincByAOp
    : XTensor_DerivativeOp<"gammainc_by_a", "Derivative of order n of gammainc(a, x) by a; NaN if n "
                           "is not a constant from 0 to 8"> {
  let kernel = "emitGammaincByA";
  let partials = ["0", "gammaincByA(a + 1, b, c)", "gammaDensityByA(a, b, c)"];
}
def XTensor_BetaincOp : XTensor_ElementwiseOp<"betainc", "inferElementwise"> {
  let summary = "Regularised incomplete beta function of a and b at x";
  let arguments = (ins XTensor_FloatArray:$a, XTensor_FloatArray:$b, XTensor_FloatArray:$x);
  let results = (outs XTensor_FloatArray:$y);
  let assemblyFormat = "$a `,` $b `,` $x attr-dict `:` type($a) `,` type($b) `,` type($x)";
  let kernel = "emitBetainc";
  let partials = ["betaincBy(1, 0, a, b, c)", "betaincBy(0, 1, a, b, c)",
                  "betaDensityBy(0, 0, a, b, c)"];
}
/// A derivative of orders m and n by the parameters of a function of three arrays.
class XTensor_DerivativeOfTwoOp<string mnemonic, string what>
    : XTensor_ElementwiseOp<mnemonic, "inferElementwise"> {
  let summary = what;
  let arguments = (ins XTensor_FloatArray:$m, XTensor_FloatArray:$n, XTensor_FloatArray:$a,
                       XTensor_FloatArray:$b, XTensor_FloatArray:$x);
  let results = (outs XTensor_FloatArray:$y);
  let assemblyFormat = [{
    $m `,` $n `,` $a `,` $b `,` $x attr-dict
    `:` type($m) `,` type($n) `,` type($a) `,` type($b) `,` type($x)
  }];
  let isShort = 1; // Kernels read the orders in line.
}
def XTensor_BetaincByOp
    : XTensor_DerivativeOfTwoOp<"betainc_by", "Derivative of orders m and n of betainc(a, b, x) by a "
                                "and b; NaN if they are not constants with a sum from 0 to 8"> {
  let kernel = "emitBetaincBy";
  let partials = ["0", "0", "betaincBy(a + 1, b, c, d, e)", "betaincBy(a, b + 1, c, d, e)",
                  "betaDensityBy(a, b, c, d, e)"];
}
def XTensor_BetaDensityByOp
    : XTensor_DerivativeOfTwoOp<"beta_density_by", "Derivative of orders m and n of x^(a-1) "
                                "(1-x)^(b-1) / beta(a, b) by a and b; NaN if they are not constants "
                                "with a sum from 0 to 8"> {
  let kernel = "emitBetaDensityBy";
  let partials = ["0", "0", "betaDensityBy(a + 1, b, c, d, e)", "betaDensityBy(a, b + 1, c, d, e)",
                  "slopeOfBetaDensity(a, b, c, d, e, y)"];
}
def XTensor_GammaDensityByAOp
    : XTensor_DerivativeOp<"gamma_density_by_a", "Derivative of order n of gamma(a)^-1 x^(a-1) e^-x "
                           "by a; NaN if n is not a constant from 0 to 8"> {
  let kernel = "emitGammaDensityByA";
  let partials = ["0", "gammaDensityByA(a + 1, b, c)", "slopeOfGammaDensity(a, b, c, y)"];
}

def XTensor_SelectOp : XTensor_InferredOp<"select", [XTensor_Elementwise]> {
  let summary = "lhs if the condition holds, else rhs";
  let arguments = (ins XTensor_BoolArray:$condition, XTensor_ArrayType:$lhs,
                       XTensor_ArrayType:$rhs);
  let results = (outs XTensor_ArrayType:$y);
  let assemblyFormat = [{
    $condition `,` $lhs `,` $rhs attr-dict `:` type($condition) `,` type($lhs) `,` type($rhs)
  }];
  let hasFolder = 1;
}

#endif // XTENSOR_ELEMENTWISE_OPS_TD
