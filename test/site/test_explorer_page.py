"""The page of `f.explore` in Chromium, as a file: what is clicked is what is shown."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xtensor as xt
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

PROGRAM = """\
import xtensor as xt


def attend(q, k, v):  # </script><script>window.evil = 1</script><!-- <img src=x onerror="window.evil = 2">
    scores = xt.dot(q, k, dim="feature") / 4.0
    scaled = xt.exp(scores - xt.max(scores, "key"))
    weights = scaled / xt.sum(scaled, "key")
    return xt.dot(weights, v, dim="key")


def loss(q, k, v):
    return xt.sum(xt.square(attend(q, k, v)))


def gradient(q, k, v):
    return xt.grad(loss)(q, k, v)
"""
CONTRACT = 'return xt.dot(weights, v, dim="key")'


@pytest.fixture(scope="module")
def explorer(tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("explorer") / "program.py"
    path.write_text(PROGRAM)
    found: dict[str, Any] = {"__name__": "program"}
    exec(compile(PROGRAM, str(path), "exec"), found)
    key = xt.spec(head=2, key=24, feature=8, dtype="f4")
    function = xt.jit(found["gradient"])
    page = function.explore(xt.spec(head=2, query=24, feature=8, dtype="f4"), key, key)
    page.write(path.with_suffix(".html"))
    page.path, page.function = path.with_suffix(".html"), function
    return page


@pytest.fixture
def page(browser: Browser, explorer: Any) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1200, "height": 700}, offline=True)
    page = context.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: wrong.append(message.text))
    page.on("request", lambda r: None if r.url.startswith(("file:", "data:")) else wrong.append(f"asks for {r.url}"))
    page.goto(explorer.path.as_uri())
    yield page
    context.close()
    assert not wrong


def lines_of(explorer: Any, phase: str, line: int) -> list[int]:
    """The numbers of the lines of a phase that are made of a line of the program, by the page's data."""
    (found,) = [p for p in explorer.data["phases"] if p["name"] == phase]
    return [
        i
        for i, origin in enumerate(found["origins"], 1)
        if origin >= 0 and [0, line] in explorer.data["origins"][origin]["at"]
    ]


def check_access(page: Page) -> None:
    """Nothing on the page keeps people who do not see it, or use no mouse, from it."""
    found = Axe().run(page, options={"preload": False})
    serious = [v for v in found.response["violations"] if v["impact"] in ("serious", "critical")]
    assert not serious, [(v["id"], [n["html"][:200] for n in v["nodes"][:3]]) for v in serious]


def click_source(page: Page, words: str) -> int:
    row = page.locator("#source .row", has_text=words).first
    row.click()
    return int(row.locator(".number").inner_text())


def shown(page: Page, pane: str, selector: str = ".hit, .here") -> list[int]:
    """The numbers of the marked rows that are there."""
    rows = page.locator(f"#{pane} .row:is({selector}) .number").all_inner_texts()
    return sorted(map(int, rows))


def there(page: Page) -> range:
    numbers = sorted(map(int, page.locator("#phase .row .number").all_inner_texts()))
    return range(numbers[0], numbers[-1] + 1)


def test_a_click_on_python_shows_what_was_made_of_it_in_every_phase(page: Page, explorer: Any) -> None:
    line = click_source(page, CONTRACT)
    assert line == PROGRAM.split("\n").index("    " + CONTRACT) + 1
    assert shown(page, "source", ".here") == [line]
    for phase in explorer.data["phases"]:
        page.get_by_role("tab", name=phase["name"]).click()
        wanted = lines_of(explorer, phase["name"], line)
        assert wanted
        tab = page.locator("#tabs [aria-selected=true]")
        assert tab.locator(".count").inner_text() == str(len(wanted))
        assert shown(page, "phase") == [i for i in wanted if i in there(page)] != []


def test_a_click_on_the_program_shows_the_line_of_python(page: Page, explorer: Any) -> None:
    page.get_by_role("tab", name="differentiated").click()
    row = page.locator("#phase .row", has_text="xtensor.contract").last
    text = row.inner_text()
    row.click()
    (line,) = shown(page, "source")
    assert PROGRAM.split("\n")[line - 1].lstrip().startswith(("scores = xt.dot", "return xt.dot")), text
    assert "cotangent, from tangent of contract" in page.locator("#status").inner_text()
    assert row.get_attribute("data-mark") == "cotangent"
    assert f"program.py:{line}" in page.locator("#status").inner_text()


def test_only_the_rows_in_view_are_there(page: Page, explorer: Any) -> None:
    page.get_by_role("tab", name="llvm").click()
    (llvm,) = [p["lines"] for p in explorer.data["phases"] if p["name"] == "llvm"]
    assert len(llvm) > 500
    assert page.locator("#phase .row").count() < 100
    page.locator("#phase").evaluate("pane => pane.scrollTop = pane.scrollHeight")
    last = page.locator("#phase .row").nth(-1)
    page.locator("#phase .row", has_text="}").last.wait_for()
    page.wait_for_function("n => document.getElementById(`phase-${n - 1}`) !== null", arg=len(llvm))
    assert last.locator(".number").inner_text() == str(len(llvm))
    assert page.locator("#phase .row").count() < 100


def test_the_keyboard_is_enough(page: Page) -> None:
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.locator("#tabs [aria-selected=true]").inner_text() == "differentiated"
    page.keyboard.press("ArrowLeft")
    assert page.locator("#tabs [aria-selected=true]").inner_text() == "simplified"
    page.locator("#phase").focus()
    for _ in range(4):
        page.keyboard.press("ArrowDown")
    assert shown(page, "phase", ".here") == [4]
    page.keyboard.press("Escape")
    assert shown(page, "phase") == shown(page, "source") == []


def test_search_goes_from_match_to_match(page: Page, explorer: Any) -> None:
    page.get_by_role("tab", name="linalg").click()
    (linalg,) = [p["lines"] for p in explorer.data["phases"] if p["name"] == "linalg"]
    wanted = [i for i, text in enumerate(linalg, 1) if "linalg.generic" in text.lower()]
    page.keyboard.press("/")
    page.keyboard.type("LINALG.generic")
    assert page.locator("#found").inner_text() == f"{len(wanted)} lines"
    for i in wanted[:3]:
        page.keyboard.press("Enter")
        assert shown(page, "phase", ".here") == [i]
    assert set(page.locator("#phase mark").all_inner_texts()) == {"linalg.generic"}
    page.keyboard.press("Shift+Enter")
    assert shown(page, "phase", ".here") == [wanted[1]]
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type("func.func")
    assert page.locator("#search").input_value() == "func.func"  # and not behind the text of the last search


@pytest.mark.parametrize(
    ("before", "after"), [("differentiated", "linalg"), ("linalg", "grouped"), ("traced", "traced")]
)
def test_two_phases_are_compared(page: Page, explorer: Any, before: str, after: str) -> None:
    texts = {p["name"]: p["lines"] for p in explorer.data["phases"]}
    page.set_viewport_size({"width": 1200, "height": 12000})  # all rows are in view
    page.get_by_role("tab", name=after).click()
    page.get_by_label("Compare with").select_option(before)
    page.wait_for_timeout(100)
    numbers = page.locator("#phase .row .number").all_inner_texts()
    signs = [n.split()[0] if " " in n else "" for n in numbers]
    lines = [int(n.split()[-1]) for n in numbers]
    # Without what was added it is the text before, and without what was removed the text after.
    assert [n for s, n in zip(signs, lines, strict=True) if s != "-"] == list(range(1, len(texts[after]) + 1))
    same = sum(s == "" for s in signs)
    assert [n for s, n in zip(signs, lines, strict=True) if s == "-"] == sorted(
        n for s, n in zip(signs, lines, strict=True) if s == "-"
    )
    assert signs.count("-") + same == len(texts[before])
    assert page.locator("#phase .removed").count() == signs.count("-")
    assert (same == len(texts[after])) == (before == after)
    assert same > 0


def test_text_of_the_user_is_only_text(page: Page) -> None:
    assert page.locator("#source .row", has_text="</script><script>window.evil = 1</script>").count() == 1
    assert page.evaluate("window.evil") is None
    assert page.locator("img").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_themes_can_be_read_and_switched(page: Page, scheme: Any) -> None:
    page.emulate_media(color_scheme=scheme)
    page.reload()
    click_source(page, CONTRACT)
    brightness = "Math.max(...getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number))"
    assert (page.evaluate(brightness) < 64) == (scheme == "dark")
    check_access(page)
    page.locator("#theme").click()
    assert (page.evaluate(brightness) < 64) == (scheme == "light")


def test_a_notebook_shows_the_page(browser: Browser, explorer: Any, tmp_path: Path) -> None:
    path = tmp_path / "notebook.html"
    path.write_text(f"<!doctype html><meta charset='utf-8'>{explorer._repr_html_()}")
    page = browser.new_page()
    page.goto(path.as_uri())
    frame = page.frame_locator("iframe")
    frame.locator("#source .row", has_text=CONTRACT).click()
    assert frame.locator("#tabs .count").first.inner_text() == "1"
    page.close()


def test_groups_show_what_was_measured(browser: Browser, explorer: Any, tmp_path: Path) -> None:
    draw = np.random.default_rng(0).standard_normal
    arguments = [xt.array(draw((2, 24, 8)).astype("f4"), ("head", dim, "feature")) for dim in ("query", "key", "key")]
    with xt.profile() as p:
        explorer.function(*arguments)
    data = explorer.function.explore(*arguments, profile=p, path=tmp_path / "page.html").data
    groups = data["groups"]
    context = browser.new_context(viewport={"width": 1200, "height": 700}, offline=True)
    page = context.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: wrong.append(message.text))
    page.goto((tmp_path / "page.html").as_uri())
    page.get_by_role("tab", name="groups").click()
    assert page.locator("#phase").is_hidden()
    rows = page.locator("#groups .group")
    assert rows.locator(".name").all_inner_texts() == [node["name"] for node in groups["nodes"]]
    assert groups["nodes"][0]["cells"][0] in rows.first.inner_text()
    drawn = page.locator("#groups path").evaluate_all("paths => paths.map((path) => path.dataset.edge)")
    assert drawn == [f"{a} {b}" for a, b in groups["edges"]]
    rows.last.click()
    lines = {line for _, line in groups["nodes"][-1]["at"]}
    assert shown(page, "source") == sorted(lines)
    assert "writes the results" in page.locator("#status").inner_text()
    page.keyboard.press("ArrowUp")
    assert page.locator("#groups .here").get_attribute("id") == f"groups-{len(groups['nodes']) - 2}"
    check_access(page)
    page.keyboard.press("ArrowLeft")
    assert page.locator("#phase").is_visible()
    assert page.locator("#tabs [aria-selected=true]").inner_text().startswith("asm")
    context.close()
    assert not wrong


def test_search_and_marks_are_those_of_the_tab_that_is_shown(page: Page, explorer: Any) -> None:
    texts = [each["text"] for each in explorer.data["memory"]["temporaries"]]
    status, found = page.locator("#status"), page.locator("#found")
    line = click_source(page, "scaled = xt.exp")
    page.get_by_role("tab", name="memory").click()
    hits = [i for i, each in enumerate(explorer.data["memory"]["temporaries"]) if [0, line] in each["at"]]
    plural = "box" if len(hits) == 1 else "boxes"
    assert status.inner_text() == f"program.py:{line}: {len(hits)} {plural} of memory"
    assert page.locator("#tabs [aria-selected=true] .count").inner_text() == str(len(hits))
    page.keyboard.press("n")
    assert status.inner_text() == texts[hits[0]]
    assert page.locator("#memory .here").get_attribute("id") == f"memory-{hits[0]}"
    page.keyboard.press("Escape")
    assert status.inner_text().startswith("Click a line")

    page.keyboard.press("/")
    page.keyboard.type("F32[")
    wanted = [i for i, text in enumerate(texts) if "f32[" in text]
    assert wanted and found.inner_text() == f"{len(wanted)} place" + "s" * (len(wanted) != 1)
    page.keyboard.press("Enter")
    assert found.inner_text() == f"1 of {len(wanted)}" and status.inner_text() == texts[wanted[0]]
    assert page.locator("#memory mark").count() == len(wanted)
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.id") == "memory"
    assert page.locator("#search").input_value() == "F32["
    page.get_by_role("tab", name="linalg").click()
    (linalg,) = [p["lines"] for p in explorer.data["phases"] if p["name"] == "linalg"]
    count = sum("f32[" in text.lower() for text in linalg)
    assert found.inner_text() == f"{count} line" + "s" * (count != 1)
    page.locator("#search").fill("")
    assert found.inner_text() == "" and page.locator("mark").count() == 0


def test_only_phases_are_compared(page: Page) -> None:
    page.get_by_role("tab", name="linalg").click()
    page.get_by_label("Compare with").select_option("differentiated")
    page.get_by_role("tab", name="memory").click()
    assert page.get_by_label("Compare with").is_disabled()
    page.get_by_role("tab", name="grouped").click()
    page.get_by_label("Compare with").select_option("nothing")
    assert page.locator("#tabs [aria-selected=true]").inner_text() == "grouped"
    assert page.locator("#phase .added").count() == 0


def test_a_phone_shows_all_controls(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    for control in ("#compare", "#search", "#theme", "#status"):
        box = page.locator(control).bounding_box()
        assert box and box["x"] >= 0 and box["x"] + box["width"] <= 390 and box["width"] > 40
    line = click_source(page, CONTRACT)
    assert page.locator("#status").inner_text().startswith(f"program.py:{line}: ")


def test_memory_shows_where_temporaries_lie(page: Page, explorer: Any) -> None:
    memory = explorer.data["memory"]
    page.get_by_role("tab", name="memory").click()
    assert page.locator("#phase").is_hidden()
    assert memory["summary"] in page.locator("#memory").inner_text()
    boxes, plan = page.locator("#memory .temporary"), page.locator("#memory .plan").bounding_box()
    assert boxes.count() == len(memory["temporaries"])
    assert plan
    for i, each in enumerate(memory["temporaries"]):
        found = boxes.nth(i).bounding_box()
        assert found
        assert found["x"] - plan["x"] == pytest.approx(plan["width"] * each["begin"] / memory["steps"], abs=3)
        assert plan["y"] + plan["height"] - found["y"] - found["height"] == pytest.approx(
            plan["height"] * each["offset"] / memory["arena"], abs=3
        )
    boxes.last.click()
    assert shown(page, "source") == sorted({line for _, line in memory["temporaries"][-1]["at"]})
    assert page.locator("#status").inner_text() == memory["temporaries"][-1]["text"]
    page.keyboard.press("ArrowUp")
    assert page.locator("#memory .here").get_attribute("id") == f"memory-{len(memory['temporaries']) - 2}"
    check_access(page)
    page.keyboard.press("ArrowLeft")
    assert page.locator("#phase").is_visible()
