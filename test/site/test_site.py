"""The built site (make site) in Chromium: what a reader clicks, types and copies."""

from __future__ import annotations

import functools
import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest
import xtensor
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

SITE = Path(__file__).resolve().parents[2] / "build" / "site" / "html"
# A page of each kind: the first one, a guide with outputs, a table, functions, IR, a source.
PAGES = [
    "index.html", "docs/semantics.html", "docs/xarray.html", "reference/windows.html", "docs/how_it_works.html",
    "docs/install.html", "examples/kalman.html", "docs/tour.html", "reference/reductions.html",
    "_modules/xtensor/ops/windows.html",
]  # fmt: skip


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Search reads an index, which a browser does not load from files."""
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(SITE))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    context = browser.new_context(base_url=address, permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("response", lambda r: wrong.append(f"{r.status} {r.url}") if r.status >= 400 else None)
    page.on("request", lambda r: None if r.url.startswith((address, "data:")) else wrong.append(f"asks for {r.url}"))
    yield page
    context.close()
    assert not wrong


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("segment_sum", "reference/labels-and-groups.html"),
        ("duplicate positions", "docs/updates.html"),
        ("conv2d", "reference/other-names.html"),
        ("GPU", "docs/devices.html"),
        ("proxy", "docs/install.html"),
    ],
)
def test_search_finds(page: Page, words: str, found: str) -> None:
    page.goto("/index.html")
    page.keyboard.press("Control+k")
    page.keyboard.type(words)
    page.keyboard.press("Enter")
    link = page.locator(f"ul.search a[href*='{found}']").first
    link.wait_for()
    link.click()
    page.wait_for_url(f"**/{found}*")


def test_pages_for_users_come_first(page: Page) -> None:
    page.goto("/search.html?q=GPU")
    page.locator("ul.search a[href*='docs/decisions.html']").first.wait_for()
    found = [link.get_attribute("href") or "" for link in page.locator("ul.search li > a").all()]
    places = [
        next(i for i, link in enumerate(found) if f"docs/{name}.html" in link) for name in ("devices", "decisions")
    ]
    assert places == sorted(places)


def test_the_copied_program_runs_and_prints_what_stands_below_it(page: Page) -> None:
    page.goto("/index.html")
    block = page.locator("div.highlight-python").first
    block.hover()
    block.locator("button.copybtn").click()
    page.wait_for_timeout(200)
    program = page.evaluate("navigator.clipboard.readText()")
    *body, last = program.rstrip().splitlines()
    done = subprocess.run([sys.executable, "-c", "\n".join([*body, f"print({last.split('#')[0]})"])],
                          capture_output=True, text=True, check=True)  # fmt: skip
    assert done.stdout.strip() == page.locator("div.output pre").first.inner_text().strip()
    assert page.locator("div.output button.copybtn").count() == 0


def test_an_example_is_copied_without_prompts_and_output(page: Page) -> None:
    page.goto("/reference/reductions.html")
    block = page.locator("dl:has(dt[id='xt.sum']) div.highlight-pycon").first
    block.hover()
    block.locator("button.copybtn").click()
    page.wait_for_timeout(200)
    line, shown = block.locator("pre").inner_text().split("\n", 1)
    copied = page.evaluate("navigator.clipboard.readText()").rstrip()
    assert line == f">>> {copied}"
    assert shown.strip() == str(eval(copied, {"xt": xtensor}))


def test_a_name_in_the_text_leads_to_the_function_and_its_source(page: Page) -> None:
    page.goto("/docs/scale.html")
    page.get_by_role("link", name="xt.gather", exact=True).first.click()
    page.wait_for_url("**/reference/several-processes.html#xt.gather")
    page.locator("dt[id='xt.gather'] a:has-text('[source]')").click()
    assert "def gather(" in page.locator("[id='gather']").first.inner_text()


@pytest.mark.parametrize(
    ("name", "family", "defined"),
    [("xt.exp", "elementwise-of-one-array", "exp = "), ("xt.linalg.eigh", "linear-algebra", "def eigh(")],
)
def test_a_function_has_its_full_name_and_its_source(page: Page, name: str, family: str, defined: str) -> None:
    page.goto(f"/reference/{family}.html")
    entry = page.locator(f"dt[id='{name}']")
    assert entry.inner_text().startswith(f"{name}(")
    entry.locator("a:has-text('[source]')").click()
    assert defined in page.locator(f"[id='{name.rpartition('.')[2]}']").first.inner_text()


def test_every_function_of_the_reference_has_a_source(page: Page) -> None:
    lacking = []
    for family in sorted((SITE / "reference").glob("*.html")):
        if family.stem in ("array", "dialect", "index") or family.stem.startswith("passes-"):
            continue
        page.goto(f"/reference/{family.name}")
        lacking += page.eval_on_selector_all(
            "dl.py > dt[id]", "all => all.filter(e => !e.querySelector('.viewcode-link')).map(e => e.id)"
        )
    assert lacking == []


class Anchors(HTMLParser):
    """The places of a page to which links may lead, and its links and pictures."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.places, self.links = set[str](), list[str]()
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = dict(attributes)
        self.places.add(found.get("id") or "")
        self.links += [link for link in (found.get("href"), found.get("src")) if link and tag in ("a", "img")]


def test_every_link_leads_somewhere() -> None:
    pages = {path: Anchors(path) for path in SITE.rglob("*.html")}
    lost = set()
    for path, page in pages.items():
        for link in page.links:
            address = urlparse(link)
            if address.scheme or address.netloc:
                continue
            target = (path.parent / unquote(address.path)).resolve() if address.path else path
            is_place = target not in pages or unquote(address.fragment) in {*pages[target].places, ""}
            if not target.exists() or not is_place:
                lost.add(f"{path.relative_to(SITE)}: {link}")
    assert len(pages) > 100 and lost == set()


def test_no_link_is_called_as_a_file() -> None:
    named = re.compile(r"<a [^>]*>(?:<[^>]*>)*[\w/]+\.md(?:<[^>]*>)*</a>")
    found = [(p.name, named.findall(p.read_text())) for p in sorted((SITE / "docs").glob("*.html"))]
    assert [(name, links) for name, links in found if links] == []


def test_the_ops_of_the_dialect_stand_below_their_families(page: Page) -> None:
    page.goto("/reference/dialect.html")
    assert "[TOC]" not in page.locator("article").inner_text()
    assert page.locator("section#elementwise-ops section").count() > 50


def test_an_output_is_shown_once(page: Page) -> None:
    page.goto("/docs/debugging.html")
    assert page.locator("article").inner_text().count("x = 1.500000, error = 2.5e-01") == 1


@pytest.mark.parametrize("program", sorted(p.stem for p in (SITE / "examples").glob("*.html")))
def test_a_program_of_the_gallery_shows_what_it_prints_and_draws(page: Page, program: str) -> None:
    page.goto(f"/examples/{program}.html")
    assert all(text.strip() for text in page.locator("div.output pre").all_inner_texts())
    assert page.locator("div.output").count() >= 1
    picture = page.locator("article img")
    assert picture.count() == 1
    assert picture.evaluate("image => image.decode().then(() => image.naturalWidth)") > 300
    assert picture.get_attribute("alt")


def test_tabs_show_one_way_at_a_time(page: Page) -> None:
    page.goto("/docs/install.html")
    titles = page.locator(".sd-tab-set > label")
    assert titles.all_inner_texts() == ["Debian 12 and 13", "Other systems", "A source distribution"]
    shown = page.locator(".sd-tab-content:visible")
    assert shown.count() == 1 and "make setup" in shown.inner_text()
    titles.nth(1).click()
    assert shown.count() == 1 and "pip install ." in shown.inner_text()
    page.keyboard.press("ArrowRight")  # the tabs are one group of radio buttons
    assert "make sdist" in shown.inner_text()
    block = shown.locator("div.highlight").first
    block.hover()
    block.locator("button.copybtn").click()
    page.wait_for_timeout(200)
    assert page.evaluate("navigator.clipboard.readText()").strip() == "make sdist"


def test_other_versions_are_one_click_away(page: Page) -> None:
    page.goto("/docs/tour.html")
    page.locator("button.version-switcher__button:visible").click()
    entries = page.locator(".version-switcher__menu:visible a")
    listed = json.loads((SITE / "versions.json").read_text())
    assert [entry.inner_text().strip() for entry in entries.all()] == [version["name"] for version in listed]
    entries.first.click()
    assert urlparse(page.url).path == "/docs/tour.html"  # the same page of that version


def test_the_menu_of_versions_works_below_a_prefix(browser: Browser) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(SITE.parent))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page = browser.new_page()
        lost: list[str] = []
        page.on("response", lambda r: lost.append(r.url) if r.status >= 400 else None)
        page.goto(f"http://127.0.0.1:{server.server_port}/{SITE.name}/docs/tour.html")
        page.locator("button.version-switcher__button:visible").click()
        page.locator(".version-switcher__menu:visible a").first.click()
        assert urlparse(page.url).path == f"/{SITE.name}/docs/tour.html" and lost == []
        page.close()
        server.shutdown()


def test_there_is_no_menu_of_versions_without_a_list(browser: Browser) -> None:
    page = browser.new_page()
    told: list[str] = []
    page.on("console", lambda message: told.append(message.text) if message.type == "error" else None)
    page.add_init_script("localStorage.setItem('mode', 'light')")  # else the theme tells that it chooses one
    page.goto((SITE / "docs" / "tour.html").as_uri())
    page.wait_for_timeout(300)
    assert page.locator(".version-switcher__button:visible").count() == 0 and told == []
    page.close()


def test_the_dark_theme_stays(page: Page) -> None:
    page.goto("/index.html")
    page.evaluate("localStorage.setItem('mode', 'dark'); localStorage.setItem('theme', 'dark')")
    page.goto("/docs/semantics.html")
    assert page.locator("html").get_attribute("data-theme") == "dark"
    red, green, blue = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
    assert max(red, green, blue) < 64


@pytest.mark.parametrize("width", [320, 360, 375])
@pytest.mark.parametrize("path", PAGES)
def test_a_phone_scrolls_in_one_direction(page: Page, path: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 700})
    page.goto(f"/{path}")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("path", PAGES)
def test_no_serious_barrier(page: Page, path: str, theme: str) -> None:
    page.goto(f"/{path}")
    page.evaluate("theme => document.documentElement.dataset.theme = theme", theme)
    page.wait_for_timeout(600)  # colours change gradually
    found = Axe().run(page, options={"preload": False})
    serious = [v for v in found.response["violations"] if v["impact"] in ("serious", "critical")]
    assert not serious, [(v["id"], [n["html"][:120] for n in v["nodes"][:3]]) for v in serious]
