#!/usr/bin/env bash
# tests/project/foresight.sh BUILD - checks that docs/research.md has the score of the recorded journals.
set -euo pipefail
root=$(dirname "$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")")
cmake --build "$1" --target foresight
recorded=$(mktemp -d)
trap 'rm -rf "$recorded"' EXIT
cp -r "$root/experiments" "$recorded"
cd "$recorded"
for archive in experiments/*/journals.tar.xz; do tar -xJf "$archive" -C "$(dirname "$archive")"; done
mapfile -t journals < <(find experiments -name '*.db' | sort)
score=$("$1/bin/foresight" "${journals[@]}")
if [[ $(<"$root/docs/research.md") != *"$score"* ]]; then
  printf 'docs/research.md has other figures than:\n%s\n' "$score"
  exit 1
fi
