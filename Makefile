# Thin on purpose: set-up is scripts/setup.sh, everything else is one line.
PYTHON := .venv/bin/python
BUILD  := build/Release
# What the installed package is made of: a change in any of it installs again.
INPUTS := $(shell find CMakeLists.txt cmake compiler dialects passes pyfrontend pyproject.toml runtime \
            scripts tools -type f -not -name '*.md' -not -path '*/__pycache__/*' 2>/dev/null)

.PHONY: setup demo test bench lint asan docs
setup: .venv/.installed

.venv/.installed: $(INPUTS)
	scripts/setup.sh

demo: setup
	$(PYTHON) examples/digits.py

test: setup
	.venv/bin/lit -q test
	$(PYTHON) -m pytest -q

bench: setup
	$(PYTHON) benchmarks/run.py

lint: setup
	scripts/lint.sh

asan: setup
	scripts/asan.sh

docs: setup
	scripts/docs.sh
