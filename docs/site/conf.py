"""Sphinx's settings for the site. scripts/build_site.py writes the pages that Sphinx reads, and calls Sphinx."""

from __future__ import annotations

import ast
import functools
import re
import sys
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

import xtensor
from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.pycode import ModuleAnalyzer
from sphinx.transforms import SphinxTransform

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))
import list_functions
import reference
from ir_lexer import IRLexer

# Functions are listed as users write them, xt.sum; viewcode imports the module of that name.
sys.modules["xt"] = xtensor
for _room in list_functions.ROOMS:
    sys.modules[f"xt.{_room}"] = getattr(xtensor, _room)

project = "xtensor"
author = "the authors of xtensor"
version = release = version_of("xtensor-mlir")
extensions = ["myst_parser", "sphinx.ext.viewcode", "sphinx_copybutton", "sphinx_design"]
root_doc = "index"
nitpicky = True
smartquotes = False  # docstrings hold code without marks
python_use_unqualified_type_names = True
viewcode_line_numbers = True

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "fieldlist"]

html_theme = "pydata_sphinx_theme"
html_title = f"xtensor {version.partition('+')[0]}"
html_static_path = ["static"]
html_extra_path = ["versions.json"]
html_css_files = ["site.css"]
html_js_files = ["versions.js"]
html_search_scorer = str(Path(__file__).parent / "scorer.js")  # Sphinx opens it from where it is started
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": True,
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "logo": {"text": project},  # without the version: a phone has room for one word beside the buttons
    "navbar_end": ["version-switcher", "theme-switcher", "navbar-icon-links"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}
copyright = "the authors of xtensor; Apache-2.0 with LLVM exceptions"
copybutton_selector = "div:not(.output *) > div.highlight > pre"
# Of an example in a docstring, the lines of code are copied, without prompts.
copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True


class LinkFunctions(SphinxTransform):
    """`xt.sum` in the text of a page becomes a link to the reference of xt.sum, if there is one."""

    default_priority = 999
    name = re.compile(r"(xt(?:\.[A-Za-z]\w*)+)(?:\(.*\))?")

    def apply(self, **kwargs: Any) -> None:
        for literal in list(self.document.findall(nodes.literal)):
            found = self.name.fullmatch(literal.astext())
            if found is None or isinstance(literal.parent, (nodes.reference, nodes.title, pending_xref)):
                continue
            link = pending_xref("", refdomain="py", reftype="obj", reftarget=found[1], refexplicit=True)
            link["refdoc"] = self.env.docname
            literal.replace_self(link)
            link += literal


def source_of(app: Sphinx, module: str) -> tuple[str, dict[str, tuple[str, int, int]]] | None:
    """The source of a module, and the lines of its definitions. Sphinx itself does not find what an assignment defines,
    such as `exp = _unary(..)`."""
    if not module.startswith("xtensor"):
        return None
    analyzer = ModuleAnalyzer.for_module(module)
    analyzer.find_tags()
    tags = dict(analyzer.tags)
    for statement in ast.parse(analyzer.code).body:
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            for name in (target for target in targets if isinstance(target, ast.Name)):
                tags.setdefault(name.id, ("def", statement.lineno, statement.end_lineno or statement.lineno))
    # Members are listed below the class that users meet, Array.sum, and are defined in another one, ArrayMethods.sum.
    for name, (where, qualified) in reference.sources_of_members().items():
        if where == module and qualified in tags:
            tags.setdefault(name, tags[qualified])
    return analyzer.code, tags


@functools.cache
def assigned() -> dict[str, str]:
    """The modules of functions that assignments define. Their `__module__` is that of the function that made them."""
    found = {}
    for path in sorted((Path(xtensor.__file__).parent / "ops").glob("*.py")):
        for statement in ast.parse(path.read_text()).body:
            if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
                for target in statement.targets:
                    found[ast.unparse(target)] = f"xtensor.ops.{path.stem}"
    return found


def module_of(app: Sphinx, module: str, name: str) -> str | None:
    """The module that defines a function of the reference; None: Sphinx finds it."""
    if module != "xt" and not module.startswith("xt."):
        return None
    member = reference.sources_of_members().get(f"{module}.{name}".removeprefix("xt."))
    return member[0] if member else assigned().get(name)


BACK = re.compile(r'(class="viewcode-back" href="[./]*([\w/-]+)\.html#)([\w.]+)"')


def correct_links_back(app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """The page of a source leads back to the reference. For Sphinx, all functions of one file have one room; we have
    files whose functions are in two: xt.signal and xt.nn."""
    if not pagename.startswith("_modules/"):
        return
    listed = app.env.domains.python_domain.objects

    def corrected(link: re.Match[str]) -> str:
        last = link[3].rpartition(".")[2]
        here = [full for full, entry in listed.items() if entry.docname == link[2] and full.rpartition(".")[2] == last]
        return f'{link[1]}{link[3] if link[3] in here or not here else here[0]}"'

    context["body"] = BACK.sub(corrected, context["body"])


def leave_as_text(app: Sphinx, env: Any, node: pending_xref, content: nodes.Element) -> nodes.Element | None:
    """What has no entry, such as xt.Error or the name of an example, stays as it is: it is no broken link."""
    return content if node["refdomain"] == "py" and node["reftarget"].startswith("xt.") else None


def setup(app: Sphinx) -> None:
    app.add_lexer("mlir", IRLexer)
    app.add_transform(LinkFunctions)
    app.connect("missing-reference", leave_as_text)
    app.connect("viewcode-find-source", source_of)
    app.connect("viewcode-follow-imported", module_of)
    app.connect("html-page-context", correct_links_back)
