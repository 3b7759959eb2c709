#include "Metal/SPIRVCross.h"

#ifdef XTENSOR_HAS_SPIRV_CROSS
#include <cstdlib>
#include <dlfcn.h>
#include <spirv_cross_c.h>

using namespace llvm;

namespace {

/// The functions of its C interface that are used here.
struct Library {
#define XTENSOR_SPIRV_CROSS_FUNCTIONS(X)                                                           \
  X(context_create)                                                                                \
  X(context_destroy)                                                                               \
  X(context_get_last_error_string)                                                                 \
  X(context_parse_spirv)                                                                           \
  X(context_create_compiler)                                                                       \
  X(compiler_create_compiler_options)                                                              \
  X(compiler_options_set_bool)                                                                     \
  X(compiler_options_set_uint)                                                                     \
  X(compiler_install_compiler_options)                                                             \
  X(compiler_msl_add_resource_binding)                                                             \
  X(compiler_compile)
#define X(name) decltype(&spvc_##name) name = nullptr;
  XTENSOR_SPIRV_CROSS_FUNCTIONS(X)
#undef X
  std::string error;

  Library() {
    const char *chosen = getenv("XTENSOR_SPIRV_CROSS_LIBRARY");
    const char *usual[] = {"libspirv-cross-c-shared.so.0", "libspirv-cross-c-shared.so",
                           "libspirv-cross-c-shared.0.dylib", "libspirv-cross-c-shared.dylib"};
    void *library = chosen ? dlopen(chosen, RTLD_NOW | RTLD_LOCAL) : nullptr;
    for (const char *name : usual)
      if (!library && !chosen)
        library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      error = std::string("kernels for Metal need SPIRV-Cross, which is not here (Debian: ") +
              "libspirv-cross-c-shared0; macOS: brew install spirv-cross): " + dlerror();
      return;
    }
#define X(function)                                                                                \
  function = reinterpret_cast<decltype(function)>(dlsym(library, "spvc_" #function));              \
  if (!function)                                                                                   \
    error = "this SPIRV-Cross has no spvc_" #function;
    XTENSOR_SPIRV_CROSS_FUNCTIONS(X)
#undef X
  }

  static const Library &get() {
    static const Library library;
    return library;
  }
};

/// One binary on its way. What fails is left to the context to say.
class Translation {
public:
  explicit Translation(const Library &spvc) : spvc(spvc) { spvc.context_create(&context); }
  ~Translation() { spvc.context_destroy(context); }

  Expected<std::string> run(ArrayRef<uint32_t> binary, unsigned buffers) {
    const char *text = nullptr;
    if (!parse(binary) || !setOptions() || !bind(buffers) ||
        spvc.compiler_compile(compiler, &text) != SPVC_SUCCESS)
      return createStringError(std::string("SPIRV-Cross: ") +
                               spvc.context_get_last_error_string(context));
    return std::string(text);
  }

private:
  bool parse(ArrayRef<uint32_t> binary) {
    spvc_parsed_ir ir = nullptr;
    return spvc.context_parse_spirv(context, binary.data(), binary.size(), &ir) == SPVC_SUCCESS &&
           spvc.context_create_compiler(context, SPVC_BACKEND_MSL, ir,
                                        SPVC_CAPTURE_MODE_TAKE_OWNERSHIP,
                                        &compiler) == SPVC_SUCCESS;
  }

  bool setOptions() {
    spvc_compiler_options options = nullptr;
    if (spvc.compiler_create_compiler_options(compiler, &options) != SPVC_SUCCESS)
      return false;
    auto number = [&](spvc_compiler_option which, unsigned v) {
      return spvc.compiler_options_set_uint(options, which, v) == SPVC_SUCCESS;
    };
    auto flag = [&](spvc_compiler_option which) {
      return spvc.compiler_options_set_bool(options, which, SPVC_TRUE) == SPVC_SUCCESS;
    };
    return number(SPVC_COMPILER_OPTION_MSL_VERSION, SPVC_MAKE_MSL_VERSION(3, 0, 0)) &&
           number(SPVC_COMPILER_OPTION_MSL_PLATFORM, SPVC_MSL_PLATFORM_MACOS) &&
           // Its own array type would have to know every address space.
           flag(SPVC_COMPILER_OPTION_MSL_FORCE_NATIVE_ARRAYS) &&
           spvc.compiler_install_compiler_options(compiler, options) == SPVC_SUCCESS;
  }

  bool bind(unsigned buffers) {
    for (unsigned i = 0; i <= buffers; ++i) {
      // Without its place said, a buffer takes the next index that is free: another one as soon as
      // one before it goes unused.
      spvc_msl_resource_binding binding = {};
      binding.stage = SpvExecutionModelGLCompute;
      binding.desc_set = i < buffers ? 0 : SPVC_MSL_PUSH_CONSTANT_DESC_SET;
      binding.binding = i < buffers ? i : SPVC_MSL_PUSH_CONSTANT_BINDING;
      binding.msl_buffer = binding.msl_texture = binding.msl_sampler = i;
      if (spvc.compiler_msl_add_resource_binding(compiler, &binding) != SPVC_SUCCESS)
        return false;
    }
    return true;
  }

  const Library &spvc;
  spvc_context context = nullptr;
  spvc_compiler compiler = nullptr;
};

} // namespace

Expected<std::string> xtensor::metal::translate(ArrayRef<uint32_t> binary, unsigned buffers) {
  const Library &spvc = Library::get();
  if (!spvc.error.empty())
    return createStringError(spvc.error);
  return Translation(spvc).run(binary, buffers);
}

#else

llvm::Expected<std::string> xtensor::metal::translate(llvm::ArrayRef<uint32_t>, unsigned) {
  return llvm::createStringError(
      "this build of xtensor writes no kernels for Metal: the headers of SPIRV-Cross were not "
      "there "
      "(Debian: libspirv-cross-c-shared-dev; macOS: brew install spirv-cross)");
}

#endif
