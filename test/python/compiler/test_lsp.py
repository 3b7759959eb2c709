"""xtensor-lsp-server: an editor learns from it what xtensor-opt would say, and what an op is."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import xtensor as xt
from places import ROOT, tool

PROGRAM = """func.func @f(%x: !xtensor.array<a: 2, f32>, %y: !xtensor.array<a: 3, f32>)
    -> !xtensor.array<a: 2, f32> {
  %0 = xtensor.exp %x : <a: 2, f32>
  return %0 : !xtensor.array<a: 2, f32>
}
"""
WRONG = PROGRAM.replace("xtensor.exp %x : <a: 2, f32>", "xtensor.add %x, %y : <a: 2, f32>, <a: 3, f32>")


def answers(*requests: dict) -> list[dict]:
    """What the server says to an editor that sends these, each framed as in the protocol."""
    start = {"id": 0, "method": "initialize", "params": {"processId": None, "rootUri": None, "capabilities": {}}}
    sent = ""
    for request in (start, *requests, {"id": 99, "method": "shutdown"}, {"method": "exit"}):
        text = json.dumps({"jsonrpc": "2.0", **request})
        sent += f"Content-Length: {len(text)}\r\n\r\n{text}"
    done = subprocess.run([tool("xtensor-lsp-server")], input=sent, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    decoder, found, rest = json.JSONDecoder(), [], done.stdout
    while "{" in rest:
        value, end = decoder.raw_decode(rest[rest.index("{") :])
        found.append(value)
        rest = rest[rest.index("{") + end :]
    return found


def opened(text: str) -> dict:
    document = {"uri": "file:///program.mlir", "languageId": "mlir", "version": 1, "text": text}
    return {"method": "textDocument/didOpen", "params": {"textDocument": document}}


def ask(text: str, method: str, line: int, character: int) -> object:
    """The answer to a request about a place of a text."""
    at = {"textDocument": {"uri": "file:///program.mlir"}, "position": {"line": line, "character": character}}
    told = answers(opened(text), {"id": 1, "method": f"textDocument/{method}", "params": at})
    return next(a["result"] for a in told if a.get("id") == 1)


def where(text: str, words: str, nth: int = 0) -> tuple[int, int]:
    """The line and the column of the nth place that has `words`."""
    before = text[: [m.start() for m in re.finditer(re.escape(words), text)][nth]]
    return before.count("\n"), len(before.rpartition("\n")[2])


def hover(text: str, words: str, nth: int = 0) -> str:
    """What a hover shows over the nth place that has `words`."""
    return ask(text, "hover", *where(text, words, nth))["contents"]["value"]


def diagnostics(text: str) -> list[dict]:
    (told,) = (a for a in answers(opened(text)) if a.get("method") == "textDocument/publishDiagnostics")
    return told["params"]["diagnostics"]


def test_an_error_is_told_at_its_line():
    (error,) = diagnostics(WRONG)
    assert 'dim "a" has sizes 2 and 3' in error["message"]
    assert error["range"]["start"]["line"] == 2


def test_a_right_program_has_no_diagnostics():
    assert diagnostics(PROGRAM) == []


def test_the_definition_of_a_value_is_found():
    (place,) = ask(PROGRAM, "definition", 3, 10)
    assert place["range"]["start"] == {"line": 2, "character": 2}


SOURCE = """import xtensor as xt


def loss(w, x):
    h = xt.tanh(x @ w)
    return xt.sum(h * h)
"""


@pytest.fixture
def located(tmp_path: Path) -> str:
    """A gradient after phase differentiated, with the lines of tmp_path/model.py."""
    (tmp_path / "model.py").write_text(SOURCE)
    found: dict = {}
    exec(compile(SOURCE, str(tmp_path / "model.py"), "exec"), found)
    inputs = (xt.spec(i=64, out=8, dtype="f4"), xt.spec(sample=None, i=64, dtype="f4"))
    return xt.jit(xt.grad(found["loss"])).lower(*inputs).as_text("differentiated", locations=True)


@pytest.mark.cpu_only("the phases are those of the CPU")
def test_a_hover_tells_sizes_lines_and_rules(located, tmp_path):
    made = f"* made of {tmp_path / 'model.py'}:5: `` h = xt.tanh(x @ w) ``"
    op = hover(located, "xtensor.tanh")
    assert op.startswith('"xtensor.tanh"')  # upstream's
    assert op.endswith(f"\n* dim `sample`: any size, that of argument 1 (x)\n* dim `out`: 8\n{made}\n")
    assert "made by the derivative: residual of tanh" in hover(located, "xtensor.sub")
    assert "made by the derivative: cotangent, from tangent of contract" in hover(located, "xtensor.contract", 1)
    assert hover(located, "%arg0").endswith("* dim `i`: 64\n* dim `out`: 8\n* 512 elements, 2048 bytes\n* called `w`\n")
    second = f"func.func @first() {{\n  return\n}}\n// -----\n{located}"
    assert hover(second, "xtensor.tanh") == op


SCAN = """func.func @f(%x: !xtensor.array<a: 2, f32> loc("x"), %y: !xtensor.array<k: 3, "f32": ?, f32> loc("y"))
    -> (!xtensor.array<a: 2, f32>, !xtensor.array<k: 3, "f32": ?, f32>) {
  %0:2 = xtensor.scan along k carry(%x) over(%y) {
  ^bb0(%c: !xtensor.array<a: 2, f32>, %s: !xtensor.array<"f32": ?, f32>):
    xtensor.yield %c, %s : !xtensor.array<a: 2, f32>, !xtensor.array<"f32": ?, f32>
  } : (!xtensor.array<a: 2, f32>, !xtensor.array<k: 3, "f32": ?, f32>)
      -> (!xtensor.array<a: 2, f32>, !xtensor.array<k: 3, "f32": ?, f32>)
  return %0#0, %0#1 : !xtensor.array<a: 2, f32>, !xtensor.array<k: 3, "f32": ?, f32>
}
"""
FIRST = "* dim `a`: 2\n* 2 elements, 8 bytes\n"
SECOND = "* dim `k`: 3\n* dim `f32`: any size, that of argument 1 (y)\n"


def test_a_hover_tells_the_result_that_is_named():
    assert hover(SCAN, "%0#1").endswith(f"\n\n{SECOND}")
    assert hover(SCAN, "%0#0").endswith(f"\n\n{FIRST}")
    both = FIRST.replace("* ", "* result #0: ") + SECOND.replace("* ", "* result #1: ")
    assert hover(SCAN, "%0:2").endswith(f"\n\n{both}") and hover(SCAN, "xtensor.scan").endswith(f"\n\n{both}")


def test_a_hover_over_a_dim_tells_its_size():
    quoted, open_size = '"f32"', "* dim `f32`: any size, that of argument 1 (y)\n"
    assert hover(SCAN, "k carry") == hover(SCAN, "k: 3") == "* dim `k`: 3\n"
    assert hover(SCAN, quoted) == hover(SCAN, quoted, 2) == hover(SCAN, quoted, 6) == open_size
    assert hover(f"// -----\n{PROGRAM}  // -----\n{SCAN}", "k carry") == "* dim `k`: 3\n"
    two = PROGRAM.replace("a: 3, f32>)", "b: 3, f32>)").replace("<a: 2", "<a: ?")
    assert hover(two, "a: ?") == "* dim `a`: any size, that of argument 0\n"
    for place in ("f32>", "array", "carry", "along"):  # not dims
        line, column = where(SCAN, place)
        assert "dim" not in str((ask(SCAN, "hover", line, column) or {"contents": ""})["contents"]), place


def test_a_text_without_locations_has_no_line_of_its_own():
    assert "made of" not in hover(PROGRAM, "xtensor.exp") and hover(PROGRAM, "xtensor.exp").endswith(FIRST)


def test_a_hover_past_the_end_of_a_text_is_empty():
    assert ask(PROGRAM, "hover", 50, 2) is None


@pytest.mark.cpu_only("the phases are those of the CPU")
def test_the_definition_of_an_op_is_the_users_line(located, tmp_path):
    line, text = next((i, t) for i, t in enumerate(located.split("\n")) if "xtensor.tanh" in t)
    (place,) = ask(located, "definition", line, text.index("xtensor.tanh"))
    assert place["uri"] == (tmp_path / "model.py").as_uri()
    assert place["range"]["start"]["line"] == 4


@pytest.mark.cpu_only("the phases are those of the CPU")
@pytest.mark.parametrize("command", ["xtensor", "python -m xtensor.cli"])
def test_what_the_command_prints_leads_to_python(tmp_path, command):
    """The file is named from its folder, and the IR is read in another one. No op is of the command's own lines."""
    (tmp_path / "model.py").write_text(f"{SOURCE}example_args = xt.spec(i=4, out=8), xt.spec(sample=3, i=4)\n")
    start = [tool("xtensor")] if command == "xtensor" else [sys.executable, "-m", "xtensor.cli"]
    words = ["show", "model.py:loss", "--phase", "linalg", "--locations"]
    for phase in ("traced", "linalg"):
        words[3] = phase
        shown = subprocess.run([*start, *words], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
        assert set(re.findall(r'loc\("([^"]*)":', shown)) == {str(tmp_path / "model.py")}
        line, text = next((i, t) for i, t in enumerate(shown.split("\n")) if "tanh" in t and "loc(" in t)
        (place,) = ask(shown, "definition", line, text.index("tanh") - 2)
        assert place["uri"] == (tmp_path / "model.py").as_uri() and place["range"]["start"]["line"] == 4


def test_ops_are_completed():
    text = PROGRAM.replace("xtensor.exp %x : <a: 2, f32>", "xtensor.")
    labels = [item["label"] for item in ask(text, "completion", 2, len("  %0 = xtensor."))["items"]]
    assert {"exp", "contract", "reduce"} <= {*labels}


def test_a_server_without_requests_ends():
    done = subprocess.run([tool("xtensor-lsp-server")], input="", capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (1, "")  # 1: no shutdown came before the end
    help_ = subprocess.run([tool("xtensor-lsp-server"), "--help"], capture_output=True, text=True, timeout=60)
    assert "USAGE" in help_.stdout


TRY = """
local function wait(what, of)
  if not vim.wait(30000, of, 20) then
    print("no " .. what)
    vim.cmd("cquit")
  end
end
wait("client", function()
  for _, client in pairs(vim.lsp.buf_get_clients(0)) do
    return client.initialized
  end
end)
vim.fn.search("xtensor.tanh")
vim.cmd("normal K")
local window
wait("hover", function()
  for _, each in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(each).relative ~= "" then
      window = each
      return true
    end
  end
end)
print(table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, true), "\\n"))
vim.api.nvim_win_close(window, true)
vim.cmd("normal gd")
wait("definition", function() return vim.fn.expand("%:e") == "py" end)
print("\\nat " .. vim.fn.expand("%:t") .. ":" .. vim.fn.line("."))
vim.cmd("qall!")
"""


@pytest.mark.skipif(shutil.which("nvim") is None, reason="no Neovim here (Debian: neovim)")
@pytest.mark.cpu_only("the phases are those of the CPU")
def test_neovim_shows_hovers_and_goes_to_python(located, tmp_path):
    (settings,) = re.findall(r"```lua\n(.*?)```", (ROOT / "docs" / "editors.md").read_text(), re.S)
    (tmp_path / "init.lua").write_text(settings)
    (tmp_path / "try.lua").write_text(TRY)
    (tmp_path / "loss.mlir").write_text(located)
    places = os.pathsep.join([str(Path(tool("xtensor-lsp-server")).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["nvim", "--headless", "-i", "NONE", "-u", "init.lua", "-S", "try.lua", "loss.mlir"],
        cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
        env={**os.environ, "PATH": places, "XDG_STATE_HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)},
    )  # fmt: skip
    told = done.stdout + done.stderr
    assert done.returncode == 0, told
    assert "* dim `out`: 8" in told
    assert "at model.py:5" in told
