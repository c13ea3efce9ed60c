#!/usr/bin/env bash
# tests/project/foresight.sh BUILD - checks that docs/research.md has the score of the recorded journals.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
cmake --build "$1" --target foresight
mapfile -t journals < <(find experiments -name '*.db')
score=$("$1/bin/foresight" "${journals[@]}")
if [[ $(<docs/research.md) != *"$score"* ]]; then
  printf 'docs/research.md has other figures than:\n%s\n' "$score"
  exit 1
fi
