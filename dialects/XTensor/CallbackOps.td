// Calls of functions that are not compiled: those of Python, while the program runs.
#ifndef XTENSOR_CALLBACK_OPS_TD
#define XTENSOR_CALLBACK_OPS_TD

include "XTensor/Base.td"

def XTensor_CallbackOp : XTensor_Op<"callback", [
    DeclareOpInterfaceMethods<ConditionallySpeculatable>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Calls a Python function of the process that compiled the program";
  let description = [{
    `number` identifies the function in the process. `label` tells readers of the IR what the
    function does. The function gets the arguments, and returns the results.

    * An `ordered` call has effects. Passes keep ordered calls where the program has them, in order.
    * Any other call is pure: passes may drop it, repeat it, or merge it with an equal call.
    * A `together` call accepts arguments with additional dims. Its results then have these dims
      first. If a function with such a call is vectorized, the program calls it once for all
      instances. It makes any other call once for each instance.

    `instances` lists the names of dims along which the call was vectorized. For each name, one of
    the last arguments is the position of the instance along this dim.

    Constraints:
    * (callback_c1) A dim of dynamic size of a result is a dim of an argument.
    * (callback_c2) For each name of `instances`, there is a position among the last arguments.
    * (callback_c3) A call without results is ordered.
    * (callback_c4) An ordered call is not `together`.

    Example: `xtensor.callback ordered "loss {}" number 3 (%x) : (!xtensor.array<f32>) -> ()`
  }];
  let arguments = (ins StrAttr:$label, I64Attr:$number, UnitAttr:$ordered, UnitAttr:$together,
                       Variadic<XTensor_ArrayType>:$args, OptionalAttr<StrArrayAttr>:$instances);
  let results = (outs Variadic<XTensor_ArrayType>:$results);
  let assemblyFormat = [{
    (`ordered` $ordered^)? (`together` $together^)? $label `number` $number `(` $args `)`
    (`instances` custom<Names>($instances)^)? attr-dict `:` functional-type($args, $results)
  }];
  let extraClassDeclaration = [{
    unsigned getNumInstances() { return getInstances() ? getInstances()->size() : 0; }
    /// The arguments but for positions, and the positions.
    ::mlir::ValueRange getValues() { return getArgs().drop_back(getNumInstances()); }
    ::mlir::ValueRange getPositions() { return getArgs().take_back(getNumInstances()); }
  }];
  let hasVerifier = 1;
}

#endif // XTENSOR_CALLBACK_OPS_TD
