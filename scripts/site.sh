#!/usr/bin/env bash
# The documentation site, in build/site/html. scripts/build_site.py runs the Python of each page and
# fails where a page promises something else. test/site then reads the site in Chromium, as a user
# would. Installs what both need.
set -euo pipefail
cd "$(dirname "$0")/.."
stamp=.venv/.installed-requirements-site.txt
if ! cmp -s scripts/requirements-site.txt "$stamp"; then
  .venv/bin/python -m pip install -q --disable-pip-version-check -r scripts/requirements-site.txt
  cp scripts/requirements-site.txt "$stamp"
fi
.venv/bin/python scripts/check_links.py
.venv/bin/python scripts/build_site.py
if ! command -v chromium >/dev/null; then
  if [ "$(id -u)" != 0 ]; then
    echo "The site is built, and not tested: Chromium is missing. As root: apt-get install chromium" >&2
    exit 0
  fi
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null
fi
exec .venv/bin/python -m pytest -q -p no:cacheprovider test/site
