#!/usr/bin/env bash
# tests/project/changed.sh - the files that differ from where this branch left the main one, one a line; none where nobody knows.
cd "$(dirname "$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")")" || exit
for main in origin/HEAD origin/main main; do
  base=$(git merge-base HEAD "$main" 2>/dev/null) || continue
  git diff --name-only "$base"
  git ls-files --others --exclude-standard
  break
done
