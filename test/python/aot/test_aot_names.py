"""Names in C: whatever bundles, functions, arguments and dims are called, headers compile and link."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import xtensor as xt
from places import COMPILER, ROOT

pytestmark = pytest.mark.cpu_only("bundles hold code for CPUs")

_HEADERS = "assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg"
_HEADERS += " stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string time uchar wchar wctype"
_HEADERS += (
    " fcntl netdb poll pthread pwd sched semaphore sys/mman sys/stat sys/socket sys/types sys/wait termios unistd"
)
_KEYWORDS = "and_eq char8_t co_await const_cast not_eq or_eq static_assert static_cast thread_local wchar_t xor_eq"

# Keywords of C and C++, macros and typedefs of system headers, what headers of bundles call things themselves, names
# that are equal once they are in C, and what C does not take.
_WORDS = """
nullptr typeid constexpr co_await concept requires alignas and not_eq class template this new restrict _Bool _Generic
inline register auto int float linux unix NULL errno stdin assert INT_MAX I bool true EOF major minor int64_t size_t
uint8_t wchar_t max_align_t data dims sizes state message any workspace context arrays count code xt_any xt_context
XT_OK xta xta_run entry malloc free main cblas_sgemm __x _X __cplusplus x_size x x_ _x 2d 0 größe 数 a_b a-b */ /* a\\
??/ // ' " %s 🙂
"""
NASTY = (*_WORDS.split(), "a b", "a-b", "é", "2")

# What else a program may include: all of these have macros.
_INCLUDES = "".join(f"#include <{h}.h>\n" for h in ("errno", "stdio", "assert", "limits", "stdint", "time", "math"))
_C = [f"-std={s}" for s in ("c99", "c11", "c17", "gnu17")]
_CPP = [f"-std={s}" for s in ("c++11", "c++17", "c++20", "gnu++20")]


def _compilers() -> list[tuple[str, str, str]]:
    found = []
    for language, names, standards in (("c", ("gcc", "clang-22"), _C), ("c++", ("g++", "clang++-22"), _CPP)):
        found += [(n, language, s) for n in names if shutil.which(n) for s in standards]
    return found


def _check(source: Path, include: Path, compiler: str, language: str, standard: str) -> str:
    flags = ["-x", language, standard, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", f"-I{include}"]
    return subprocess.run([compiler, *flags, source], capture_output=True, text=True, check=False).stderr


@pytest.fixture(scope="module")
def one_of_each(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An argument, a dim and a result with each name."""

    def f(arguments: Any) -> Any:
        return {name: x * 2.0 for name, x in arguments.items()}

    arguments = {name: xt.spec({name: None, "other": 3}, dtype="f4") for name in NASTY}
    folder = tmp_path_factory.mktemp("nasty")
    xt.export(f, args=(arguments,), name="nasty", blas=None).extract(folder)
    return folder


@pytest.mark.parametrize(("compiler", "language", "standard"), _compilers())
def test_headers_take_any_name(one_of_each: Path, tmp_path: Path, compiler: str, language: str, standard: str) -> None:
    header = '#include "nasty.h"\n'
    source = tmp_path / "main.c"
    call = "int main(void) { return nasty_message(0, 0) == 0; }\n"
    for text in (header + header + call, _INCLUDES + header + call, header + _INCLUDES + call):
        source.write_text(text)
        assert _check(source, one_of_each, compiler, language, standard) == ""


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("m", "t"),
        ("c", "main"),
        ("xta", "run"),
        ("static", "assert_"),
        ("size", "t"),
        ("__x", "t"),
        ("I", "message"),
        ("stdint", "message"),
        ("pthread_x", "main"),
        ("std", "run"),
        ("cblas", "sgemm"),
    ],
)
def test_programs_link_what_has_any_name(tmp_path: Path, name: str, function: str) -> None:
    if not COMPILER:
        pytest.skip("there is no C compiler")
    module: dict[str, Any] = {}
    exec(f"def {function}(x): return x + x", module)
    bundle = xt.export(module[function], args=(xt.spec(i=None),), name=name, blas=None)
    out, m = bundle.extract(tmp_path), bundle.manifest
    header = str(m.header)
    prefix = Path(header).stem
    program = f"""{_INCLUDES}
#include <string.h>
#include <stdlib.h>
#include <pthread.h>
#include "{header}"
int main(void) {{
  double x[2] = {{1, 2}}, y[2] = {{0, 0}};
  xt_context context;
  memset(&context, 0, sizeof context);
  {m.functions[0].symbol}_x a = {{x, 2}};
  {m.functions[0].symbol}_result b = {{y, 2}};
  int32_t code = {m.functions[0].symbol}(&a, &b, &context);
  if (code)
    puts({prefix}_message(&context, code));
  return code || y[1] != 4;
}}
"""
    source = tmp_path / "main.c"
    source.write_text(program)
    folder = (out / str(m.targets[0].archive)).parent
    library = Path(str(m.targets[0].archive)).stem.removeprefix("lib")
    for how in ([out / str(m.targets[0].archive)], [f"-L{folder}", f"-l{library}", f"-Wl,-rpath,{folder}"]):
        command = [COMPILER, "-Wall", "-Wextra", "-Werror", f"-I{out}", source, *how, "-lm", "-o", tmp_path / "main"]
        subprocess.run(command, check=True)
        assert subprocess.run([tmp_path / "main"], check=False).returncode == 0


def test_names_that_would_be_equal_differ(tmp_path: Path) -> None:
    def message(any: Any, a_b: Any) -> Any:
        return any + a_b

    specs = (xt.spec({"a b": 2, "a_b": 3}), xt.spec({"a b": 2, "a_b": 3}))
    bundle = xt.export(message, args=specs, name="one")
    assert bundle.manifest.functions[0].symbol == "one_message_2"
    text = (bundle.extract(tmp_path) / "one.h").read_text()
    assert "int32_t one_message_2(const one_message_2_any_2 *, const one_message_2_a_b *, " in text
    assert "const char *one_message(" in text
    assert re.findall(r"int64_t (\w+); /\* dim ", text)[:2] == ["a_b_size", "a_b_size_2"]


@pytest.mark.parametrize(("name", "function"), [("scipy", "cblas_dgemm"), ("scipy_cblas", "dgemm")])
def test_no_function_is_called_as_one_of_the_blas(tmp_path: Path, name: str, function: str) -> None:
    def f(x: Any) -> Any:
        return xt.dot(x, x.rename(i="j", j="k"), dim="j")

    bundle = xt.export({function: (f, (xt.spec(i=64, j=64),))}, name=name, blas="scipy-openblas")
    assert bundle.manifest.functions[0].symbol == f"xtb_{name}_{function}"
    archive = bundle.extract(tmp_path) / str(bundle.manifest.targets[0].archive)
    found = subprocess.run(["nm", "--undefined-only", archive], capture_output=True, text=True, check=True).stdout
    assert re.findall(r"U (\S*gemm\S*)", found) == ["scipy_cblas_dgemm", "scipy_cblas_sgemm"]


def test_a_name_that_no_file_can_have() -> None:
    with pytest.raises(xt.ArgumentError, match=r"a name of 300 characters: 128 at most"):
        xt.export(lambda x: x, args=(xt.spec(i=2),), name="n" * 300)


def test_the_list_of_system_words_has_those_of_this_machine() -> None:
    """Macros, and what is declared at file scope, with a `_` in it: each begins with a word of the list."""
    clang = shutil.which("clang-22")
    if not clang:
        pytest.skip("clang is not installed")
    text = (ROOT / "compiler" / "SystemWords.inc").read_text()
    words = set(text.partition('R"(')[2].partition(')"')[0].split())
    source = "".join(f"#include <{h}.h>\n" for h in _HEADERS.split())

    def run(*flags: str) -> str:
        command = [clang, "-x", "c", "-std=gnu17", *flags, "-"]
        return subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout

    found = set(re.findall(r"^#define (\w+)", run("-E", "-dM"), flags=re.MULTILINE))
    declared = run("-fsyntax-only", "-Xclang", "-ast-dump=json", "-Xclang", "-ast-dump-filter=_t")
    kinds = re.findall(r'^  "kind": "(\w+)".*?^  "name": "(\w+)"', declared, flags=re.MULTILINE | re.DOTALL)
    assert len(kinds) > 100
    found |= {name for kind, name in kinds if kind != "FieldDecl"}
    found |= set(_KEYWORDS.split())
    missing = {x for x in found if not x.startswith("_") and "_" in x.strip("_") and x.split("_")[0] not in words}
    assert not missing
    assert {h.split("/")[-1] for h in _HEADERS.split()} <= words
