#include "compiler/Recording.h"

#include "compiler/Interpreter.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace xtensor;

namespace {

constexpr size_t kMostSteps = 10000;

/// Writes down what the host asks of the runtime (runtime/Device.h).
class Recorder final : public Interpreter {
public:
  Recorder(ModuleOp module, const Interface &interface)
      : Interpreter(module, recording.formulas), interface(interface) {
    recording.formulas = Formulas(interface.open);
  }
  bool run();

  Recording recording;

private:
  bool callRuntime(LLVM::CallOp op, ArrayRef<HostData> arguments) override;
  bool launch(ArrayRef<HostData> arguments);
  bool copy(ArrayRef<HostData> arguments);
  bool arena(LLVM::CallOp op, Number bytes);
  bool report(LLVM::CallOp op);
  bool constant(LLVM::CallOp op, ArrayRef<HostData> arguments);

  Number bytesOf(const Parameter &parameter);
  bool kernelOf(const HostData &address, int64_t &number);
  bool number(const HostData *word, std::vector<Number> &numbers);
  bool place(const HostData *address, Number bytes, RecordedPlace &place);
  bool addStep(RecordedStep step);
  void keepFormulas();

  const Interface &interface;
  DenseMap<Operation *, int64_t> kernels;
  std::map<std::pair<Operation *, int64_t>, int64_t> constants;
  std::optional<HostData> extents; // of the next launch's buffers
  int64_t temporaries = -1, reports = -1;
};

} // namespace

Number Recorder::bytesOf(const Parameter &p) {
  Number bytes = p.elementBytes();
  for (const SizeProduct &size : p.sizes)
    bytes = formulas.make(Formulas::mul, {bytes, formulas.of(size)});
  return bytes;
}

bool Recorder::run() {
  auto entry = module.lookupSymbol<LLVM::LLVMFuncOp>("entry");
  if (!entry || entry.isExternal())
    return fail("it has no entry");
  // As runtime/Device.h has it: buffers, open sizes (of results one by one), status.
  HostMemory buffers{"host"}, sizes{"host"};
  auto give = [&](const Parameter &p, const char *of, int64_t number, std::vector<Number> &bytes) {
    buffers.contents[8 * buffers.contents.size()] = HostData::at(add({of, number}));
    bytes.push_back(bytesOf(p));
  };
  for (auto [i, p] : llvm::enumerate(interface.inputs))
    give(p, "argument", i, recording.inputs);
  for (auto [i, p] : llvm::enumerate(interface.outputs))
    give(p, "result", i, recording.outputs);
  auto size = [&](Number n) { sizes.contents[8 * sizes.contents.size()] = HostData::of(n); };
  for (const std::string &name : interface.open)
    size(formulas.named(name));
  for (const Parameter &p : interface.outputs)
    for (const SizeProduct &s : p.sizes)
      if (!s.open.empty())
        size(formulas.of(s));
  HostData arguments[] = {HostData::at(add(buffers)), HostData::at(add(sizes)),
                          HostData::at(add({"status"}))};
  if (!call(entry, arguments))
    return false;
  keepFormulas();
  return true;
}

/// Only what the list needs.
void Recorder::keepFormulas() {
  std::vector<Number *> used = {&recording.temporaries};
  auto use = [&](MutableArrayRef<Number> numbers) {
    for (Number &number : numbers)
      used.push_back(&number);
  };
  use(recording.inputs);
  use(recording.outputs);
  for (RecordedStep &step : recording.steps) {
    use(step.groups);
    use(step.numbers);
    for (RecordedPlace &place : step.places)
      used.insert(used.end(), {&place.offset, &place.bytes});
  }
  formulas.keep(used);
}

//===- what the runtime is asked for -----------------------------------------===//

bool Recorder::callRuntime(LLVM::CallOp op, ArrayRef<HostData> arguments) {
  StringRef name = op.getCallee().value_or("");
  if (name == "xt_call_begin")
    return set(op.getResult(), HostData::of(Number(0)));
  if (name == "xt_call_end")
    return true;
  if (name == "xt_call_extents") {
    extents = arguments[0];
    return true;
  }
  if (name == "xt_call_launch")
    return launch(arguments);
  if (name == "xt_call_copy")
    return copy(arguments);
  if (name == "xt_call_arena")
    return arena(op, arguments[0].number);
  if (name == "xt_call_report")
    return report(op);
  if (name == "xt_call_constant")
    return constant(op, arguments);
  return fail(kReads);
}

bool Recorder::place(const HostData *address, Number bytes, RecordedPlace &place) {
  if (!address || address->kind != HostData::address || address->memory < 0)
    return fail(kAddresses);
  const HostMemory &memory = memories[address->memory];
  if (StringRef(memory.of) == "host" || memory.global)
    return fail(kAddresses);
  place = {memory.of, memory.number, address->number, bytes};
  return true;
}

bool Recorder::addStep(RecordedStep step) {
  if (recording.steps.size() >= kMostSteps)
    return fail("it has more than " + Twine(kMostSteps) + " steps");
  recording.steps.push_back(std::move(step));
  return true;
}

bool Recorder::kernelOf(const HostData &address, int64_t &number) {
  LLVM::GlobalOp global = globalAt(address);
  if (!global)
    return fail(kAddresses);
  auto [it, isNew] = kernels.try_emplace(global, recording.kernels.size());
  number = it->second;
  if (!isNew)
    return true;
  // xt_kernel.
  HostData kernel = initial(global);
  if (kernel.parts.size() < 8)
    return fail("its kernels are not known");
  auto text = [&](size_t i) {
    return cast<StringAttr>(globalAt(kernel.parts[i]).getValueOrNull()).getValue();
  };
  auto word = [](const HostData &data) { return static_cast<int32_t>(data.number.value); };
  RecordedKernel made;
  made.code = text(0).str();
  made.entry = text(2).drop_back().str();
  made.buffers = word(kernel.parts[3]);
  made.numbers = word(kernel.parts[4]);
  for (int i = 0; i < 3; ++i)
    made.threads[i] = word(kernel.parts[5].parts[i]);
  made.writes = kernel.parts[7].number.value;
  recording.kernels.push_back(std::move(made));
  return true;
}

/// A word of a kernel's, which may be a float's bits.
bool Recorder::number(const HostData *word, std::vector<Number> &numbers) {
  if (!word || word->kind == HostData::none)
    return fail("it reads what was not written");
  Number number = word->number;
  if (word->kind == HostData::real && !word->value && !number.isOpen)
    return fail("it computes numbers of floating point from open sizes");
  if (word->value)
    number = static_cast<int64_t>(word->value->bitcastToAPInt().getZExtValue());
  if (!number.isOpen)
    number = static_cast<int32_t>(number.value);
  numbers.push_back(number);
  return true;
}

/// xt_call_launch(kernel, x, y, z, buffers, numbers).
bool Recorder::launch(ArrayRef<HostData> arguments) {
  RecordedStep step;
  std::optional<HostData> lengths = std::exchange(extents, std::nullopt);
  for (int i = 0; i < 3; ++i) {
    step.groups[i] = arguments[1 + i].number;
    if (step.groups[i].is(0))
      return true;
  }
  if (!kernelOf(arguments[0], step.kernel))
    return false;
  const RecordedKernel &kernel = recording.kernels[step.kernel];
  for (int32_t i = 0; i < kernel.buffers; ++i) {
    const HostData *bytes = lengths ? element(*lengths, i, 8) : nullptr;
    if (!place(element(arguments[4], i, 8), bytes ? bytes->number : Number(0),
               step.places.emplace_back()))
      return false;
  }
  for (int32_t i = 0; i < kernel.numbers; ++i)
    if (!number(element(arguments[5], i, 4), step.numbers))
      return false;
  return addStep(std::move(step));
}

/// xt_call_copy(to, from, bytes).
bool Recorder::copy(ArrayRef<HostData> arguments) {
  Number bytes = arguments[2].number;
  if (bytes.is(0))
    return true;
  RecordedStep step;
  step.places.resize(2);
  return place(&arguments[1], bytes, step.places[0]) &&
         place(&arguments[0], bytes, step.places[1]) && addStep(std::move(step));
}

bool Recorder::arena(LLVM::CallOp op, Number bytes) {
  if (temporaries < 0)
    temporaries = add({"temporaries"});
  Number before = recording.temporaries;
  recording.temporaries = before.is(0) ? bytes : formulas.make(Formulas::max, {before, bytes});
  return set(op.getResult(), HostData::at(temporaries));
}

bool Recorder::report(LLVM::CallOp op) {
  recording.reports = 5 * sizeof(int32_t);
  if (reports < 0)
    reports = add({"reports"});
  return set(op.getResult(), HostData::at(reports));
}

/// The bytes of a constant, as they lie in memory.
static std::optional<std::string> contentsOf(LLVM::GlobalOp global) {
  Attribute value = global.getValueOrNull();
  if (auto text = dyn_cast_or_null<StringAttr>(value))
    return text.str();
  std::string bytes;
  auto put = [&](const APInt &bits) {
    for (unsigned at = 0; at < bits.getBitWidth(); at += 8)
      bytes.push_back(bits.extractBitsAsZExtValue(std::min(8u, bits.getBitWidth() - at), at));
  };
  auto elements = dyn_cast_or_null<ElementsAttr>(value);
  if (!elements)
    return std::nullopt;
  if (auto integers = elements.tryGetValues<APInt>())
    llvm::for_each(*integers, put);
  else if (auto reals = elements.tryGetValues<APFloat>())
    for (const APFloat &real : *reals)
      put(real.bitcastToAPInt());
  else
    return std::nullopt;
  return bytes;
}

/// xt_call_constant(data, bytes).
bool Recorder::constant(LLVM::CallOp op, ArrayRef<HostData> arguments) {
  const HostData &data = arguments[0];
  LLVM::GlobalOp held = globalAt(data);
  Number offset = data.number, bytes = arguments[1].number;
  if (!held || offset.isOpen || bytes.isOpen)
    return fail(kAddresses);
  auto [it, isNew] = constants.try_emplace({held, offset.value}, recording.constants.size());
  if (isNew) {
    std::optional<std::string> all = contentsOf(held);
    if (!all || static_cast<int64_t>(all->size()) < offset.value + bytes.value)
      return fail("it has a constant that no file can hold");
    recording.constants.push_back(all->substr(offset.value, bytes.value));
  }
  return set(op.getResult(), HostData::at(add({"constant", it->second})));
}

std::optional<Recording> xtensor::record(ModuleOp module, const Interface &interface,
                                         std::string &why) {
  Recorder recorder(module, interface);
  if (recorder.run())
    return std::move(recorder.recording);
  why = recorder.why;
  return std::nullopt;
}
