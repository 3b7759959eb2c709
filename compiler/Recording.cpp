#include "compiler/Recording.h"

#include "Device.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/TargetSelect.h"

using namespace llvm;
using namespace xtensor;

namespace {

constexpr size_t kMostSteps = 10000;
// Addresses that nothing has. An array is far from its neighbours, however large it is.
constexpr uintptr_t kFirst = uintptr_t(1) << 46, kApart = uintptr_t(1) << 41;

/// What writes down instead of doing. Programs call functions without a context: one at a time.
struct Recorder {
  Recording recording;
  std::vector<const char *> areas; // "argument", .. by address
  std::vector<int64_t> numbers;
  std::vector<const xt_kernel *> kernels;
  std::vector<const void *> constants;
  const int64_t *extents = nullptr; // of the next launch's buffers
  std::string why;
  void *temporaries = nullptr, *reports = nullptr;

  void *area(const char *what, int64_t number) {
    areas.push_back(what);
    numbers.push_back(number);
    return reinterpret_cast<void *>(kFirst + kApart * (areas.size() - 1));
  }

  RecordedPlace place(const void *address, int64_t bytes) {
    uintptr_t offset = reinterpret_cast<uintptr_t>(address) - kFirst;
    if (reinterpret_cast<uintptr_t>(address) < kFirst || offset / kApart >= areas.size()) {
      why = "it computes addresses of its own";
      return {};
    }
    return {areas[offset / kApart], numbers[offset / kApart], static_cast<int64_t>(offset % kApart),
            bytes};
  }

  bool add(RecordedStep step) {
    if (recording.steps.size() >= kMostSteps)
      why = "it has more than " + std::to_string(kMostSteps) + " steps";
    else
      recording.steps.push_back(std::move(step));
    return why.empty();
  }
};

Recorder *recorder;

int32_t callBegin(xt_program *, void **, const int64_t *, xt_status *) { return 0; }
void callExtents(const int64_t *bytes) { recorder->extents = bytes; }

void callLaunch(xt_kernel *kernel, int64_t x, int64_t y, int64_t z, void *const *buffers,
                const int32_t *numbers) {
  Recorder &r = *recorder;
  if (x * y * z == 0)
    return;
  auto it = llvm::find(r.kernels, kernel);
  RecordedStep step;
  step.kernel = it - r.kernels.begin();
  if (it == r.kernels.end()) {
    r.kernels.push_back(kernel);
    RecordedKernel k{std::string(static_cast<const char *>(kernel->code), kernel->code_bytes),
                     kernel->name,
                     kernel->buffers,
                     kernel->numbers,
                     {},
                     kernel->writes};
    std::copy_n(kernel->threads, 3, k.threads);
    r.recording.kernels.push_back(std::move(k));
  }
  step.groups[0] = x, step.groups[1] = y, step.groups[2] = z;
  for (int32_t i = 0; i < kernel->buffers; ++i)
    step.places.push_back(r.place(buffers[i], r.extents ? r.extents[i] : 0));
  step.numbers.assign(numbers, numbers + kernel->numbers);
  r.extents = nullptr;
  r.add(std::move(step));
}

void callCopy(void *to, const void *from, int64_t bytes) {
  RecordedStep step;
  step.places = {recorder->place(from, bytes), recorder->place(to, bytes)};
  if (bytes)
    recorder->add(std::move(step));
}

void *callArena(int64_t bytes) {
  Recorder &r = *recorder;
  r.recording.temporaries = std::max(r.recording.temporaries, bytes);
  return r.temporaries ? r.temporaries : r.temporaries = r.area("temporaries", 0);
}

void *callReport() {
  Recorder &r = *recorder;
  r.recording.reports = 5 * sizeof(int32_t);
  return r.reports ? r.reports : r.reports = r.area("reports", 0);
}

void *callConstant(const void *data, int64_t bytes) {
  Recorder &r = *recorder;
  auto it = llvm::find(r.constants, data);
  auto number = static_cast<int64_t>(it - r.constants.begin());
  if (it == r.constants.end()) {
    r.constants.push_back(data);
    r.recording.constants.emplace_back(static_cast<const char *>(data), bytes);
  }
  return r.area("constant", number);
}

void *callMap(void *, int64_t, int32_t) { return nullptr; }
void callUnmap(void *, int64_t, int32_t, void *) {}
void callEnd() {}

Expected<xt_entry> load(orc::LLJIT &jit, StringRef object, StringRef entry) {
  orc::SymbolMap symbols;
  auto define = [&](StringRef name, auto *function) {
    symbols[jit.mangleAndIntern(name)] = {orc::ExecutorAddr::fromPtr(function),
                                          JITSymbolFlags::Exported};
  };
  define("xt_call_begin", &callBegin);
  define("xt_call_extents", &callExtents);
  define("xt_call_launch", &callLaunch);
  define("xt_call_copy", &callCopy);
  define("xt_call_arena", &callArena);
  define("xt_call_report", &callReport);
  define("xt_call_constant", &callConstant);
  define("xt_call_map", &callMap);
  define("xt_call_unmap", &callUnmap);
  define("xt_call_end", &callEnd);
  orc::JITDylib &library = jit.getMainJITDylib();
  if (Error error = library.define(orc::absoluteSymbols(std::move(symbols))))
    return std::move(error);
  auto process = orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      jit.getDataLayout().getGlobalPrefix());
  if (!process)
    return process.takeError();
  library.addGenerator(std::move(*process));
  if (Error error = jit.addObjectFile(MemoryBuffer::getMemBufferCopy(object, "host")))
    return std::move(error);
  auto address = jit.lookup(entry);
  if (!address)
    return address.takeError();
  return address->toPtr<xt_entry>();
}

} // namespace

std::optional<Recording> xtensor::record(StringRef object, StringRef entry,
                                         const Interface &interface, std::string &why) {
  if (!interface.open.empty()) {
    why = "sizes are open, and what is launched depends on them";
    return std::nullopt;
  }
  // What maps memory goes on with what it reads there: it must not run on nothing.
  if (object.contains("xt_call_map")) {
    why = "the CPU reads values or computes in its midst";
    return std::nullopt;
  }
  InitializeNativeTarget();
  InitializeNativeTargetAsmPrinter();
  orc::LLJITBuilder builder;
  builder.setPlatformSetUp(orc::setUpInactivePlatform);
  auto jit = builder.create();
  auto function = jit ? load(**jit, object, entry) : Expected<xt_entry>(jit.takeError());
  if (!function) {
    why = toString(function.takeError());
    return std::nullopt;
  }
  Recorder r;
  std::vector<void *> buffers;
  for (size_t i = 0; i < interface.inputs.size(); ++i)
    buffers.push_back(r.area("argument", i));
  for (size_t i = 0; i < interface.outputs.size(); ++i)
    buffers.push_back(r.area("result", i));
  recorder = &r;
  xt_status status = {0, 0, 0, 0};
  (*function)(buffers.data(), nullptr, &status);
  recorder = nullptr;
  if (r.why.empty())
    return std::move(r.recording);
  why = r.why;
  return std::nullopt;
}

json::Value xtensor::launchesOf(const Recording &recording, const Interface &interface,
                                StringRef profile, const RecordedFiles &files) {
  auto bytesOf = [](const Parameter &p) {
    int64_t bytes = p.dtype == "bool" || StringRef(p.dtype).ends_with("int8") ? 1
                    : StringRef(p.dtype).ends_with("16")                      ? 2
                    : StringRef(p.dtype).ends_with("32")                      ? 4
                                                                              : 8;
    for (const SizeProduct &size : p.sizes)
      bytes *= size.factor;
    return bytes;
  };
  size_t passed = interface.inputs.size() - files.weights.size();
  json::Array kernels, constants, steps, memory[3];
  for (auto [i, k] : enumerate(recording.kernels)) {
    json::Array writes;
    for (int64_t bit = 0; bit < k.buffers; ++bit)
      if (k.writes >> bit & 1)
        writes.push_back(bit);
    kernels.push_back(
        json::Object{{"file", files.kernels[i]},
                     {"entry", k.entry},
                     {"buffers", k.buffers},
                     {"numbers", k.numbers},
                     {"threads", json::Array{k.threads[0], k.threads[1], k.threads[2]}},
                     {"writes", std::move(writes)}});
  }
  for (size_t i = 0; i < recording.constants.size(); ++i)
    constants.push_back(
        json::Object{{"file", files.constants[i]},
                     {"bytes", static_cast<int64_t>(recording.constants[i].size())}});
  for (auto [i, p] : enumerate(interface.inputs)) {
    json::Object array{{"name", p.name}, {"bytes", bytesOf(p)}};
    if (i >= passed)
      array["file"] = files.weights[i - passed];
    memory[i < passed ? 0 : 1].push_back(std::move(array));
  }
  for (const Parameter &p : interface.outputs)
    memory[2].push_back(json::Object{{"name", p.name}, {"bytes", bytesOf(p)}});
  auto place = [&](const RecordedPlace &p) {
    bool isWeight = StringRef(p.of) == "argument" && p.number >= static_cast<int64_t>(passed);
    return json::Object{{"of", isWeight ? "weight" : p.of},
                        {"number", isWeight ? p.number - static_cast<int64_t>(passed) : p.number},
                        {"offset", p.offset},
                        {"bytes", p.bytes}};
  };
  for (const RecordedStep &step : recording.steps) {
    if (step.kernel < 0) {
      steps.push_back(
          json::Object{{"copy", json::Array{place(step.places[0]), place(step.places[1])}}});
      continue;
    }
    json::Array buffers;
    for (const RecordedPlace &p : step.places)
      buffers.push_back(place(p));
    steps.push_back(
        json::Object{{"kernel", step.kernel},
                     {"groups", json::Array{step.groups[0], step.groups[1], step.groups[2]}},
                     {"buffers", std::move(buffers)},
                     {"numbers", json::Array(step.numbers)}});
  }
  return json::Object{{"profile", profile},
                      {"kernels", std::move(kernels)},
                      {"constants", std::move(constants)},
                      {"arguments", std::move(memory[0])},
                      {"weights", std::move(memory[1])},
                      {"results", std::move(memory[2])},
                      {"temporaries", recording.temporaries},
                      {"reports", recording.reports},
                      {"steps", std::move(steps)}};
}
