#!/usr/bin/env bash
# experiments/e88_settings.sh BUNDLE OUT - the E88 kernels that await a GPU, beside the leaders before them: 200 s on one GPU.
#
# BUNDLE is from bundle.sh. Needs nvcc. First every proposed variant through its small shapes, then per workload a scan of all settings
# of what is proposed, each checked, in blocks beside the leader (nvidia-h200/e88_leaders.tar.xz has the texts of those that were
# replaced). Prints a markdown table, also to OUT/e88_settings.md, and keeps the journal OUT/journal.db. It ranks: what leads is judged by
# 'apo compare LEADER CANDIDATE --workload W --judge standard'. OUT has to be new or empty. TARGET=host
# tries the script without a GPU, with variants of the host in place of the leaders.
set -u
. "$(dirname "$(readlink -f "$0")")/places.sh"
cd "$out" || exit 1
target=${TARGET:-cuda}
begin=$(date +%s)
mkdir leaders && tar xJf "$root/experiments/nvidia-h200/e88_leaders.tar.xz" -C leaders
failed=0

# home FAMILY VARIANT...: a folder of this program's data in which the family has these variants only, without their parents.
home() {
  local family=$1 to=$out/home.$1.$RANDOM entry name
  shift
  mkdir -p "$to/variants/$family"
  for entry in "$root"/*; do [ "$(basename "$entry")" = variants ] || ln -s "$entry" "$to/"; done
  ln -s "$root/variants/common" "$to/variants/"
  ln -s "$root/variants/$family"/*.{h,cuh} "$to/variants/$family/"
  for name in "$@"; do
    for entry in "$root/variants/$family/$name".* "$out/leaders/$family/$name".*; do
      [ ! -e "$entry" ] || sed '/^\/\/ apo:\(parent\|predict\) /d' "$entry" >"$to/variants/$family/$(basename "$entry")"
    done
  done
  echo "$to"
}

# checks VARIANT: a line of what its correctness gates say.
checks() {
  local said
  said=$(timeout 12 "$apo" verify "$1" --no-sanitizers --quiet 2>&1) || failed=1
  echo "- \`$1\`: $(head -1 <<<"$said" | cut -c 1-160)"
}

# scan SECONDS WORKLOAD FAMILY LEADER VARIANT...: rows of the table, the fastest first.
scan() {
  local seconds=$1 workload=$2 family=$3 leader=$4 left=$((${SECONDS_OF_ALL:-195} - $(date +%s) + begin)) document=$out/$2.$3.json
  shift 4
  [ "$seconds" -le "$left" ] || seconds=$left
  [ "$seconds" -gt 3 ] || { echo "| $workload | $family: no time left | | | |"; failed=1; return; }
  APO_HOME=$(home "$family" "${leader%%[*}" "$@") timeout $((seconds + 5)) "$apo" scan "$family" --target "$target" --workload "$workload" \
    --baseline "$family/$leader" --budget "${seconds}s" --json >"$document" 2>"$document.err" || failed=1
  python3 - "$workload" "$document" <<'P' || failed=1
import json, math, sys
workload, path = sys.argv[1:]
with open(path, encoding="utf-8") as file:
    text = file.read()
document = json.loads(text or "{}")
if "scanned" not in document:
    sys.exit(print(f"| {workload} | no answer, see {path}.err | | | |"))
leader = document["incumbent"]["label"]
for one in sorted(document["scanned"], key=lambda one: -(one["speedup"] or 0)):
    label = one["configuration"]["label"]
    if one["outcome"] != "valid" or not one["speedup"]:
        print(f"| {workload} | `{label}` | {one['outcome']} | {one['evidence'][:80]} | |")
        continue
    low, high = (one["speedup"] * math.exp(sign * 1.96 * (one["sd"] or 0)) for sign in (-1, 1))
    print(f"| {workload} | `{label}`{' (leader)' if label == leader else ''} | {one['time_ns'] / 1e6:.4g} ms |"
          f" {one['speedup']:.3f}x [{low:.3f}x, {high:.3f}x] | {one['pairs']} |")
if document["left"]:
    print(f"| {workload} | {document['left']} configurations not measured in time | | | |")
P
}

table() {
  if [ "$target" = host ]; then
    scan 20 b2_t64_h4_n32 e88_forward simple combined
    return
  fi
  for variant in e88_forward/cuda_half_sequences e88_forward/cuda_split_warps e88_backward/cuda_split_warps e88_backward/cuda_split_slices \
    e88_backward/cuda_time_slices; do
    checks "$variant"
  done
  echo
  echo "| workload | configuration | time | against the leader | pairs |"
  echo "|---|---|---|---|---|"
  scan 25 b16_t512_h83_n32 e88_forward 'cuda_best[SEQUENCES=1]' cuda_half_sequences
  scan 25 b1_t16384_h83_n32 e88_forward 'before_split_warps[COLUMNS=8]' cuda_split_warps
  scan 30 b1_t16384_h83_n32 e88_backward 'before_split_warps[COLUMNS=8,UNROLL=4]' cuda_split_warps
  scan 25 b4_t2048_h84_n32 e88_backward 'before_split_warps[COLUMNS=8,UNROLL=4]' cuda_split_warps cuda_split_slices
  scan 25 b16_t512_h83_n32 e88_backward 'before_time_slices[SEQUENCES=1,BLOCKS=8,TOGETHER=8]' cuda_time_slices
  scan 25 b8_t512_h386_n32 e88_backward 'before_grouped_refilled[SEQUENCES=1,BLOCKS=8]' cuda_grouped_refilled
}
table | tee e88_settings.md
! grep -q 'no time left\|no answer' e88_settings.md && exit "$failed"
exit 1
