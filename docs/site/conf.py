"""Sphinx's settings for the site. scripts/build_site.py writes the pages that Sphinx reads, and calls Sphinx."""

from __future__ import annotations

import re
import sys
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

import xtensor
from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

sys.path.insert(0, str(Path(__file__).parent))
from ir_lexer import IRLexer

# Functions are listed as users write them, xt.sum; viewcode imports the module of that name.
sys.modules["xt"] = xtensor

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
myst_enable_extensions = ["colon_fence"]

html_theme = "pydata_sphinx_theme"
html_title = f"xtensor {version.partition('+')[0]}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": True,
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
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
    name = re.compile(r"(xt(?:\.[a-z]\w*)+)(?:\(.*\))?")

    def apply(self, **kwargs: Any) -> None:
        for literal in list(self.document.findall(nodes.literal)):
            found = self.name.fullmatch(literal.astext())
            if found is None or isinstance(literal.parent, (nodes.reference, nodes.title, pending_xref)):
                continue
            link = pending_xref("", refdomain="py", reftype="obj", reftarget=found[1], refexplicit=True)
            link["refdoc"] = self.env.docname
            literal.replace_self(link)
            link += literal


def leave_as_text(app: Sphinx, env: Any, node: pending_xref, content: nodes.Element) -> nodes.Element | None:
    """What has no entry, such as xt.Error or the name of an example, stays as it is: it is no broken link."""
    return content if node["refdomain"] == "py" and node["reftarget"].startswith("xt.") else None


def setup(app: Sphinx) -> None:
    app.add_lexer("mlir", IRLexer)
    app.add_transform(LinkFunctions)
    app.connect("missing-reference", leave_as_text)
