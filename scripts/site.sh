#!/usr/bin/env bash
# The documentation site, in build/site/html. scripts/build_site.py runs the Python of each page and
# fails where a page promises something else. test/site then reads the site in Chromium, as a user
# would. Installs what both need.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh
python=.venv/bin/python
install_requirements scripts/requirements-site.txt
$python scripts/check_links.py
$python scripts/build_site.py
install_debian_packages chromium
exec $python -m pytest -q -p no:cacheprovider test/site
