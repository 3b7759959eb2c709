"""Colours for IR in MLIR's syntax, which Pygments does not know."""

from __future__ import annotations

from pygments.lexer import RegexLexer, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text


class IRLexer(RegexLexer):
    name = "MLIR"
    aliases = ("mlir",)
    tokens = {  # noqa: RUF012 (the type that Pygments gives it)
        "root": [
            (r"\s+", Text),
            (r"//.*", Comment.Single),
            (r'"[^"\n]*"', String),
            (r"%[\w$.#-]+", Name.Variable),
            (r"@[\w$.-]+", Name.Function),
            (r"\^\w+", Name.Label),
            (r"[#!][\w.$-]+", Name.Decorator),
            (words(("func.func", "module", "return"), suffix=r"\b"), Keyword),
            (r"[A-Za-z_]\w*\.[\w.]+", Keyword),
            (r"(?:[fiu]|bf|si|ui)\d+\b|\bindex\b|\b(?:tensor|memref|vector)\b", Keyword.Type),
            (r"0x[0-9a-fA-F]+|-?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?", Number),
            (r"->|==>|[=:+*?]", Operator),
            (r"[{}()\[\]<>,]", Punctuation),
            (r"[A-Za-z_]\w*", Name),
            (r".", Text),
        ]
    }
