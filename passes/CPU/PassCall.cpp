// xtensor-pass-call: makes code that does not use state of the process.
#include "CPU/Passes.h"

#include "Routines.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace xtensor {
#define GEN_PASS_DEF_PASSCALL
#include "CPU/Passes.h.inc"
} // namespace xtensor

using namespace mlir;
using namespace xtensor;

namespace {

struct PassCallPass : xtensor::impl::PassCallBase<PassCallPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto pointer = LLVM::LLVMPointerType::get(&getContext());
    llvm::StringMap<std::string> names; // of what takes the call: as it was -> as it is
    for (auto func : llvm::make_early_inc_range(module.getOps<LLVM::LLVMFuncOp>())) {
      StringRef name = func.getSymName();
      if (name == "entry" || name == "xt_begin_call" || name == kPollFunction ||
          (func.isExternal() && !name.starts_with("xt_")))
        continue;
      std::string renamed = name.str();
      if (func.isExternal())
        renamed = "xta_" + name.drop_front(3).str();
      // A routine is told by its whole name: xta_xt_argsort.
      if (func.isExternal() && routineNamed(name))
        renamed = "xta_" + name.str();
      names[name] = renamed;
      addArgument(func, pointer);
      func.setSymName(renamed);
    }
    SmallVector<LLVM::CallOp> begins;
    module.walk([&](LLVM::CallOp call) {
      std::optional<StringRef> callee = call.getCallee();
      if (!callee)
        return;
      if (*callee == kPollFunction) {
        OpBuilder b(call);
        Type type = call.getResult().getType();
        Value no = LLVM::ConstantOp::create(b, call.getLoc(), type, b.getIntegerAttr(type, 0));
        call.getResult().replaceAllUsesWith(no);
        call.erase();
        return;
      }
      if (*callee == "xt_begin_call") {
        begins.push_back(call);
        return;
      }
      auto it = names.find(*callee);
      if (it == names.end())
        return;
      auto func = call->getParentOfType<LLVM::LLVMFuncOp>();
      // The entry's status is the head of the call.
      call.getCalleeOperandsMutable().append(ValueRange(func.getBody().getArguments().back()));
      call.setCallee(it->second);
    });
    module.walk([&](LLVM::AddressOfOp address) {
      auto it = names.find(address.getGlobalName());
      if (it != names.end())
        address.setGlobalName(it->second);
    });
    for (LLVM::CallOp call : begins)
      call.erase();
    if (auto begin = module.lookupSymbol<LLVM::LLVMFuncOp>("xt_begin_call"))
      begin.erase();
    if (auto poll = module.lookupSymbol<LLVM::LLVMFuncOp>(kPollFunction))
      poll.erase();
  }

private:
  /// By hand: upstream's insertion fails on functions that return nothing.
  static void addArgument(LLVM::LLVMFuncOp func, Type type) {
    LLVM::LLVMFunctionType old = func.getFunctionType();
    SmallVector<Type> types(old.getParams());
    types.push_back(type);
    func.setFunctionType(LLVM::LLVMFunctionType::get(old.getReturnType(), types, old.isVarArg()));
    if (std::optional<ArrayAttr> attributes = func.getArgAttrs()) {
      SmallVector<Attribute> all(attributes->getValue());
      all.push_back(DictionaryAttr::get(func.getContext()));
      func.setArgAttrsAttr(ArrayAttr::get(func.getContext(), all));
    }
    if (!func.isExternal())
      func.getBody().addArgument(type, func.getLoc());
  }
};

} // namespace
