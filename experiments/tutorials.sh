#!/usr/bin/env bash
# experiments/tutorials.sh BUNDLE OUT PAGE... - walks docs/tutorial-PAGE.md on a machine with a GPU, as a reader does.
#
# BUNDLE is from bundle.sh. PAGE: cuda (needs nvcc) or pytorch (PyTorch and Triton too). Runs the commands of the page in a project of
# its own but those for a host. What they print goes to OUT/PAGE.log, and each with its seconds to OUT/tutorials.md.
set -u
root=$(dirname "$(dirname "$(readlink -f "$0")")")
usage="usage: experiments/tutorials.sh BUNDLE OUT PAGE..."
bundle=$(readlink -f "${1:?$usage}")
mkdir -p "${2:?$usage}"
out=$(readlink -f "$2")
shift 2
HOME=$(mktemp -d)
export HOME PATH=$HOME/bin:$PATH
mkdir "$HOME/bin"
# Other programs have their own libraries.
printf '#!/bin/sh\nAPO_HOME=%s LD_LIBRARY_PATH=%s exec %s "$@"\n' "$root" "$bundle/lib:${LD_LIBRARY_PATH:-}" "$bundle/apo" >"$HOME/bin/apo"
chmod +x "$HOME/bin/apo"
failed=0
printf '| page | command | exit code | seconds |\n|---|---|---|---|\n' | tee "$out/tutorials.md"
for page; do
  cd "$root" || exit 1
  while read -r line; do
    start=$(date +%s%N)
    printf '$ %s\n' "$line" >>"$out/$page.log"
    eval "$line" </dev/null >>"$out/$page.log" 2>&1
    code=$?
    [ $code = 0 ] || failed=1
    printf '| %s | %s | %s | %.1f |\n' "$page" "$(cut -c 1-80 <<<"$line")" $code "$(($(date +%s%N) - start))e-9" | tee -a "$out/tutorials.md"
  done < <(awk '/^```sh/ { on = 1; next } /^```/ { on = 0 } on' "docs/tutorial-$page.md" | grep -vE 'by_|\.cpp|--target host')
done
exit $failed
