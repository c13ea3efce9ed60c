#!/usr/bin/env bash
# experiments/faults.sh BUNDLE OUT - every candidate of tests/zoo/cuda through `apo register` on a GPU machine.
#
# BUNDLE is from bundle.sh. Prints a markdown table, also to OUT/faults.md, and fails when a candidate gets another
# outcome than its file expects, or evidence without the words that its file names. OUT has to be new or empty.
set -u
. "$(dirname "$(readlink -f "$0")")/places.sh"
if [ -e "$out/journal.db" ]; then
  echo "$out holds the variants of an earlier run: name another folder" >&2
  exit 1
fi

says() { sed -n "s|^// zoo: $2 ||p" "$1" | head -1; }

# Sets outcome and evidence from the last gate that `apo register` printed: "GATE: OUTCOME, EVIDENCE (SECONDS)".
judge() {
  local last
  "$bundle/apo" register --no-executor "$1" >"$out/stdout" 2>"$out/stderr"
  code=$?
  last=$(grep -E '^[a-z]+: [a-z_]+, ' "$out/stdout" | tail -1)
  outcome=$(printf '%s' "$last" | sed -E 's/^[a-z]+: ([a-z_]+), .*/\1/')
  evidence=$(printf '%s' "$last" | sed -E 's/^([a-z]+): [a-z_]+, (.*) \([^()]*\)$/\1: \2/')
  if [ "$code" != 0 ] && [ "$code" != 3 ]; then
    outcome="exit code $code"
    evidence=$(head -1 "$out/stderr")
  fi
}

has_words() {
  local words
  IFS=,
  for words in $2; do
    case $1 in *"$(printf '%s' "$words" | sed 's/^ *//')"*) ;; *) unset IFS && return 1 ;; esac
  done
  unset IFS
}

table() {
  echo "| candidate | expected | outcome | as expected | evidence | seconds |"
  echo "|---|---|---|---|---|---|"
  for file in "$root"/tests/zoo/cuda/*.cu; do
    expected=$(says "$file" expect)
    words=$(says "$file" evidence)
    start=$(date +%s%N)
    judge "$file"
    seconds=$(awk "BEGIN { printf \"%.1f\", $(($(date +%s%N) - start)) / 1e9 }")
    verdict=yes
    if [ "$outcome" != "$expected" ] || ! has_words "$evidence" "$words"; then
      verdict=NO
    fi
    # What cannot be tried here is said, and is no failure.
    case "$(says "$file" needs) $evidence" in
    "nvcc "*"needs nvcc"*) verdict="not tried" ;;
    esac
    case "$words $evidence" in
    memcheck*"compute-sanitizer is not installed"* | racecheck*"compute-sanitizer is not installed"*) verdict="not tried" ;;
    esac
    printf '| %s | %s | %s | %s | %s | %s |\n' "$(basename "$file" .cu)" "$expected" "$outcome" "$verdict" \
      "$(printf '%s' "$evidence" | tr '|\n' '/ ' | cut -c 1-300)" "$seconds"
  done
}

table | tee "$out/faults.md"
! grep -q '| NO |' "$out/faults.md"
