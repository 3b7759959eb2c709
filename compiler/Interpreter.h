// Interprets the host code of kernels (phase `llvm`) symbolically, because sizes may be open.
// Numbers that depend on open sizes become formulas. Addresses become offsets into named memory.
#ifndef XTENSOR_COMPILER_INTERPRETER_H
#define XTENSOR_COMPILER_INTERPRETER_H

#include "compiler/Formulas.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/DenseMap.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace xtensor {

/// What a value of the host is: a number, a place in memory, or a structure of such. Of a real that
/// was made of open sizes the value is not known; `number` has its bits if it is an open size
/// itself.
struct HostData {
  enum Kind { none, integer, real, address, structure } kind = none;
  Number number;                      // of an address: the offset in bytes
  int64_t memory = -1;                // of an address; -1: null
  std::optional<llvm::APFloat> value; // of a real
  std::vector<HostData> parts;

  static HostData of(Number number) {
    HostData data;
    data.kind = integer;
    data.number = number;
    return data;
  }
  static HostData at(int64_t memory, Number offset = 0) {
    HostData data = of(offset);
    data.kind = address;
    data.memory = memory;
    return data;
  }
  static HostData ofReal(std::optional<llvm::APFloat> value) {
    HostData data;
    data.kind = real;
    data.value = std::move(value);
    return data;
  }
};

/// Memory that the host names. That of its own ("host") has contents, by offset.
struct HostMemory {
  const char *of;
  int64_t number = 0;
  mlir::LLVM::GlobalOp global = {};
  std::map<int64_t, HostData> contents = {};
};

class Interpreter {
public:
  virtual ~Interpreter() = default;
  /// What it could not follow.
  std::string why;

protected:
  Interpreter(mlir::ModuleOp module, Formulas &formulas)
      : module(module), layout(module), formulas(formulas) {}

  /// A call of what is not part of the module, which sets its result.
  virtual bool callRuntime(mlir::LLVM::CallOp op, llvm::ArrayRef<HostData> arguments) = 0;

  bool call(mlir::LLVM::LLVMFuncOp function, llvm::ArrayRef<HostData> arguments);
  bool fail(const llvm::Twine &reason) {
    if (why.empty())
      why = reason.str();
    return false;
  }
  int64_t add(HostMemory memory) {
    memories.push_back(std::move(memory));
    return memories.size() - 1;
  }
  bool set(mlir::Value v, HostData data) {
    values[v] = std::move(data);
    return true;
  }
  /// Element i of an array of the host's own; null where nothing was written.
  const HostData *element(const HostData &array, int64_t i, int64_t bytes) const;
  /// The global that an address is in, or null.
  mlir::LLVM::GlobalOp globalAt(const HostData &address) const;
  /// What a global is made of by operations; nothing where it is not.
  HostData initial(mlir::LLVM::GlobalOp global);

  mlir::ModuleOp module;
  mlir::DataLayout layout;
  Formulas &formulas;
  std::vector<HostMemory> memories;

private:
  const HostData &of(mlir::Value v) const { return values.find(v)->second; }
  bool follow(mlir::Operation &op);
  bool followNumber(mlir::Operation &op);
  bool followReal(mlir::Operation &op);
  bool followBinary(mlir::Operation &op, Number a, Number b);
  bool followBits(mlir::Operation &op, Number a, Number b);
  bool compare(mlir::LLVM::ICmpOp op);
  bool choose(mlir::LLVM::SelectOp op);
  bool constant(mlir::LLVM::ConstantOp op);
  bool addressOf(mlir::LLVM::AddressOfOp op);
  bool addAddresses(mlir::Operation &op, const HostData &a, const HostData &b);
  bool insert(mlir::LLVM::InsertValueOp op);
  bool extract(mlir::LLVM::ExtractValueOp op);
  bool step(mlir::LLVM::GEPOp op);
  bool load(mlir::LLVM::LoadOp op);
  bool store(mlir::LLVM::StoreOp op);
  bool callee(mlir::LLVM::CallOp op);
  bool branch(mlir::Block *to, mlir::ValueRange operands);

  llvm::DenseMap<mlir::Value, HostData> values;
  llvm::DenseMap<mlir::Operation *, int64_t> globals;
  size_t ops = 0;
  mlir::Block *next = nullptr; // where a branch goes
};

/// Why a program in which the CPU takes part cannot be a list of launches.
constexpr llvm::StringLiteral kReads = "the CPU reads values or computes in its midst";
constexpr llvm::StringLiteral kAddresses = "it computes addresses of its own";

} // namespace xtensor

#endif // XTENSOR_COMPILER_INTERPRETER_H
