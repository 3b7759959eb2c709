# Installs Debian's packages and Python's where they are missing; sourced by scripts/*.sh.

step() { printf '%4ds  %s\n' "$SECONDS" "$1"; }

# no_network WHAT HOW: after the messages of a program that could not fetch.
no_network() {
  echo "$1 could not be fetched: the messages above say why. Is there a network, or a proxy?" >&2
  echo "$2." >&2
  exit 1
}

# keep_version: pip's build asks twice for the version, which a commit or a changed file would alter in between.
keep_version() {
  SETUPTOOLS_SCM_PRETEND_VERSION=$(.venv/bin/python -m setuptools_scm)
  export SETUPTOOLS_SCM_PRETEND_VERSION
}

# install_requirements FILE: pip, unless this very file was installed before.
install_requirements() {
  local stamp=.venv/.installed-$(basename "$1")
  cmp -s "$1" "$stamp" && return
  step "Python packages: $1"
  .venv/bin/python -m pip install -q --disable-pip-version-check -r "$1" ||
    no_network "Python's packages" "pip reads https_proxy, and PIP_INDEX_URL for another index"
  cp "$1" "$stamp"
}

# missing PACKAGE ..: those of Debian's packages that are not there.
missing() {
  local package
  for package in "$@"; do
    case $package in
      # Any recent ones will do, wherever they come from.
      ccache | cmake) command -v $package >/dev/null && continue ;;
      ninja-build) command -v ninja >/dev/null && continue ;;
      xz-utils) command -v xz >/dev/null && continue ;;
      python3-venv) "$python" -c 'import ensurepip, venv' 2>/dev/null && continue ;;
      python3-dev)
        "$python" -c 'import os, sysconfig; os.stat(sysconfig.get_path("include") + "/Python.h")' \
          2>/dev/null && continue ;;
    esac
    [ "$(dpkg-query -W -f '${db:Status-Status}' $package 2>/dev/null)" = installed ] || echo "$package"
  done
}

# check_debian_packages PACKAGE ..: whether those that are missing can be installed.
check_debian_packages() {
  local wanted
  mapfile -t wanted < <(missing "$@")
  [ ${#wanted[@]} -gt 0 ] || return 0
  if ! command -v apt-get >/dev/null; then
    echo "These packages are missing, by their names in Debian, and there is no apt-get here:" >&2
    echo "    ${wanted[*]}" >&2
    echo "docs/install.md says how to build xtensor on other systems" >&2
    exit 1
  fi
  [ "$(id -u)" != 0 ] || return 0
  if ! command -v sudo >/dev/null || ! { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
    echo "These Debian packages are missing, and neither root nor sudo is at hand:" >&2
    echo "    ${wanted[*]}" >&2
    echo "Have them installed, then call make again:" >&2
    echo "    apt-get update && apt-get install --no-install-recommends ${wanted[*]}" >&2
    exit 1
  fi
}

as_root=()
[ "$(id -u)" = 0 ] || as_root=(sudo)

# update_debian_lists PACKAGE ..: once, if any of them is missing.
update_debian_lists() {
  [ -z "${updated:-}" ] && [ -n "$(missing "$@")" ] || return 0
  step "Debian's lists of packages"
  "${as_root[@]}" apt-get update -qq
  updated=1
}

# no_debian_packages: apt-get has said why it cannot install some.
no_debian_packages() {
  no_network "Debian's packages" "apt-get reads the setting Acquire::http::Proxy, and mirrors from /etc/apt"
}

# check_changes PACKAGE ..: ends if packages that are here would be upgraded or removed, unless
# XTENSOR_UPGRADE=1.
check_changes() {
  local plan changes
  [ "${XTENSOR_UPGRADE:-0}" != 1 ] || return 0
  plan=$(LC_ALL=C apt-get install --simulate --no-install-recommends "$@") || no_debian_packages
  # Of packages that are here apt-get prints the version in brackets: Inst libc6 [2.36-9] (2.36-10 ..),
  # Remv libc6 [2.36-9].
  changes=$(sed -n -e 's/^Inst \([^ ]*\) \[\([^]]*\)\] (\([^ ]*\).*/    \1: \2 becomes \3/p' \
    -e 's/^Remv \([^ ]*\) \[\([^]]*\)\].*/    \1 \2 is removed/p' <<<"$plan")
  [ -n "$changes" ] || return 0
  echo "The missing packages go together with other versions of packages that are here:" >&2
  echo "$changes" >&2
  echo "Make these changes yourself, or allow them: XTENSOR_UPGRADE=1 make .." >&2
  exit 1
}

# install_debian_packages PACKAGE ..: those of them that are not there.
install_debian_packages() {
  local wanted
  mapfile -t wanted < <(missing "$@")
  [ ${#wanted[@]} -gt 0 ] || return 0
  check_debian_packages "${wanted[@]}"
  update_debian_lists "${wanted[@]}"
  check_changes "${wanted[@]}"
  step "Debian packages: ${wanted[*]}"
  # Another apt, such as a daily update, may hold the lock for a while.
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 \
    install -y -qq --no-install-recommends "${wanted[@]}" >/dev/null || no_debian_packages
}
