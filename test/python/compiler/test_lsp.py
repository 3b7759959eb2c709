"""xtensor-lsp-server: an editor learns from it what xtensor-opt would say, and what an op is."""

import json
import subprocess

from places import tool

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
    at = {"textDocument": {"uri": "file:///program.mlir"}, "position": {"line": 3, "character": 10}}
    told = answers(opened(PROGRAM), {"id": 1, "method": "textDocument/definition", "params": at})
    (place,) = next(a["result"] for a in told if a.get("id") == 1)
    assert place["range"]["start"] == {"line": 2, "character": 2}
