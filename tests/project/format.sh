#!/usr/bin/env bash
# tests/project/format.sh [FOLDER] - every C++ file of the checkout (or of FOLDER) stands as .clang-format wants it.
set -euo pipefail
root=$(dirname "$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")")
folder=$(readlink -f "${1:-$root}")
find "$folder" -type d \( -name '.*' -o -path "$root/build*" \) ! -path "$folder" -prune -o \
  -type f \( -name '*.h' -o -name '*.cpp' -o -name '*.inl' \) -print0 |
  xargs -0 --no-run-if-empty --max-procs="$(nproc)" --max-args=32 clang-format --dry-run -Werror ||
  { echo "fix it with: clang-format -i FILE (version 14)" >&2; exit 1; }
