// The known properties of the device for which a module is compiled.
#ifndef XTENSOR_PASSES_GPU_PROFILE_H
#define XTENSOR_PASSES_GPU_PROFILE_H

#include "mlir/IR/BuiltinOps.h"

namespace xtensor {

/// On a module: the profile of its device, as text.
inline constexpr llvm::StringLiteral kTargetAttr = "xtensor.target";

/// "vulkan,nvidia,f64,i64,f16,i16,i8,s16,s8,atomic_f32,subgroup=8,workgroup_bytes=32768,max_threads=1024":
/// the backend, then what the device has. A name alone stands for a device with every feature of
/// the backend.
class Profile {
public:
  explicit Profile(llvm::StringRef text);
  static Profile of(mlir::ModuleOp module);

  /// What is wrong with the text; empty if nothing is.
  llvm::StringRef problem() const { return wrong; }
  llvm::StringRef backend() const { return name; }
  bool has(llvm::StringRef feature) const;
  /// Who made the device, as in library/devices.def; "any" if that is not said.
  llvm::StringRef vendor() const;
  /// The number behind `name=`, or `otherwise`.
  int64_t number(llvm::StringRef name, int64_t otherwise) const;

private:
  bool isWhole;
  std::string name, wrong;
  llvm::StringMap<int64_t> features;
};

} // namespace xtensor

#endif // XTENSOR_PASSES_GPU_PROFILE_H
