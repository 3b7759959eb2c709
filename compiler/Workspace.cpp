#include "compiler/Workspace.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace xtensor;

/// Bytes that the header of a piece and its alignment add (aot/check.c).
static int64_t piece(int64_t bytes) { return ((bytes + 63) & ~int64_t(63)) + 64; }

/// Whether the sizes of a call are enough to do this.
static bool followsFromSizes(Instruction &instruction, Function &entry) {
  if (auto *load = dyn_cast<LoadInst>(&instruction))
    return getUnderlyingObject(load->getPointerOperand()) == entry.getArg(1);
  return isa<ReturnInst>(instruction) || isa<IntrinsicInst>(instruction) ||
         !instruction.mayReadOrWriteMemory();
}

/// A copy of `entry` that ends at `acquire`, in its first block, and returns what that would get.
/// Null: that is not known before.
static Function *copyUpTo(Function &entry, CallInst &acquire) {
  Module &module = *entry.getParent();
  LLVMContext &context = module.getContext();
  Type *i64 = Type::getInt64Ty(context);
  auto *type = FunctionType::get(i64, entry.getFunctionType()->params(), false);
  Function *copy =
      Function::Create(type, GlobalValue::InternalLinkage, entry.getName() + "_bytes", module);
  BasicBlock *block = BasicBlock::Create(context, "", copy);
  IRBuilder<> b(block);
  DenseMap<Value *, Value *> values;
  for (auto [from, to] : zip(entry.args(), copy->args()))
    values[&from] = &to;
  for (Instruction &instruction : entry.getEntryBlock()) {
    if (&instruction == &acquire)
      break;
    Instruction *cloned = instruction.clone();
    b.Insert(cloned);
    cloned->setDebugLoc(DebugLoc());
    for (Use &operand : cloned->operands())
      if (auto it = values.find(operand.get()); it != values.end())
        operand.set(it->second);
    values[&instruction] = cloned;
  }
  Value *bytes = acquire.getArgOperand(0);
  auto it = values.find(bytes);
  ReturnInst *end = b.CreateRet(it != values.end() ? it->second : bytes);
  // Sizes come out of descriptors, which hold addresses as well.
  for (Instruction &instruction : *block)
    if (auto *extract = dyn_cast<ExtractValueInst>(&instruction))
      if (Value *found = FindInsertedValue(extract->getAggregateOperand(), extract->getIndices()))
        extract->replaceAllUsesWith(found);
  // What the result does not need is not done: it may be anything that the entry begins with.
  SmallPtrSet<Instruction *, 16> needed;
  SmallVector<Instruction *> pending = {end};
  while (!pending.empty()) {
    Instruction *next = pending.pop_back_val();
    if (needed.insert(next).second)
      for (Value *operand : next->operands())
        if (auto *definition = dyn_cast<Instruction>(operand))
          pending.push_back(definition);
  }
  for (Instruction *instruction : needed)
    if (!followsFromSizes(*instruction, *copy)) {
      copy->eraseFromParent();
      return nullptr;
    }
  for (Instruction &instruction : make_early_inc_range(reverse(*block)))
    if (!needed.contains(&instruction))
      instruction.eraseFromParent();
  return copy;
}

Workspace xtensor::workspaceOf(Function &entry) {
  Workspace workspace;
  // Routines (sorting, factorisations) take a piece for each row or matrix.
  for (Function &function : *entry.getParent())
    workspace.loopsTakeMore |= function.getName().starts_with("xta_xt_") && !function.use_empty();
  Function *acquire = entry.getParent()->getFunction("xta_arena_acquire");
  if (!acquire)
    return workspace;
  SmallVector<CallInst *> calls;
  for (User *user : acquire->users())
    if (auto *call = dyn_cast<CallInst>(user); call && call->getCalledOperand() == acquire)
      calls.push_back(call);
  for (CallInst *call : calls) {
    auto *constant = dyn_cast<ConstantInt>(call->getArgOperand(0));
    if (constant)
      workspace.fixed += piece(constant->getSExtValue());
    else if (call->getParent() == &entry.getEntryBlock() && !workspace.bytes)
      workspace.loopsTakeMore |= !(workspace.bytes = copyUpTo(entry, *call));
    else
      workspace.loopsTakeMore = true;
  }
  return workspace;
}
