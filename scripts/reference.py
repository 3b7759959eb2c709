"""The sections of the reference, made of docstrings: parameters, what is returned, errors, examples and sources.

A docstring has its prose, a section `Raises:` and a section `Example:`. In the prose, `name: text` describes a
parameter, the first sentence says what is returned, and `Source:` names where a formula comes from. Parameters that
mean the same everywhere are described once, in SHARED.
"""

from __future__ import annotations

import ast
import builtins
import doctest
import functools
import inspect
import re
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import list_functions
import xtensor as xt
from xtensor import _native
from xtensor.call.compilations import Compilation
from xtensor.explorer.memory import Memory
from xtensor.explorer.page import Explorer
from xtensor.ops.by_label import Loc
from xtensor.ops.coarsening import Coarsen
from xtensor.ops.grouped import GroupBy
from xtensor.ops.updates import At, Selection
from xtensor.ops.weights import Weighted
from xtensor.ops.windows import Rolling
from xtensor.profiling.table import Row
from xtensor.transforms.stages import Compiled, Lowered, Traced

SITE = Path(__file__).resolve().parent.parent / "docs" / "site"
# What annotations mean to a reader.
TYPES = {
    "ArrayLike": "array or number", "ArrayLike | None": "array or number, optional", "Dims": "name or names of dims",
    "Callable[..., Any]": "function", "Callable[[Any], Any]": "function", "Callable[[Any, Any], Any]": "function",
    "Callable[P, R]": "function", "Any": "any", "Pair": "pair of names", "tuple[str, str]": "pair of names",
    "Sizes": "sizes by dim", "Rate": "number or schedule", "Wrt": "int, str or a tuple of these",
    "Key": "xt.random.Key", "Sequence[ArrayLike]": "list of arrays", "str | EllipsisType": "str or ...",
    "ArrayLike | Mapping[str, int]": "array or number, or sizes by dim", "tuple[Array, ...]": "tuple of arrays",
    "Array": "xt.Array", "tuple[Array, Array]": "pair of arrays", "tuple[Array, Array, Array]": "three arrays",
    "dict[str, Array]": "dict of arrays", "Self": "xt.Array",
}  # fmt: skip

SECTION = re.compile(r"^(Raises|Example):\n((?:.+(?:\n|$))+)", re.M)
SOURCE = re.compile(r"(?:^|(?<=[.:;] ))(?:Sources?(?: of the numbers)?|Definition): (.*?\.)(?= [A-Z`]|$)")
SENTENCE = re.compile(r"(?<=[^.][.!?])\s+(?=[A-Z`\"])")


@dataclass
class Entry:
    """The parts of a docstring."""

    prose: list[str] = field(default_factory=list)
    parameters: dict[str, tuple[str, str]] = field(default_factory=dict)  # name -> type and default, description
    returns: str = ""
    raises: list[tuple[str, str]] = field(default_factory=list)
    example: str = ""
    sources: list[str] = field(default_factory=list)


@functools.cache
def shared() -> dict[str, str]:
    """What docs/site/parameters.txt says: of a name, or of `function name`."""
    lines = (SITE / "parameters.txt").read_text().splitlines()
    return dict(line.split(": ", 1) for line in lines if line and not line.startswith("#"))


def signature_of(thing: Any) -> inspect.Signature | None:
    try:
        return inspect.signature((typing.get_overloads(inspect.unwrap(thing)) or [thing])[0])
    except (AttributeError, TypeError, ValueError):  # what C defines may not tell it
        return None


def parameters_of(thing: Any) -> list[inspect.Parameter]:
    signature = signature_of(thing)
    found = signature.parameters.values() if signature else ()
    return [p for p in found if p.name != "self"]


def own(paragraph: str, names: list[str]) -> tuple[str, dict[str, str]]:
    """The prose of a paragraph, and what it says of parameters as `name: text`."""
    if not names:
        return paragraph, {}
    one = "|".join(map(re.escape, names))
    marks = list(re.finditer(rf"(?:^|(?<=[.;!?\"] )|(?<=[.;!?\"]\n)|(?<=\n))((?:{one})(?:, (?:{one}))*): ", paragraph))
    ends = [*(mark.start() for mark in marks[1:]), len(paragraph)]
    found: dict[str, str] = {}
    for mark, end in zip(marks, ends, strict=False):
        text = " ".join(paragraph[mark.end() : end].split())
        for name in mark[1].split(", "):
            found[name] = text
    return (paragraph[: marks[0].start()] if marks else paragraph).rstrip(), found


def parsed(thing: Any, called: str) -> Entry:
    doc = (inspect.getdoc(thing) or "") + "\n"
    entry = Entry()
    for name, text in SECTION.findall(doc):
        if name == "Example":
            entry.example = text
            continue
        lines = re.sub(r"\n {5,}", " ", text).splitlines()
        entry.raises = [(kind, what) for kind, _, what in (line.strip().partition(": ") for line in lines)]
    taken = parameters_of(thing)
    described: dict[str, str] = {}
    for paragraph in re.split(r"\n\n+", SECTION.sub("", doc).strip()):
        text, more = own(paragraph, [p.name for p in taken])
        described |= more
        flat = " ".join(text.split())
        entry.sources += SOURCE.findall(flat)
        text = SOURCE.sub("", flat).strip() if SOURCE.search(flat) else text
        if text:
            entry.prose.append(text)
    for p in taken:
        room = called.rpartition(".")[0]
        keys = (f"{called} {p.name}", f"{room}. {p.name}", p.name)
        said = described.get(p.name) or next((shared()[key] for key in keys if key in shared()), "")
        entry.parameters[p.name] = (kind_of(p), said)
    entry.returns = "" if inspect.isclass(thing) else returned(thing, entry.prose)
    return entry


def in_words(annotation: Any) -> str:
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
    found = TYPES.get(text)
    if found is None:
        parts = [TYPES.get(part.strip(), part.strip()) for part in text.split(" | ") if part.strip() != "None"]
        found = " or ".join(parts) + ", optional" * ("None" in text.split(" | "))
    return found.removeprefix("ForwardRef('").removesuffix("')")


def kind_of(parameter: inspect.Parameter) -> str:
    """The type of a parameter, and its default."""
    text = "" if parameter.annotation is parameter.empty else in_words(parameter.annotation)
    text = "" if text == "any" else text
    if parameter.kind == parameter.VAR_POSITIONAL:
        text = f"any number of: {text}" if text else "any number"
    if parameter.default not in (parameter.empty, None) and not text.endswith("optional"):
        text += f"{', ' if text else ''}default {parameter.default!r}"
    return text


def returned(thing: Any, prose: list[str]) -> str:
    """What the first sentence says that a function returns, and what sentences say of the dims of the result."""
    sentences = SENTENCE.split(" ".join(" ".join(prose).split()))
    first = sentences[0].removesuffix(".")
    signature = signature_of(thing)
    kind = "" if signature is None or signature.return_annotation is signature.empty else signature.return_annotation
    kind = "None" if kind in ("None", None) else in_words(kind) if kind else ""
    if kind == "None":
        return "None"
    found = re.match(r"(?:Returns|Tells)[,]? (.*)|.*?(?:returns|gives) (.*)", first)
    text = (found[1] or found[2]) if found else first[0].lower() + first[1:]
    more = [s for s in sentences[1:] if re.match(r"(The result|Both) (has|have|keeps)|In both|The dims of the", s)]
    kind = f"*{kind}*: " if kind and kind != "any" else ""
    return f"{kind}{text}. {' '.join(more)}".strip()


# ---- classes --------------------------------------------------------------------------------------------------------


def classes() -> dict[str, Any]:
    """The classes that users get in hand and that no family of functions lists, by the name that the reference has."""
    found = {cls.__name__: cls for cls in (At, Selection, Loc, Rolling, Coarsen, GroupBy, Weighted)}
    return {**found, **{cls.__name__: cls for cls in (Traced, Lowered, Compiled, Compilation, Memory, Explorer, Row)}}


def all_classes() -> dict[str, Any]:
    """Those, and the classes that families list, except errors."""
    things = {
        n: functools.reduce(getattr, n.split("."), xt) for names in list_functions.families().values() for n in names
    }
    return {**{name: thing for name, thing in things.items() if inspect.isclass(thing)}, **classes()}


def errors() -> dict[str, Any]:
    things = {name: getattr(xt, name) for name in xt.__all__}
    return {name: cls for name, cls in things.items() if inspect.isclass(cls) and issubclass(cls, xt.Error)}


HIDDEN = {"agree", "judge", "kernels", "meta", "together", "type"}  # for the package's own use


def members_of(cls: type) -> dict[str, Any]:
    """The attributes and methods of a class that users meet: those that have a docstring."""
    found = {name: inspect.getattr_static(cls, name) for name in sorted(dir(cls)) if not name.startswith("_")}
    listed = [base for base in (Traced, Lowered) if issubclass(cls, base) and cls is not base]
    inherited = [
        vars(base) for base in (tuple, BaseException, OSError, AttributeError, Mapping, _native.Function, *listed)
    ]
    return {
        name: thing
        for name, thing in found.items()
        if (inspect.isroutine(thing) or inspect.isdatadescriptor(thing) or isinstance(thing, functools.cached_property))
        and inspect.getdoc(thing)
        and name not in (*HIDDEN, *getattr(cls, "_fields", ()))  # fields of a named tuple are its parameters
        and not any(base.get(name) is thing for base in inherited)
    }


def is_method(member: Any) -> bool:
    """For `inspect`, a cached property is a routine, too."""
    return inspect.isroutine(member) and not isinstance(member, functools.cached_property)


def function_of(thing: Any) -> Any:
    """The function behind a member."""
    for attribute in ("fget", "func", "__func__"):
        thing = getattr(thing, attribute, None) or thing
    return inspect.unwrap(thing) if callable(thing) else thing


@functools.cache
def member_examples() -> dict[str, dict[str, str]]:
    """What docs/site/members.txt says: class -> member -> example. "" are the lines before all, "." is the class."""
    found: dict[str, dict[str, str]] = {}
    for block in re.split(r"\n\n+", (SITE / "members.txt").read_text().strip()):
        first, _, lines = block.partition("\n")
        if first.startswith("@"):
            of_class = found.setdefault(first[1:], {"": lines})
        elif not first.startswith("#"):
            of_class[first] = lines
    return found


@functools.cache
def member_errors() -> dict[str, dict[str, list[tuple[str, str, str]]]]:
    """What docs/site/member_errors.txt says: class -> method -> errors, each with when and a program. A method that
    raises none has no entry in its list."""
    found: dict[str, dict[str, list[tuple[str, str, str]]]] = {}
    of_class: dict[str, list[tuple[str, str, str]]] = {}
    for line in (SITE / "member_errors.txt").read_text().splitlines():
        if line.startswith("@"):
            of_class = found.setdefault(line[1:], {})
        elif line and not line.startswith("#"):
            methods, error, *rest = line.split(": ", 2)
            for method in methods.split(", "):
                errors = of_class.setdefault(method, [])
                if error != "-":
                    when, _, program = rest[0].rpartition(" | ")
                    errors.append((error, when, program))
    return found


def names_in(example: doctest.Example) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(example.source)) if isinstance(node, ast.Name)} - {"xt", "np", "xr"}


def alone(name: str, member: str) -> str:
    """The example of a member of docs/site/members.txt, after those lines of its class that it needs."""
    shown = member_examples().get(name, {})
    example = shown.get(member, "")
    parser = doctest.DocTestParser()
    before = parser.get_examples(shown.get("", "") + "\n")
    if not before or not example:
        return example
    needed = set[str]().union(*map(names_in, parser.get_examples(example + "\n")))
    kept: list[doctest.Example] = []
    for line in reversed(before):
        if names_in(line) & needed:  # it defines what is needed, or changes it
            kept.insert(0, line)
            needed |= names_in(line)
    lines = shown[""].splitlines()
    starts = [line.lineno for line in before] + [len(lines)]
    spans = {line.lineno: starts[place + 1] for place, line in enumerate(before)}
    return "\n".join([*(text for line in kept for text in lines[line.lineno : spans[line.lineno]]), example])


def sources_of_members() -> dict[str, tuple[str, str]]:
    """The module, and the name in it, of each member that the reference lists, by `Class.member`."""
    found = {"bfloat16": ("xtensor.base.dtypes", "bfloat16")}
    for name, cls in {**all_classes(), **errors()}.items():
        is_error = issubclass(cls, xt.Error)
        also_builtin = is_error and hasattr(builtins, name)  # class IndexError_, shown as IndexError
        place = "xtensor.base.errors" if is_error else cls.__module__
        found[name] = place, f"{cls.__qualname__}{'_' * also_builtin}"
        for member, thing in members_of(cls).items():
            function = function_of(thing)
            if inspect.isfunction(function):
                found[f"{name}.{member}"] = function.__module__, function.__qualname__
    return found


# ---- Markdown -------------------------------------------------------------------------------------------------------


def code(title: str, text: str) -> str:
    return f"\n```{{rubric}} {title}\n```\n\n```pycon\n{text.rstrip()}\n```\n" if text else ""


def sections(entry: Entry, example: str = "") -> str:
    """An entry as MyST has it: prose, fields, examples, sources."""
    fields = []
    for name, (kind, text) in entry.parameters.items():
        fields.append(f":param {name}: {f'*{kind}*: ' if kind else ''}{text}".rstrip(" :"))
    fields += [f":returns: {entry.returns.removesuffix('.')}."] if entry.returns else []
    fields += [f":raises {kind}: {text}" for kind, text in entry.raises]
    sources = "".join(f"* {source}\n" for source in entry.sources)
    parts = ["\n\n".join(entry.prose), "\n".join(fields), code("Example", example or entry.example)]
    parts.append(f"\n```{{rubric}} References\n```\n\n{sources}" if sources else "")
    return "\n\n".join(part for part in parts if part)


def function(name: str) -> str:
    """The entry of a function, or of a class with its members."""
    thing: Any = functools.reduce(getattr, name.split("."), xt)
    room, _, last = name.rpartition(".")
    if inspect.isclass(thing):
        return of_class(name, thing)
    module = f":module: xt.{room}\n" if room else ""  # else Sphinx writes linalg.eigh for xt.linalg.eigh
    takes = list_functions.called(thing)
    return f"\n``````{{py:function}} {last}{takes}\n{module}\n{sections(parsed(thing, name))}\n``````\n"


def member_entry(name: str, member: str, thing: Any) -> Entry:
    """The entry of a member. A method of arrays that is a function, too, has the parameters of the function."""
    behind = function_of(thing)
    entry = parsed(behind if inspect.isfunction(behind) else thing, f"{name.rpartition('.')[2]}.{member}")
    alike = parsed(getattr(xt, member), member) if name == "Array" and member in xt.__all__ else Entry()
    for p, (kind, text) in entry.parameters.items():
        entry.parameters[p] = (kind, text or alike.parameters.get(p, ("", ""))[1])
    told = [(error, when) for error, when, _ in member_errors().get(name, {}).get(member, [])]
    entry.raises = entry.raises or told or alike.raises
    if alike.raises and is_method(thing):
        entry.prose.append(f"The function `xt.{member}` takes the same arguments and raises the same errors.")
    return entry


def of_class(name: str, cls: type, kind: str = "class") -> str:
    """The entry of a class with its members. What is there of the class without a call has no parameters."""
    room, _, last = name.rpartition(".")
    module = f":module: xt.{room}\n" if room else ""
    entry = parsed(cls, name)
    examples = member_examples().get(name, {})
    if name in classes() or kind == "exception" or name == "Array":
        entry.parameters = {}
    if kind == "exception":
        bases = [base.__name__ for base in cls.__mro__[1:] if base.__module__ == "builtins"]
        also = [name for name in bases if name not in ("Exception", "BaseException", "object")]
        entry.prose.append("It is also a " + " and a ".join(f"`{name}`" for name in also[:1]) + "." if also else "")
    own = alone(name, ".") or ("" if entry.example else examples.get("", ""))
    parts = [f"\n``````{{py:{kind}}} {last}\n{module}\n{sections(entry, own)}\n"]
    for member, thing in ({} if kind == "exception" else members_of(cls)).items():
        called = is_method(thing)
        behind = function_of(thing)
        takes = "()" if called else ""
        if called and inspect.isfunction(behind):
            takes = list_functions.called(behind).replace("(cls, ", "(").replace("(cls)", "()")
        said = member_entry(name, member, thing)
        said.parameters = {p: text for p, text in said.parameters.items() if called and text[1] and p != "cls"}
        said.returns = said.returns if called else ""
        text = sections(said, alone(name, member))
        what = "method" if called else "attribute"
        parts.append(f"\n`````{{py:{what}}} {member}{takes}\n\n{text}\n`````\n")
    return "".join([*parts, "``````\n"])


def bfloat16() -> str:
    text = "The dtype of floats with 8 bits for digits and the range of float32, of the package ml_dtypes: `dtype=`."
    return f"\n``````{{py:data}} bfloat16\n\n{text}\n{code('Example', member_examples()['bfloat16']['.'])}\n``````\n"
