// The list of launches as JSON (docs/aot.md).
#include "compiler/Recording.h"

using namespace llvm;
using namespace xtensor;

static json::Value asJson(Number number) {
  if (number.isOpen)
    return json::Object{{"value", number.value}};
  return number.value;
}

static json::Array asJson(ArrayRef<Number> numbers) {
  json::Array list;
  for (Number number : numbers)
    list.push_back(asJson(number));
  return list;
}

static json::Object asJson(const RecordedKernel &kernel, StringRef file) {
  json::Array writes;
  for (int64_t bit = 0; bit < kernel.buffers; ++bit)
    if (kernel.writes >> bit & 1)
      writes.push_back(bit);
  return json::Object{
      {"file", file},
      {"entry", kernel.entry},
      {"buffers", kernel.buffers},
      {"numbers", kernel.numbers},
      {"threads", json::Array{kernel.threads[0], kernel.threads[1], kernel.threads[2]}},
      {"writes", std::move(writes)}};
}

json::Value xtensor::launchesOf(const Recording &recording, const Interface &interface,
                                StringRef profile, const RecordedFiles &files) {
  int64_t passed = interface.inputs.size() - files.weights.size();
  json::Array values, kernels, constants, arguments, weights, results, steps;
  for (const Formulas::Value &value : recording.formulas.values) {
    json::Array entry = asJson(value.operands);
    entry.insert(entry.begin(), Formulas::nameOf(value.operation));
    values.push_back(std::move(entry));
  }
  for (auto [kernel, file] : zip_equal(recording.kernels, files.kernels))
    kernels.push_back(asJson(kernel, file));
  for (auto [constant, file] : zip_equal(recording.constants, files.constants))
    constants.push_back(
        json::Object{{"file", file}, {"bytes", static_cast<int64_t>(constant.size())}});
  for (auto [i, p, bytes] : enumerate(interface.inputs, recording.inputs)) {
    json::Object array{{"name", p.name}, {"bytes", asJson(bytes)}};
    if (static_cast<int64_t>(i) >= passed)
      array["file"] = files.weights[i - passed];
    (static_cast<int64_t>(i) < passed ? arguments : weights).push_back(std::move(array));
  }
  for (auto [p, bytes] : zip_equal(interface.outputs, recording.outputs))
    results.push_back(json::Object{{"name", p.name}, {"bytes", asJson(bytes)}});

  auto place = [&](const RecordedPlace &p) {
    bool isWeight = StringRef(p.of) == "argument" && p.number >= passed;
    return json::Object{{"of", isWeight ? "weight" : p.of},
                        {"number", isWeight ? p.number - passed : p.number},
                        {"offset", asJson(p.offset)},
                        {"bytes", asJson(p.bytes)}};
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
    steps.push_back(json::Object{{"kernel", step.kernel},
                                 {"groups", asJson(step.groups)},
                                 {"buffers", std::move(buffers)},
                                 {"numbers", asJson(step.numbers)}});
  }
  return json::Object{{"profile", profile},
                      {"open", json::Array(recording.formulas.open)},
                      {"values", std::move(values)},
                      {"kernels", std::move(kernels)},
                      {"constants", std::move(constants)},
                      {"arguments", std::move(arguments)},
                      {"weights", std::move(weights)},
                      {"results", std::move(results)},
                      {"temporaries", asJson(recording.temporaries)},
                      {"reports", recording.reports},
                      {"steps", std::move(steps)}};
}
