# cmake/setup.sh - sourced by ./apo, tests/run and .ci/run: installs missing Debian packages and builds a preset.
# Everything it prints goes to stderr, so that `apo ... --json` keeps stdout to itself.
# shellcheck shell=bash disable=SC2034  # the lists are for those who source this

apo_say() { printf 'apo: %s\n' "$*" >&2; }

# Needed to build and run the program; why each is in CONTRIBUTING.md.
APO_PACKAGES="g++ cmake python3 ninja-build libsqlite3-dev nlohmann-json3-dev libfmt-dev libspdlog-dev libcli11-dev libssl-dev libbenchmark-dev libboost-context-dev libseccomp-dev libelf-dev"
# Needed by the tests only.
APO_TEST_PACKAGES="libgtest-dev clang-format clang-tidy git chromium python3-numpy"

apo_installed() { dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q 'install ok installed'; }

# apo_install PACKAGE...: installs what is missing; says what and how.
apo_install() {
  local missing=() package runner=()
  if ! command -v dpkg-query >/dev/null; then
    apo_say "this is not a Debian system: please install the equivalents of: $*"
    return 0
  fi
  for package in "$@"; do
    apo_installed "$package" || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      apo_say "missing packages: ${missing[*]}"
      apo_say "this needs root and there is no sudo; as root run: apt-get install ${missing[*]}"
      return 2
    fi
    runner=(sudo)
  fi
  apo_say "installing ${missing[*]}"
  if ! { "${runner[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}" ||
    { "${runner[@]}" apt-get update -q &&
      "${runner[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"; }; } \
    >"$APO_BUILD/install.log" 2>&1; then
    tail -n 20 "$APO_BUILD/install.log" >&2
    apo_say "could not install ${missing[*]}; the whole log is $APO_BUILD/install.log"
    return 2
  fi
}

# apo_progress: copies a build's output, and on a terminal shows ninja's [n/m] on one line of stderr that is rewritten.
apo_progress() {
  [ -t 2 ] || exec cat
  local line shown=
  while IFS= read -r line || [ -n "$line" ]; do
    printf '%s\n' "$line"
    [[ $line =~ ^\[[0-9]+/[0-9]+\] ]] && shown=1 && printf '\rapo: building %s ' "${BASH_REMATCH[0]}" >&2
  done
  [ -z "$shown" ] || printf '\n' >&2
}

# apo_build PRESET TARGET...: configures and builds, quietly unless it fails.
apo_build() {
  local preset=$1 log=$APO_BUILD/build.log
  shift
  apo_say "building ($preset; the log is $log)"
  if ! (set -o pipefail && cd "$APO_ROOT" && { cmake --preset "$preset" && cmake --build --preset "$preset" --target "$@"; } 2>&1 |
    apo_progress >"$log"); then
    tail -n 40 "$log" >&2
    apo_say "the build failed; the whole log is $log"
    return 2
  fi
}

# apo_setup PRESET "PACKAGES" TARGET...: one set-up at a time in this checkout.
apo_setup() {
  local preset=$1 packages=$2
  shift 2
  APO_BUILD=$APO_ROOT/build
  if ! { mkdir -p "$APO_BUILD" && exec 9>"$APO_BUILD/.lock"; } 2>/dev/null; then
    apo_say "cannot write to $APO_BUILD: the program is built there"
    return 2
  fi
  if ! flock -n 9; then
    apo_say "another set-up is running in $APO_ROOT; waiting for it"
    flock 9
  fi
  # shellcheck disable=SC2086  # a list of words on purpose
  apo_install $packages && apo_build "$preset" "$@"
  local status=$?
  exec 9>&-
  return $status
}
