#include "compiler/Manifest.h"

using namespace mlir;
using namespace xtensor;
namespace json = llvm::json;

json::Object xtensor::toJson(const ExportFunction &asked, const LibraryFunction &described,
                             ArrayRef<WeightPlace> places, const std::string &program,
                             std::optional<json::Value> python, bool hasC) {
  json::Array arguments, weights, sites;
  for (const Parameter &p : described.passed())
    arguments.push_back(toJson(p));
  for (auto [i, number] : llvm::enumerate(described.weights)) {
    json::Object weight = toJson(described.interface.inputs[described.passed().size() + i]);
    weight["member"] = places[number].member;
    weight["offset"] = places[number].offset;
    weight["sha256"] = places[number].sha256;
    weights.push_back(std::move(weight));
  }
  for (const Site &site : described.sites)
    sites.push_back(json::Object{{"dim", site.dim}, {"location", site.location}, {"op", site.op}});
  json::Object function = toJson(described.interface);
  function["name"] = asked.name;
  function["doc"] = asked.doc;
  function["signature"] = described.signature;
  function["module"] = program;
  function["arguments"] = std::move(arguments);
  function["weights"] = std::move(weights);
  function["sites"] = std::move(sites);
  if (hasC)
    function["symbol"] = described.symbols.function;
  if (python)
    function["python"] = std::move(*python);
  return function;
}

std::string xtensor::manifestOf(const ExportOptions &options, const LibraryDescription &library,
                                json::Array functions, json::Array targets, const Members &members,
                                bool hasC) {
  json::Object files;
  for (const auto &[name, bytes] : members.all())
    files[name] =
        json::Object{{"bytes", static_cast<int64_t>(bytes.size())}, {"sha256", sha256(bytes)}};
  json::Object manifest{{"schema", kManifestSchema},     {"compiler", compilerVersion()},
                        {"name", options.name},          {"functions", std::move(functions)},
                        {"targets", std::move(targets)}, {"members", std::move(files)}};
  manifest["blas"] = library.blas.empty() ? json::Value(nullptr) : json::Value(library.blas);
  if (hasC)
    manifest["header"] = library.prefix + ".h";
  std::string text;
  llvm::raw_string_ostream os(text);
  json::OStream(os, /*IndentSize=*/1).value(json::Value(std::move(manifest)));
  os << '\n';
  return text;
}
