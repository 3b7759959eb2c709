// The dialect itself, its two types, and the op classes that every family derives from.
#ifndef XTENSOR_BASE_TD
#define XTENSOR_BASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def XTensor_Dialect : Dialect {
  let name = "xtensor";
  let summary = "Arrays whose dimensions have names";
  let description = [{
    A program of this dialect computes with arrays whose dimensions have names. Ops align their
    operands by name, so the dialect needs no axis numbers, no matching of ranks and no transposes.
    Nearly all ops are pure. Each file `<Family>Ops.td` has the ops of one family. The record of an
    elementwise op also has its derivative (`partials`), and the functions that it is lowered to
    (`math` and `kernel` are two of these fields). For all other ops, tables and patterns in
    `passes/` define derivatives and lowerings.
  }];
  let cppNamespace = "::xtensor";
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = [{
    void registerTypes();
  }];
}

//===- types ---------------------------------------------------------------===//

def XTensor_ArrayType : TypeDef<XTensor_Dialect, "Array"> {
  let mnemonic = "array";
  let summary = "array with named dimensions";
  let description = [{
    An array has an ordered list of dims and an element type, for example `!xtensor.array<batch: 64,
    time: ?, f32>`. Each dim has a unique name, and a size that is static or `?` (dynamic). The
    order of dims is their order in memory (row-major). It never changes the meaning of a program.
    Inside one function, dims with the same name and size `?` have the same size.

    Signed integers are signless (`i32`), unsigned ones are `ui32`, and `i1` is bool. A name is
    quoted if it is not an identifier, or if it would parse as a builtin type.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr", "dimension names">:$dimNames,
                        ArrayRefParameter<"int64_t", "sizes">:$shape,
                        "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    static constexpr int64_t kDynamic = ::mlir::ShapedType::kDynamic;
    int64_t getRank() const { return getShape().size(); }
    /// Position of `name`, or -1.
    int64_t find(::mlir::Attribute name) const;
    bool hasDim(::mlir::Attribute name) const { return find(name) >= 0; }
    /// Size of `name`, which must be there.
    int64_t getSize(::mlir::Attribute name) const { return getShape()[find(name)]; }
    bool isDynamic(::mlir::Attribute name) const { return getSize(name) == kDynamic; }
    bool hasStaticShape() const { return !::llvm::is_contained(getShape(), kDynamic); }
    bool isFloat() const { return ::llvm::isa<::mlir::FloatType>(getElementType()); }
    bool isBool() const { return getElementType().isInteger(1); }
    ArrayType withElement(::mlir::Type element) const {
      return get(getContext(), getDimNames(), getShape(), element);
    }
  }];
}

def XTensor_LinearType : TypeDef<XTensor_Dialect, "Linear"> {
  let mnemonic = "linear";
  let summary = "linear map between arrays";
  let description = [{
    A value of the type `!xtensor.linear<(A, B) -> C>` stands for the region of an `xtensor.linear`
    op. It is not data at run time. Only `xtensor.apply`, `xtensor.transposed` and terminators use
    it.
  }];
  let parameters = (ins "::mlir::FunctionType":$map);
  let assemblyFormat = "`<` $map `>`";
}

class XTensor_ArrayOf<code predicate, string what>
    : Type<And<[CPred<"::llvm::isa<::xtensor::ArrayType>($_self)">,
                CPred<"[](::mlir::Type e) { return " # predicate #
                      "; }(::llvm::cast<::xtensor::ArrayType>($_self).getElementType())">]>,
           "array of " # what, "::xtensor::ArrayType">;
def XTensor_FloatArray : XTensor_ArrayOf<"::llvm::isa<::mlir::FloatType>(e)", "floats">;
def XTensor_BoolArray : XTensor_ArrayOf<"e.isInteger(1)", "bools">;
def XTensor_IntegerArray : XTensor_ArrayOf<"e.isInteger() && !e.isInteger(1)", "integers">;
def XTensor_BitsArray : XTensor_ArrayOf<"e.isInteger()", "integers or bools">;
def XTensor_NumberArray : XTensor_ArrayOf<"!e.isInteger(1)", "numbers">;
def XTensor_SizeArray : Type<
    And<[CPred<"::llvm::isa<::xtensor::ArrayType>($_self)">,
         CPred<"::llvm::cast<::xtensor::ArrayType>($_self).getRank() == 0">,
         CPred<"::llvm::cast<::xtensor::ArrayType>($_self).getElementType().isInteger(64)">]>,
    "size (an i64 array without dims)", "::xtensor::ArrayType">;

//===- op classes ----------------------------------------------------------===//

/// Works element by element on operands aligned by name.
def XTensor_Elementwise : NativeOpTrait<"Elementwise"> { let cppNamespace = "::xtensor::trait"; }

class XTensor_Op<string mnemonic, list<Trait> traits = []>
    : Op<XTensor_Dialect, mnemonic, traits>;

/// A pure op whose result types follow from operands and attributes.
class XTensor_InferredOp<string mnemonic, list<Trait> traits = []>
    : XTensor_Op<mnemonic, !listconcat([Pure, InferTypeOpAdaptor], traits)>;

#endif // XTENSOR_BASE_TD
