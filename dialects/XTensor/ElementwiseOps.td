// Ops that work element by element on operands aligned by name: the result has the union of
// the dims in order of first appearance, equal names have equal sizes, scalars broadcast.
#ifndef XTENSOR_ELEMENTWISE_OPS_TD
#define XTENSOR_ELEMENTWISE_OPS_TD

include "XTensor/Base.td"

/// `fn` is the type inference function (TypeInference.h), called with all operands.
class XTensor_ElementwiseOp<string mnemonic, string fn, list<Trait> traits = []>
    : XTensor_InferredOp<mnemonic, !listconcat([XTensor_Elementwise], traits)> {
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

def XTensor_AcosOp : XTensor_FloatUnaryOp<"acos", "Inverse cosine">;
def XTensor_AcoshOp : XTensor_FloatUnaryOp<"acosh", "Inverse hyperbolic cosine">;
def XTensor_AsinOp : XTensor_FloatUnaryOp<"asin", "Inverse sine">;
def XTensor_AsinhOp : XTensor_FloatUnaryOp<"asinh", "Inverse hyperbolic sine">;
def XTensor_AtanOp : XTensor_FloatUnaryOp<"atan", "Inverse tangent">;
def XTensor_AtanhOp : XTensor_FloatUnaryOp<"atanh", "Inverse hyperbolic tangent">;
def XTensor_CbrtOp : XTensor_FloatUnaryOp<"cbrt", "Cube root">;
def XTensor_CeilOp : XTensor_FloatUnaryOp<"ceil", "Smallest integer not below the value">;
def XTensor_CosOp : XTensor_FloatUnaryOp<"cos", "Cosine">;
def XTensor_CoshOp : XTensor_FloatUnaryOp<"cosh", "Hyperbolic cosine">;
def XTensor_ErfOp : XTensor_FloatUnaryOp<"erf", "Error function">;
def XTensor_ErfcOp : XTensor_FloatUnaryOp<"erfc", "Complementary error function">;
def XTensor_ExpOp : XTensor_FloatUnaryOp<"exp", "Exponential">;
def XTensor_Exp2Op : XTensor_FloatUnaryOp<"exp2", "Power of two">;
def XTensor_Expm1Op : XTensor_FloatUnaryOp<"expm1", "exp(x) - 1, exact near zero">;
def XTensor_FloorOp : XTensor_FloatUnaryOp<"floor", "Largest integer not above the value">;
def XTensor_LogOp : XTensor_FloatUnaryOp<"log", "Natural logarithm">;
def XTensor_Log10Op : XTensor_FloatUnaryOp<"log10", "Logarithm to base 10">;
def XTensor_Log1pOp : XTensor_FloatUnaryOp<"log1p", "log(1 + x), exact near zero">;
def XTensor_Log2Op : XTensor_FloatUnaryOp<"log2", "Logarithm to base 2">;
def XTensor_RoundOp : XTensor_FloatUnaryOp<"round", "Nearest integer, halves to even">;
def XTensor_RsqrtOp : XTensor_FloatUnaryOp<"rsqrt", "Reciprocal of the square root">;
def XTensor_SinOp : XTensor_FloatUnaryOp<"sin", "Sine">;
def XTensor_SinhOp : XTensor_FloatUnaryOp<"sinh", "Hyperbolic sine">;
def XTensor_SqrtOp : XTensor_FloatUnaryOp<"sqrt", "Square root">;
def XTensor_TanOp : XTensor_FloatUnaryOp<"tan", "Tangent">;
def XTensor_TanhOp : XTensor_FloatUnaryOp<"tanh", "Hyperbolic tangent">;
def XTensor_TruncOp : XTensor_FloatUnaryOp<"trunc", "Integer part, towards zero">;

def XTensor_IsfiniteOp : XTensor_FloatTestOp<"isfinite", "Whether neither infinite nor NaN">;
def XTensor_IsinfOp : XTensor_FloatTestOp<"isinf", "Whether infinite">;
def XTensor_IsnanOp : XTensor_FloatTestOp<"isnan", "Whether not a number">;

//===- of one array --------------------------------------------------------===//

def XTensor_AbsOp : XTensor_UnaryOp<"abs", "Absolute value", XTensor_NumberArray>;
def XTensor_NegOp : XTensor_UnaryOp<"neg", "Negation (wraps for integers)", XTensor_NumberArray> {
  let hasFolder = 1;
}
def XTensor_NotOp : XTensor_UnaryOp<"not", "Complement of every bit", XTensor_BitsArray> {
  let hasFolder = 1;
}
def XTensor_SignOp : XTensor_UnaryOp<"sign", "-1, 0 or 1; NaN stays NaN", XTensor_NumberArray>;

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
                       XTensor_NumberArray>;
def XTensor_ModOp
    : XTensor_BinaryOp<"mod", "Remainder with the divisor's sign; an integer modulo zero is 0",
                       XTensor_NumberArray>;
def XTensor_PowOp : XTensor_BinaryOp<"pow", "Power", XTensor_NumberArray>;
def XTensor_MaximumOp
    : XTensor_BinaryOp<"maximum", "Larger value; NaN wins", XTensor_NumberArray, [Commutative]>;
def XTensor_MinimumOp
    : XTensor_BinaryOp<"minimum", "Smaller value; NaN wins", XTensor_NumberArray, [Commutative]>;
def XTensor_Atan2Op : XTensor_BinaryOp<"atan2", "Angle of (rhs, lhs)", XTensor_FloatArray>;
def XTensor_CopysignOp
    : XTensor_BinaryOp<"copysign", "lhs with the sign of rhs", XTensor_FloatArray>;
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
    Comparisons with NaN are false, except `ne`, which is true.

    Example: `xtensor.compare lt %a, %b : !xtensor.array<i: 4, f32>, !xtensor.array<f32>`
  }];
  let arguments = (ins XTensor_ComparePredicate:$predicate, XTensor_ArrayType:$lhs,
                       XTensor_ArrayType:$rhs);
  let results = (outs XTensor_BoolArray:$y);
  let assemblyFormat = "$predicate $lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs)";
}

//===- of three arrays -----------------------------------------------------===//

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
