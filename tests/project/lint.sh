#!/usr/bin/env bash
# tests/project/lint.sh BUILD_FOLDER [JOBS [changed]] - clang-tidy over the sources, on all cores or JOBS, or over those that
# changed.sh names. What passed is remembered in BUILD_FOLDER/lint under a hash of all that its verdict depends on.
# Most of the time goes to headers, so that libraries that compile as one are checked as one. Left out: the tests, and
# harness/cli for the cost of CLI11's templates.
set -euo pipefail
root=$(dirname "$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")")
build=$(readlink -f "$1")
cache=$build/lint
mkdir -p "$cache"
export root build cache

# "SOURCE DEPENDENCY" lines for every file of ours that went into an object, as the compiler told ninja.
ninja -C "$build" -t deps | awk -v root="$root/" -v build="$build/" '
  function absolute(path) {  # ccache may have made it relative to the build folder
    if (path !~ /^\//) path = build path
    while (sub(/\/[^\/]+\/\.\.\//, "/", path));
    return path
  }
  /^[^ ].*: #deps/ { source = ""; next }
  NF == 1 { path = absolute($1); if (source == "") source = path; if (index(path, root) == 1 || index(path, build) == 1) print source, path }' >"$cache/dependencies"

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

tidy() {
  local file=$1
  shift
  # The commands are GCC's: clang knows not all of its warnings, optimisations, parameters and pragmas.
  clang-tidy --config-file="$root/.clang-tidy" --quiet --extra-arg=-Wno-unknown-warning-option \
    --extra-arg=-Wno-ignored-optimization-argument --extra-arg=-Wno-unused-command-line-argument --extra-arg=-Wno-unknown-pragmas "$file" "$@" 2>&1
}

flags_of() {
  for source; do grep -F -B 1 "\"file\": \"$source\"" "$build/compile_commands.json"; done |
    grep -o -E -e ' (-isystem |-I|-D|-std=)[^ ]+' | sed 's/^ //; s/^-isystem /-isystem/; s/\\\+"/"/g' | awk '!seen[$0]++'
}

lint() {
  local key
  key=$(verdict_key "$1")
  [ -n "$key" ] && [ -e "$cache/$key" ] && return 0
  if output=$(tidy "$1" -p "$build"); then
    [ -z "$key" ] || touch "$cache/$key"
  else
    printf '%s\n' "$output" | grep -v 'warnings generated' >&2
    return 1
  fi
}

# Sources as one, with the include folders and macros of all of them. What is not clean so is checked one by one, which
# says where, and finds nothing where only a name of two unnamed namespaces clashes.
lint_joined() {
  [ $# -gt 1 ] || { lint "$1"; return; }
  local key keys='' source joined flags failed=0
  for source; do
    key=$(verdict_key "$source")
    [ -n "$key" ] || { keys=''; break; }
    keys+=$key
  done
  key=''
  [ -z "$keys" ] || key=$(sha256sum <<<"joined $keys" | cut -d' ' -f1)
  [ -n "$key" ] && [ -e "$cache/$key" ] && return 0
  joined=$cache/joined_$(sha256sum <<<"$*" | cut -c1-8).cpp
  printf '#include "%s"\n' "$@" >"$joined"
  mapfile -t flags < <(flags_of "$@")
  if tidy "$joined" -- "${flags[@]}" >/dev/null; then
    [ -z "$key" ] || touch "$cache/$key"
    return 0
  fi
  for source; do
    lint "$source" || failed=1
  done
  [ $failed = 0 ] && echo "lint: these no longer compile as one, which costs time: $*" >&2
  return $failed
}

# A file by itself, with the flags of the source that it was compiled in.
lint_within() { # FILE SOURCE
  local key flags output
  key=$(verdict_key "$2" | sha256sum - <(echo "$1") | sha256sum | cut -d' ' -f1)
  [ -e "$cache/$key" ] && return 0
  mapfile -t flags < <(flags_of "$2")
  if output=$(tidy "$1" -- -x c++ "${flags[@]}"); then
    touch "$cache/$key"
  else
    printf '%s\n' "$output" | grep -v 'warnings generated' >&2
    return 1
  fi
}
export -f verdict_key tidy flags_of lint lint_joined lint_within

sed -n 's/^ *"file": "\(.*\)",\{0,1\}$/\1/p' "$build/compile_commands.json" |
  { grep -F -e "$root/" -e "$build/" || true; } | { grep -v -F -e "$root/tests/" -e "$build/tests/" -e /harness/cli/ || true; } | sort -u >"$cache/sources"
[ -s "$cache/sources" ] || { echo "lint: no sources of $root in $build/compile_commands.json" >&2; exit 2; }

if [ "${3:-}" = changed ]; then
  "$root/tests/project/changed.sh" | awk -v root="$root/" '
    FILENAME == "-" { changed[root $0]; next }
    FILENAME ~ /sources$/ { linted[$1]; next }
    $2 in changed && $1 in linted { print $2, $1; delete changed[$2] }' - "$cache/sources" "$cache/dependencies" >"$cache/changed"
  # Each file reads the headers anew: of many, all are checked as they are joined.
  if [ "$(wc -l <"$cache/changed")" -le 40 ]; then
    xargs --max-procs="$2" -d '\n' -I{} bash -c 'lint_within {}' <"$cache/changed"
    echo "lint: $(wc -l <"$cache/changed") changed files are clean"
    exit
  fi
fi

# One pattern a line: the sources that match are checked as one; the rest, and what needs flags of its own, one by one. (The
# presets dev and debug compile every file alone, for a change of a line; it is checked so, too.)
joined='/apo_(evaluate|runtime|implement|kernels)(_computing)?[.]dir/
/apo_(worker|executor|recorder)[.]dir/|/kernels/e88/backward[.]cpp|/journal/query/sql[.]cpp
/apo_(families|profile|reports|journal)[.]dir/
/apo_(core|research)[.]dir/
/apo_loop[.]dir/'
grep -q -F /Unity/ "$cache/sources" || joined=
awk -v patterns="$joined" 'BEGIN { count = split(patterns, pattern, "\n") }
  { for (i = 1; i <= count && $0 !~ pattern[i]; ++i); if (i > count || /roof_kernels_/) print; else unit[i] = unit[i] " " $0 }
  END { for (i = 1; i <= count; ++i) if (unit[i] != "") print substr(unit[i], 2) }' "$cache/sources" >"$cache/units"
xargs --max-procs="${2:-$(nproc)}" -d '\n' -I{} bash -c 'lint_joined {}' <"$cache/units"
echo "lint: $(wc -l <"$cache/sources") translation units are clean"
