#include "compiler/WarmUp.h"

#include "Pipelines.h"
#include "compiler/Compiler.h"
#include "compiler/Jit.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "runtime.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>

using namespace mlir;
using namespace xtensor;

// A product, a group of reductions with a function of many instructions, an update: most kinds of
// loops, in two functions.
static constexpr llvm::StringLiteral kProgram = R"(
func.func @main(%x: !xtensor.array<a: 512, b: 96, f32>, %w: !xtensor.array<b: 96, c: 64, f32>)
    -> !xtensor.array<a: 512, c: 64, f32> {
  %0 = xtensor.contract %x, %w over [b] order [a, c] : !xtensor.array<a: 512, b: 96, f32>, !xtensor.array<b: 96, c: 64, f32>
  %1 = xtensor.reduce max %0 over [c] : <a: 512, c: 64, f32>
  %2 = xtensor.sub %0, %1 : <a: 512, c: 64, f32>, <a: 512, f32>
  %3 = xtensor.exp %2 : <a: 512, c: 64, f32>
  %4 = xtensor.reduce sum %3 over [c] : <a: 512, c: 64, f32>
  %5 = xtensor.div %3, %4 : <a: 512, c: 64, f32>, <a: 512, f32>
  return %5 : !xtensor.array<a: 512, c: 64, f32>
}
)";

static std::atomic<MLIRContext *> warmContext{nullptr};

std::unique_ptr<MLIRContext> xtensor::takeWarmContext() {
  return std::unique_ptr<MLIRContext>(warmContext.exchange(nullptr));
}

/// Compiles the program and links it, then lets others have the context.
static bool warmUpCompiler(llvm::function_ref<bool()> wanted) {
  Jit &jit = Jit::get();
  if (!wanted())
    return false;
  DialectRegistry registry;
  registerAllXTensorDialects(registry);
  auto context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  auto module = parseSourceString<ModuleOp>(kProgram, context.get());
  if (!module || !wanted() || failed(runPhases(*module, "traced", "llvm")) || !wanted())
    return false;
  constexpr llvm::StringLiteral entry = "xt_warm_up";
  SymbolTable::setSymbolName(module->lookupSymbol("entry"), entry);
  auto objects = jit.generate(*module, entry, xt_num_threads());
  if (failed(objects))
    return false;
  module = nullptr;
  warmContext = context.release();
  if (!wanted())
    return false;
  llvm::consumeError(jit.link(std::move(*objects), entry).takeError());
  return wanted();
}

/// A thin product: little work, but every thread packs as much of its second operand as it does for
/// a large one. The first product pays for that memory otherwise, page by page.
static void warmUpProducts() {
  constexpr int64_t rows = 16, columnsOfThread = 1024, depth = 512;
  int64_t columns = columnsOfThread * xt_num_threads();
  struct Free {
    void operator()(float *p) const { std::free(p); }
  };
  // Zeros that the system gives without memory behind them.
  auto zeros = [](int64_t count) {
    return std::unique_ptr<float, Free>(static_cast<float *>(std::calloc(count, sizeof(float))));
  };
  auto a = zeros(rows * depth), b = zeros(depth * columns), c = zeros(rows * columns);
  if (a && b && c)
    xt_gemm_f32(0, 0, rows, columns, depth, a.get(), depth, b.get(), columns, c.get(), columns, 0);
}

/// The first results find memory that the system has cleared before: it takes longer to clear a
/// page than a program takes to fill it. The allocator moves such pages into larger blocks.
static void warmUpResults() {
  constexpr size_t count = 2, bytes = size_t(4) << 20;
  void *blocks[count];
  for (void *&block : blocks)
    if ((block = xt_alloc(bytes)))
      std::memset(block, 0, bytes);
  for (void *block : blocks)
    if (block)
      xt_free(block, bytes);
}

void xtensor::warmUp(llvm::function_ref<bool()> wanted) {
  if (!wanted() || !warmUpCompiler(wanted))
    return;
  warmUpProducts();
  if (wanted())
    warmUpResults();
}
