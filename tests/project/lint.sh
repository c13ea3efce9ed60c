#!/usr/bin/env bash
# tests/project/lint.sh BUILD_FOLDER [JOBS] - clang-tidy over the sources, on all cores or JOBS. What passed is remembered in
# BUILD_FOLDER/lint under a hash of all that its verdict depends on, so that only what changed is checked again.
# What is compiled as one is checked as one. Left out: the tests, and harness/cli for the cost of CLI11's templates.
set -euo pipefail
root=$(dirname "$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")")
build=$(readlink -f "$1")
cache=$build/lint
mkdir -p "$cache"
export root build cache

# "SOURCE DEPENDENCY" lines for every file of ours that went into an object, as the compiler told ninja.
ninja -C "$build" -t deps | awk -v root="$root/" -v build="$build/" '
  /^[^ ].*: #deps/ { source = ""; next }
  NF == 1 { if (source == "") source = $1; if (index($1, root) == 1 || index($1, build) == 1) print source, $1 }' >"$cache/dependencies"

export settings
settings=$(cat "$root/.clang-tidy" && clang-tidy --version)

# Prints nothing for a source that was not built yet: then nobody knows what it depends on.
verdict_key() {
  local files
  files=$(awk -v source="$1" '$1 == source { print $2 }' "$cache/dependencies" | sort -u)
  [ -n "$files" ] || return 0
  { printf '%s\n' "$settings"
    grep -F -B 2 "\"file\": \"$1\"" "$build/compile_commands.json"
    xargs sha256sum <<<"$files"
  } | sha256sum | cut -d' ' -f1
}

lint() {
  local key
  key=$(verdict_key "$1")
  [ -n "$key" ] && [ -e "$cache/$key" ] && return 0
  # The commands are GCC's: clang knows not all of its warnings and optimisations.
  if output=$(clang-tidy -p "$build" --config-file="$root/.clang-tidy" --quiet --extra-arg=-Wno-unknown-warning-option \
    --extra-arg=-Wno-ignored-optimization-argument "$1" 2>&1); then
    [ -z "$key" ] || touch "$cache/$key"
  else
    printf '%s\n' "$output" | grep -v 'warnings generated' >&2
    return 1
  fi
}
export -f verdict_key lint

sed -n 's/^ *"file": "\(.*\)",\{0,1\}$/\1/p' "$build/compile_commands.json" |
  { grep -F -e "$root/" -e "$build/" || true; } | { grep -v -F -e "$root/tests/" -e "$build/tests/" -e /harness/cli/ || true; } | sort -u >"$cache/sources"
[ -s "$cache/sources" ] || { echo "lint: no sources of $root in $build/compile_commands.json" >&2; exit 2; }
xargs --max-procs="${2:-$(nproc)}" -I{} bash -c 'lint {}' <"$cache/sources"
echo "lint: $(wc -l <"$cache/sources") translation units are clean"
