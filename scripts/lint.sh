#!/usr/bin/env bash
# Formatting, lint and types, as CI checks them.
set -euo pipefail
cd "$(dirname "$0")/.."
.venv/bin/ruff check .
.venv/bin/ruff format --check .
git ls-files "*.c" "*.cpp" "*.h" | xargs -r clang-format-22 --dry-run --Werror
.venv/bin/mypy
.venv/bin/python scripts/check_imports.py
.venv/bin/python scripts/check_sizes.py
.venv/bin/python scripts/check_prose.py
