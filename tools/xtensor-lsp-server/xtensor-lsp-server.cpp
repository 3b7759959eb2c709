// xtensor-lsp-server: upstream's MLIR language server with the dialects of xtensor. What upstream's
// hovers do not know is added to them: sizes of dims, the user's line, the rule of a derivative.
//
// Upstream's server owns its process's input and output. So it runs in a child process, and this
// one passes messages on.
#include "Pipelines.h"
#include "compiler/EveryPhase.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/LSP/Protocol.h"
#include "llvm/Support/LSP/Transport.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include <csignal>
#include <mutex>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace mlir;
namespace json = llvm::json;

namespace {

//===- what is told of a value or an op -------------------------------------===//

/// "argument 1 (x)" of the function around `op` that has the dim `name`, or "".
std::string argumentWith(Attribute name, Operation *op) {
  auto f = dyn_cast<FunctionOpInterface>(op);
  if (!f && op)
    f = op->getParentOfType<FunctionOpInterface>();
  if (!f)
    return "";
  for (auto [i, argument] : llvm::enumerate(f.getArguments()))
    if (auto type = dyn_cast<xtensor::ArrayType>(argument.getType()); type && type.hasDim(name)) {
      auto called = dyn_cast<NameLoc>(argument.getLoc());
      std::string text = "argument " + std::to_string(i);
      return called ? text + " (" + called.getName().str() + ")" : text;
    }
  return "";
}

/// What is known of a dim that has no fixed size.
std::string anySize(Attribute name, Operation *op) {
  std::string where = argumentWith(name, op);
  return where.empty() ? "any size" : "any size, that of " + where;
}

/// `of` tells which result has the type, where an op has several.
void tellDims(llvm::raw_ostream &os, Type type, Operation *op, const llvm::Twine &of = "") {
  auto array = dyn_cast<xtensor::ArrayType>(type);
  if (!array)
    return;
  uint64_t elements = 1;
  for (auto [name, size] : llvm::zip(array.getDimNames(), array.getShape())) {
    os << "* " << of << "dim `" << name.getValue() << "`: ";
    if (size == xtensor::ArrayType::kDynamic) {
      os << anySize(name, op) << '\n';
      continue;
    }
    os << size << '\n';
    elements = llvm::SaturatingMultiply<uint64_t>(elements, size);
  }
  if (array.getRank() && array.hasStaticShape() && array.getElementType().isIntOrFloat()) {
    uint64_t bytes = llvm::SaturatingMultiply<uint64_t>(
        elements, llvm::divideCeil(array.getElementType().getIntOrFloatBitWidth(), 8));
    os << "* " << of << elements << " elements, " << bytes << " bytes\n";
  }
}

/// Line `number` (from 1) of a file, without the spaces around it, or "".
std::string lineOf(StringRef path, int64_t number) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!file)
    return "";
  StringRef rest = (*file)->getBuffer();
  for (; number > 1 && !rest.empty(); --number)
    rest = rest.split('\n').second;
  return rest.split('\n').first.trim().str();
}

/// The file of ops whose text has no location: the text itself.
constexpr llvm::StringLiteral kThisText = "<this text>";

void tellOrigin(llvm::raw_ostream &os, Location location) {
  json::Object origin = xtensor::originOf(location);
  if (const json::Array &marks = *origin.getArray("marks"); !marks.empty()) {
    os << "* made by the derivative: ";
    llvm::interleave(marks, os, [&](const json::Value &m) { os << *m.getAsString(); }, ", from ");
    os << '\n';
  }
  for (const json::Value &place : *origin.getArray("at")) {
    const json::Array &at = *place.getAsArray();
    StringRef path = *at[0].getAsString();
    if (path == kThisText)
      continue;
    int64_t line = *at[1].getAsInteger();
    std::string text = lineOf(path, line);
    os << "* made of " << path << ':' << line;
    if (!text.empty())
      os << ": `` " << text << " ``";
    os << '\n';
  }
}

bool contains(llvm::SMRange range, const char *at) {
  return range.isValid() && range.Start.getPointer() <= at && at < range.End.getPointer();
}

bool contains(const AsmParserState::SMDefinition &definition, const char *at) {
  return contains(definition.loc, at) ||
         llvm::any_of(definition.uses, [&](llvm::SMRange use) { return contains(use, at); });
}

/// The results of a group that a place of the text names: all, or one of them, as in `%0#1`.
SmallVector<OpResult> resultsAt(const AsmParserState::OperationDefinition &each, unsigned group,
                                const char *at) {
  unsigned first = each.resultGroups[group].startIndex;
  unsigned end = group + 1 < each.resultGroups.size() ? each.resultGroups[group + 1].startIndex
                                                      : each.op->getNumResults();
  const AsmParserState::SMDefinition &definition = each.resultGroups[group].definition;
  if (contains(definition.loc, at))
    return SmallVector<OpResult>(each.op->getResults().slice(first, end - first));
  for (llvm::SMRange use : definition.uses) {
    if (!contains(use, at))
      continue;
    StringRef rest(use.End.getPointer()); // a source buffer ends with a null
    unsigned number = 0;
    if (rest.consume_front("#") && rest.consumeInteger(10, number))
      return {};
    return first + number < end ? SmallVector<OpResult>{each.op->getResult(first + number)}
                                : SmallVector<OpResult>{};
  }
  return {};
}

void tellResults(llvm::raw_ostream &os, ArrayRef<OpResult> results) {
  for (OpResult result : results) {
    std::string number = std::to_string(result.getResultNumber());
    tellDims(os, result.getType(), result.getOwner(),
             results.size() > 1 ? "result #" + number + ": " : "");
  }
}

/// The name at a place of a line, with its quotes if it has them. "" where a value or a symbol is.
StringRef nameAt(StringRef line, size_t at) {
  for (size_t from = 0;;) {
    size_t open = line.find('"', from), close = line.find('"', open + 1);
    if (open == StringRef::npos || close == StringRef::npos || open > at)
      break;
    if (at <= close)
      return line.slice(open, close + 1);
    from = close + 1;
  }
  auto isPart = [](char c) { return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.'; };
  size_t start = line.take_front(at).size(), end = start;
  while (start > 0 && isPart(line[start - 1]))
    --start;
  while (end < line.size() && isPart(line[end]))
    ++end;
  bool isOther = start > 0 && StringRef("%@#!^").contains(line[start - 1]);
  return isOther ? "" : line.slice(start, end);
}

/// The types of the arrays that the text of an op is about.
SmallVector<Type> typesOf(Operation *op) {
  SmallVector<Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  if (auto f = dyn_cast<FunctionOpInterface>(op)) {
    llvm::append_range(types, f.getArgumentTypes());
    llvm::append_range(types, f.getResultTypes());
  }
  for (Region &region : op->getRegions())
    for (Block &block : region)
      llvm::append_range(types, block.getArgumentTypes());
  return types;
}

std::string textOf(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// What is known of the dim that has the name at a place, in the innermost op around it that has
/// such a dim.
void tellDimAt(llvm::raw_ostream &os, const AsmParserState &state, StringRef text, const char *at) {
  size_t column = at - text.begin(), start = text.rfind('\n', column) + 1; // 0 where none is before
  StringRef written = nameAt(text.slice(start, text.find('\n', start)), column - start);
  Operation *op = nullptr;
  for (const AsmParserState::OperationDefinition &each : state.getOpDefs())
    if (contains(each.scopeLoc, at) && (!op || op->isAncestor(each.op)))
      op = each.op;
  for (; op && !written.empty(); op = op->getParentOp()) {
    llvm::SetVector<int64_t> sizes;
    StringAttr dim;
    for (Type type : typesOf(op)) {
      auto array = dyn_cast<xtensor::ArrayType>(type);
      if (!array || !StringRef(textOf(array)).contains((written + ": ").str()))
        continue; // the dim "f32" is written with quotes, and the dtype f32 without
      for (auto [name, size] : llvm::zip(array.getDimNames(), array.getShape())) {
        std::string quoted;
        llvm::raw_string_ostream stream(quoted);
        llvm::printEscapedString(name.getValue(), stream);
        if (written != name.getValue() && written != "\"" + quoted + "\"")
          continue;
        dim = name;
        sizes.insert(size);
      }
    }
    if (!dim)
      continue;
    os << "* dim `" << dim.getValue() << "`: ";
    auto tell = [&](int64_t size) {
      os << (size == xtensor::ArrayType::kDynamic ? anySize(dim, op) : std::to_string(size));
    };
    llvm::interleave(sizes, os, tell, " or ");
    os << '\n';
    return;
  }
}

/// What there is to tell of the value, op or dim at a place of a parsed text.
std::string toldAt(const AsmParserState &state, StringRef whole, const char *at) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const AsmParserState::OperationDefinition &each : state.getOpDefs()) {
    if (contains(each.loc, at)) {
      tellResults(os, SmallVector<OpResult>(each.op->getResults()));
      tellOrigin(os, each.op->getLoc());
      return text;
    }
    for (unsigned group = 0; group < each.resultGroups.size(); ++group)
      if (auto results = resultsAt(each, group, at); !results.empty()) {
        tellResults(os, results);
        tellOrigin(os, each.op->getLoc());
        return text;
      }
  }
  for (const AsmParserState::BlockDefinition &each : state.getBlockDefs())
    for (auto [argument, definition] : llvm::zip(each.block->getArguments(), each.arguments))
      if (contains(definition, at)) {
        tellDims(os, argument.getType(), each.block->getParentOp());
        if (auto called = dyn_cast<NameLoc>(argument.getLoc()))
          os << "* called `" << called.getName().getValue() << "`\n";
        tellOrigin(os, argument.getLoc());
        return text;
      }
  tellDimAt(os, state, whole, at);
  return text;
}

/// Markdown about what is at a place of a document, "" where nothing is known.
std::string told(StringRef text, int64_t line, int64_t character, MLIRContext &context) {
  // Upstream's server, too, takes the parts between these as documents of their own.
  StringRef part = text;
  for (int64_t left = line;;) {
    auto [head, tail] = part.split("// -----");
    int64_t lines = head.count('\n');
    if (left <= lines || tail.empty()) {
      part = head;
      line = left;
      break;
    }
    left -= lines;
    part = tail;
  }
  auto manager = std::make_shared<llvm::SourceMgr>();
  unsigned id =
      manager->AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(part, kThisText), SMLoc());
  SMLoc place = manager->FindLocForLineAndColumn(id, line + 1, character + 1);
  if (!place.isValid())
    return "";
  ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) { return success(); });
  Block block;
  AsmParserState state;
  ParserConfig config(&context, /*verifyAfterParse=*/false);
  if (failed(parseAsmSourceFile(*manager, &block, config, &state)))
    return "";
  return toldAt(state, manager->getMemoryBuffer(id)->getBuffer(), place.getPointer());
}

//===- messages -------------------------------------------------------------===//

class Messages {
public:
  explicit Messages(MLIRContext &context) : context(context) {}

  /// Of the editor: keeps the text of documents, and where hovers are asked for.
  void fromEditor(const json::Object &message) {
    auto method = message.getString("method");
    const json::Object *params = message.getObject("params");
    const json::Object *document = params ? params->getObject("textDocument") : nullptr;
    auto uri = document ? document->getString("uri") : std::nullopt;
    if (!method || !uri)
      return;
    std::lock_guard<std::mutex> guard(mutex);
    if (*method == "textDocument/didOpen") {
      if (auto text = document->getString("text"))
        texts[*uri] = text->str();
    } else if (*method == "textDocument/didClose") {
      texts.erase(*uri);
    } else if (*method == "textDocument/didChange") {
      // The server has asked for whole texts.
      const json::Array *changes = params->getArray("contentChanges");
      if (const json::Object *last =
              changes && !changes->empty() ? changes->back().getAsObject() : nullptr)
        if (auto text = last->getString("text"))
          texts[*uri] = text->str();
    } else if (*method == "textDocument/hover") {
      const json::Object *place = params->getObject("position");
      const json::Value *id = message.get("id");
      if (place && id)
        hovers[key(*id)] = {uri->str(), place->getInteger("line").value_or(0),
                            place->getInteger("character").value_or(0)};
    }
  }

  /// Of the server: adds to what a hover shows. False: the message stays as it is.
  bool addToHover(json::Object &message) {
    const json::Value *id = message.get("id");
    if (!id || message.get("method"))
      return false;
    Hover hover;
    std::string text;
    {
      std::lock_guard<std::mutex> guard(mutex);
      auto found = hovers.find(key(*id));
      if (found == hovers.end())
        return false;
      hover = std::move(found->second);
      hovers.erase(found);
      text = texts.lookup(hover.uri);
    }
    json::Value *result = message.get("result");
    if (!result)
      return false;
    std::string more = told(text, hover.line, hover.character, context);
    if (more.empty())
      return false;
    if (result->getAsNull()) { // upstream tells nothing of dims
      *result = json::Object{{"contents", json::Object{{"kind", "markdown"}, {"value", more}}}};
      return true;
    }
    json::Object *hovered = result->getAsObject();
    json::Object *contents = hovered ? hovered->getObject("contents") : nullptr;
    auto value = contents ? contents->getString("value") : std::nullopt;
    if (!value)
      return false;
    (*contents)["value"] = value->rtrim().str() + "\n\n" + more;
    return true;
  }

private:
  struct Hover {
    std::string uri;
    int64_t line = 0, character = 0;
  };
  static std::string key(const json::Value &id) { return llvm::formatv("{0}", id).str(); }

  MLIRContext &context;
  std::mutex mutex;
  llvm::StringMap<std::string> texts;
  llvm::StringMap<Hover> hovers;
};

/// False once nobody reads.
bool send(std::FILE *to, StringRef text) {
  return std::fprintf(to, "Content-Length: %zu\r\n\r\n", text.size()) > 0 &&
         std::fwrite(text.data(), 1, text.size(), to) == text.size() && std::fflush(to) == 0;
}

/// Passes all messages on until there are no more.
void pass(std::FILE *from, std::FILE *to, llvm::function_ref<void(std::string &)> look) {
  llvm::lsp::JSONTransportInputOverFile input(from);
  std::string text;
  while (!input.isEndOfInput() && !input.hasError()) {
    if (failed(input.readMessage(text)))
      continue;
    look(text);
    if (!send(to, text))
      return;
  }
}

/// Between the editor and upstream's server, which is the process `child`. Its exit status is ours.
int serve(std::FILE *toServer, std::FILE *fromServer, pid_t child, MLIRContext &context) {
  std::signal(SIGPIPE, SIG_IGN); // a server that has ended is told by its output
  Messages messages(context);
  std::thread sending([&] {
    pass(stdin, toServer, [&](std::string &text) {
      if (auto message = json::parse(text)) {
        if (const json::Object *object = message->getAsObject())
          messages.fromEditor(*object);
      } else {
        llvm::consumeError(message.takeError());
      }
    });
    std::fclose(toServer);
  });
  pass(fromServer, stdout, [&](std::string &text) {
    auto message = json::parse(text);
    if (!message)
      return llvm::consumeError(message.takeError());
    if (json::Object *object = message->getAsObject(); object && messages.addToHover(*object))
      text = llvm::formatv("{0}", *message).str();
  });
  int status = 0;
  waitpid(child, &status, 0);
  sending.detach(); // it may wait for an editor that says no more
  std::fflush(stdout);
  std::_Exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}
} // namespace

int main(int argc, char **argv) {
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registry.insert<xtensor::XTensorDialect>();
  int toServer[2], fromServer[2];
  bool isProtocol = llvm::none_of(llvm::ArrayRef(argv + 1, argc - 1), [](const char *word) {
    StringRef text(word);
    return text.contains("lit-test") || text.contains("help") || text.contains("version");
  });
  if (!isProtocol || pipe(toServer) || pipe(fromServer))
    return failed(MlirLspServerMain(argc, argv, registry));
  pid_t child = fork();
  if (child > 0) {
    close(toServer[0]);
    close(fromServer[1]);
    MLIRContext context(registry);
    return serve(fdopen(toServer[1], "w"), fdopen(fromServer[0], "r"), child, context);
  }
  if (child == 0) {
    dup2(toServer[0], STDIN_FILENO);
    dup2(fromServer[1], STDOUT_FILENO);
    for (int end : {toServer[0], toServer[1], fromServer[0], fromServer[1]})
      close(end);
  }
  return failed(MlirLspServerMain(argc, argv, registry));
}
