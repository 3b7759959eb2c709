#include "compiler/Locations.h"

#include "XTensor/Fault.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Operation.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace xtensor;

FoldersStripped::FoldersStripped(MLIRContext *context)
    : handler(context, [this](Diagnostic &diagnostic) { return tell(diagnostic); }) {}

void FoldersStripped::strip(Operation *op) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([this](FileLineColRange range) -> std::optional<Attribute> {
    StringRef name = llvm::sys::path::filename(range.getFilename().getValue());
    if (name == range.getFilename().getValue())
      return std::nullopt;
    auto file = StringAttr::get(range.getContext(), name);
    Attribute stripped;
    if (auto place = dyn_cast<FileLineColLoc>(range))
      stripped = FileLineColLoc::get(file, place.getLine(), place.getColumn());
    else
      stripped = FileLineColRange::get(file, range.getStartLine(), range.getStartColumn(),
                                       range.getEndLine(), range.getEndColumn());
    there.try_emplace(stripped, range);
    return stripped;
  });
  // Attributes that a call is told something by have a place as text, FILE:LINE.
  replacer.addReplacement([](DictionaryAttr table) -> std::optional<Attribute> {
    auto place = table.getAs<StringAttr>("where");
    if (!place)
      return std::nullopt;
    NamedAttrList without(table);
    without.set("where",
                StringAttr::get(table.getContext(), llvm::sys::path::filename(place.getValue())));
    return without.getDictionary(table.getContext());
  });
  replacer.recursivelyReplaceElementsIn(op, /*replaceAttrs=*/true, /*replaceLocs=*/true);
}

LocationAttr FoldersStripped::original(LocationAttr stripped) const {
  AttrTypeReplacer replacer;
  replacer.addReplacement([this](FileLineColRange range) -> std::optional<Attribute> {
    Attribute found = there.lookup(range);
    return found ? std::optional(found) : std::nullopt;
  });
  return cast<LocationAttr>(replacer.replace(stripped));
}

LogicalResult FoldersStripped::tell(Diagnostic &diagnostic) {
  LocationAttr at = diagnostic.getLocation(), before = original(at);
  if (before == at)
    return failure(); // other handlers tell it
  InFlightDiagnostic again =
      at.getContext()->getDiagEngine().emit(before, diagnostic.getSeverity());
  again << diagnostic.str();
  copyFault(diagnostic, *again.getUnderlyingDiagnostic());
  for (Diagnostic &note : diagnostic.getNotes())
    again.attachNote(Location(original(note.getLocation()))) << note.str();
  return success();
}
