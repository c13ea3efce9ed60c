# experiments/places.sh - sourced by scripts that are called with BUNDLE OUT: sets root, bundle, out and apo, and has the bundle's
# program find its libraries, this checkout and the journal in OUT; says, of a candidate of the zoo; and row, of a table of cases.
# The usage is line 2 of the script.
# shellcheck shell=bash disable=SC2034  # for those who source this
root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
usage=$(sed -n '2s/^# \(.*\) - .*/usage: \1/p' "$0")
bundle=$(readlink -f "${1:?$usage}")
mkdir -p "${2:?$usage}"
out=$(readlink -f "$2")
apo=$bundle/apo
export LD_LIBRARY_PATH=$bundle/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} APO_HOME=$root APO_JOURNAL=$out/journal.db

# says FILE KEY: the words behind KEY in a file of tests/zoo, which has lines "// zoo: KEY WORDS; KEY WORDS".
says() { sed -n 's|^// zoo: ||p' "$1" | sed 's/; */\n/g' | sed -n "s/^$2 //p" | head -1; }

# row NAME WORDS COMMAND...: a row of a table of cases; the output has to hold the words, else it says NO, with more of the output.
row() {
  local name=$1 words=$2 verdict=yes lines=3 text start
  shift 2
  start=$(date +%s%N)
  text=$(timeout "${ROW_LIMIT:-150}" "$@" 2>&1)
  [[ $text == *"$words"* ]] || { verdict=NO && lines=9; }
  printf '| %s | %s | %s | %s | %s |\n' "$name" "$words" "$verdict" "$(tail -$lines <<<"$text" | tr '|\n' '/ ' | cut -c 1-$((lines * 90)))" \
    "$(awk "BEGIN { printf \"%.1f\", $(($(date +%s%N) - start)) / 1e9 }")"
}
