#!/usr/bin/env bash
# Prepares this machine: Debian packages (12 or 13; root or sudo) and the Python environment .venv.
# Does only what is missing, so that a second run costs a fraction of a second.
#
#   tools/setup.sh                  what `make demo` and `make test` need
#   tools/setup.sh --sanitizers     and clang-19, for sanitizers and fuzzing
#   tools/setup.sh --format         and clang-format-19
#   tools/setup.sh --extra FILE     and the Python packages of FILE (a requirements file) in .venv
#   tools/setup.sh --packages-only  no .venv
set -euo pipefail
cd "$(dirname "$0")/.."

tags=' base ' venv=1 extras=()
while [ $# -gt 0 ]; do
  case $1 in
    --sanitizers | --format) tags+="${1#--} "; shift ;;
    --extra) extras+=("$2"); shift 2 ;;
    --packages-only) venv=0; shift ;;
    *) sed -n '2,10p' "$0" >&2; exit 2 ;;
  esac
done
say() { echo "setup: $*" >&2; }

# --- Debian packages
release=$(. /etc/os-release 2>/dev/null && echo "${ID:-}-${VERSION_ID:-}")
case $release in
  debian-12 | debian-13) debian=${release#debian-} ;;
  *)
    debian=13
    say "this is '$release', not Debian 12 or 13: trying the package names of Debian 13"
    ;;
esac

wanted_packages() {
  local name tag
  sed 's/#.*//' tools/packages.txt | while read -r name tag; do
    [ -n "$name" ] || continue
    case $tag in
      '' | "$debian") echo "$name" ;;
      12 | 13) ;;
      *) case $tags in *" $tag "*) echo "$name" ;; esac ;;
    esac
  done
}

missing_packages() {
  local name
  for name in "$@"; do
    case $(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null || true) in
      installed) ;;
      *) echo "$name" ;;
    esac
  done
}

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  else
    sudo "$@"
  fi
}

mapfile -t wanted < <(wanted_packages)
# One query for the usual case, in which nothing is missing.
if [ "$(dpkg-query -W -f '${db:Status-Status}\n' "${wanted[@]}" 2>/dev/null | grep -c '^installed$')" != "${#wanted[@]}" ]; then
  mapfile -t missing < <(missing_packages "${wanted[@]}")
  if [ "${#missing[@]}" -gt 0 ]; then
    if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
      say "these Debian packages are missing, and installing them needs root or sudo:"
      say "  apt-get install --no-install-recommends ${missing[*]}"
      exit 1
    fi
    say "installing ${#missing[@]} Debian packages"
    # sudo clears the environment: what apt needs of it is passed on by name.
    apt_env=(DEBIAN_FRONTEND=noninteractive)
    for name in http_proxy https_proxy no_proxy; do
      [ -z "${!name:-}" ] || apt_env+=("$name=${!name}")
    done
    as_root env "${apt_env[@]}" apt-get -qq -o DPkg::Lock::Timeout=300 update </dev/null
    as_root env "${apt_env[@]}" apt-get -qq -y --no-install-recommends -o DPkg::Lock::Timeout=300 \
      -o Dpkg::Options::=--force-unsafe-io -o Dpkg::Use-Pty=0 install "${missing[@]}" </dev/null >/dev/null
  fi
fi
[ "$venv" = 1 ] || exit 0

# --- Python
# The python3 first on PATH if it is new enough and has headers and venv, else Debian's.
usable_python() {
  "$1" - <<'P' 2>/dev/null
import ensurepip, os, sys, sysconfig, venv
sys.exit(not (sys.version_info >= (3, 11) and os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h"))))
P
}

stamp_of() { cat "$@" | sha256sum | cut -d' ' -f1; }
install_requirements() {
  local file=$1 stamp
  stamp=.venv/.installed-$(basename "$file" .txt)
  if [ -e "$stamp" ] && [ "$(cat "$stamp")" = "$(stamp_of "$file")" ]; then return; fi
  say "installing the Python packages of $file"
  .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-input -r "$file" </dev/null
  stamp_of "$file" >"$stamp"
}

# A moved or copied checkout has a .venv whose scripts name the old place.
if [ -e .venv ] && { ! .venv/bin/python -c '' 2>/dev/null || [ "$(cat .venv/.place 2>/dev/null)" != "$PWD" ]; }; then
  say ".venv does not work here: making it anew"
  rm -rf .venv
fi
if [ ! -e .venv ]; then
  python=''
  for candidate in python3 /usr/bin/python3; do
    if usable_python "$candidate"; then python=$candidate; break; fi
  done
  [ -n "$python" ] || { say "no Python 3.11 or newer with headers and venv (packages python3-dev, python3-venv)"; exit 1; }
  say "making .venv with $("$python" --version)"
  "$python" -m venv .venv
  echo "$PWD" >.venv/.place
fi
for file in tools/requirements-dev.txt ${extras[@]+"${extras[@]}"}; do install_requirements "$file"; done

# --- What the build leaves in build/release is what .venv runs: the package by a .pth line, the command by a link.
site=$(echo .venv/lib/python3*/site-packages)
pth=$site/rewardloop-build-tree.pth
[ "$(cat "$pth" 2>/dev/null)" = "$PWD/build/release/python" ] || echo "$PWD/build/release/python" >"$pth"
ln -sfn ../../build/release/bin/rewardloop .venv/bin/rewardloop
