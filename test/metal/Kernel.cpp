#include "Kernel.h"

#include "Fibres.h"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <iterator>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

using namespace shim;

namespace {

std::string contents(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool exists(const std::string &path) { return access(path.c_str(), R_OK) == 0; }

/// Parameters of the kernel: each as a whole.
std::vector<std::string> parametersOf(const std::string &text, const std::string &name) {
  std::vector<std::string> found;
  size_t at = text.find("kernel void " + name + "(");
  if (at == std::string::npos)
    return found;
  int depth = 1;
  std::string one;
  for (at = text.find('(', at) + 1; at < text.size(); ++at) {
    char c = text[at];
    depth += (c == '(' || c == '[' || c == '<') - (c == ')' || c == ']' || c == '>');
    if (depth == 0 || (depth == 1 && c == ',')) {
      if (!one.empty()) // a kernel that touches nothing has none
        found.push_back(one);
      one.clear();
      if (depth == 0)
        break;
    } else {
      one += c;
    }
  }
  return found;
}

/// What calls the kernel: arguments by the attributes of its parameters.
std::string callOf(const std::string &text, const std::string &name) {
  std::string arguments;
  size_t k = 0;
  for (const std::string &parameter : parametersOf(text, name)) {
    size_t from = parameter.rfind("[[") + 2, to = parameter.rfind("]]");
    std::string attribute = parameter.substr(from, to - from);
    arguments += k ? ", " : "";
    if (attribute.rfind("buffer(", 0) == 0)
      arguments += "METAL_SHIM_BUFFER(" + std::to_string(k) + ", " + attribute.substr(7);
    else
      arguments += "at." + attribute;
    ++k;
  }
  return "\n#define METAL_SHIM_KERNEL " + name +
         "\n#include <run_kernel.h>\n"
         "static void invoke(void *const *buffers, const Invocation &at) { " +
         name + "(" + arguments + "); }\n";
}

/// One-way, so that a text has its file; FNV-1a.
std::string hashOf(const std::string &text) {
  uint64_t hash = 14695981039346656037u;
  for (unsigned char c : text)
    hash = (hash ^ c) * 1099511628211u;
  char digits[17];
  snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash));
  return digits;
}

std::string cacheFolder() {
  const char *chosen = getenv("XTENSOR_METAL_SHIM_CACHE");
  std::string folder = chosen ? chosen : "/tmp/xtensor-metal-shim-" + std::to_string(getuid());
  mkdir(folder.c_str(), 0700);
  return folder;
}

/// The library of a kernel, compiled unless it was before. Empty, with `error` set, if that fails.
std::string compiled(const std::string &text, const std::string &name, std::string &error) {
  const std::string headers = METAL_SHIM_HEADERS;
  // As Metal's compiler does by itself, products and sums are contracted unless the text says no.
  // `-w`: attributes of parameters are unknown.
  const std::string options =
      " -x c++ -std=c++20 -O1 -march=native -w -ffp-contract=fast-honor-pragmas"
      " -fno-strict-aliasing -Xclang -cl-single-precision-constant -fno-exceptions"
      " -fvisibility=hidden -fPIC -shared ";
  static const std::string library =
      contents(headers + "/metal_stdlib") + contents(headers + "/run_kernel.h") + options;
  std::string base = cacheFolder() + "/" + hashOf(library + name + text);
  if (exists(base + ".so"))
    return base + ".so";
  std::string own = base + "." + std::to_string(getpid());
  std::ofstream(own + ".metal") << text;
  std::ofstream(own + ".cpp") << "#include \"" << own << ".metal\"\n" << callOf(text, name);
  // What this process had loaded before all (a sanitizer) is none of the compiler's business.
  std::string command = "env -u LD_PRELOAD " METAL_SHIM_COMPILER + options + "-isystem " + headers +
                        " " + own + ".cpp -lm -o " + own + ".so 2> " + own + ".log";
  if (system(command.c_str()) != 0) {
    error = "does not compile (" + own + ".metal):\n" + contents(own + ".log").substr(0, 2000);
    return "";
  }
  rename((own + ".metal").c_str(), (base + ".metal").c_str());
  rename((own + ".so").c_str(), (base + ".so").c_str());
  unlink((own + ".cpp").c_str());
  unlink((own + ".log").c_str());
  return base + ".so";
}

} // namespace

std::unique_ptr<Kernel> Kernel::make(const xt_kernel &kernel, std::string &error) {
  std::string text(static_cast<const char *>(kernel.code), static_cast<size_t>(kernel.code_bytes));
  std::string path = compiled(text, kernel.name, error);
  if (path.empty())
    return nullptr;
  auto made = std::make_unique<Kernel>();
  made->label = kernel.name;
  made->library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!made->library) {
    error = dlerror();
    return nullptr;
  }
  made->threadsFrom = reinterpret_cast<Run>(dlsym(made->library, "metal_shim_run"));
  *static_cast<void (**)()>(dlsym(made->library, "metal_shim_barrier")) = barrier;
  made->barriers = text.find("threadgroup_barrier(") != std::string::npos;
  return made;
}

Kernel::~Kernel() {
  if (library)
    dlclose(library);
}

bool Kernel::run(void *const *buffers, const uint32_t groups[3], const uint32_t threads[3]) const {
  uint32_t count = threads[0] * threads[1] * threads[2], group[3];
  std::function<void(uint32_t)> one = [&](uint32_t i) {
    threadsFrom(buffers, groups, group, threads, i, i + 1);
  };
  for (group[2] = 0; group[2] < groups[2]; ++group[2])
    for (group[1] = 0; group[1] < groups[1]; ++group[1])
      for (group[0] = 0; group[0] < groups[0]; ++group[0]) {
        if (!barriers)
          threadsFrom(buffers, groups, group, threads, 0, count);
        else if (!runTogether(count, one))
          return false;
      }
  return true;
}
