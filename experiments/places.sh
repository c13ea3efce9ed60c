# experiments/places.sh - sourced by scripts that are called with BUNDLE OUT: sets root, bundle, out and apo, and has the bundle's
# program find its libraries, this checkout and the journal in OUT. The usage is line 2 of the script.
# shellcheck shell=bash disable=SC2034  # for those who source this
root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
usage=$(sed -n '2s/^# \(.*\) - .*/usage: \1/p' "$0")
bundle=$(readlink -f "${1:?$usage}")
mkdir -p "${2:?$usage}"
out=$(readlink -f "$2")
apo=$bundle/apo
export LD_LIBRARY_PATH=$bundle/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} APO_HOME=$root APO_JOURNAL=$out/journal.db
