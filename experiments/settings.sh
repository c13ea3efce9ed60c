#!/usr/bin/env bash
# experiments/settings.sh BUNDLE OUT [halves|matmul|rows|few...] - kernels that await a GPU, beside those that lead: 270 s on one GPU.
#
# BUNDLE is from bundle.sh. Needs nvcc. The words choose parts: halves (30 s) and few (120 s) of E88, matmul (100 s, beside cuBLASLt),
# rows (15 s). First every proposed variant through its shapes, then per workload a scan of all settings of what is proposed, each
# checked, in blocks beside the leader (nvidia-h200/e88_leaders.tar.xz has the texts of those that were replaced): it ranks. Halves,
# rows, and what leads beside cuBLASLt, are judged. Prints a markdown table, also to OUT/settings.md, and keeps the journal
# OUT/journal.db. OUT has to be new or empty. TARGET=host tries the script without a GPU, with variants of the host as leaders.
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
  find "$root/variants/$family" -name '*.h' -o -name '*.cuh' | xargs -r ln -s -t "$to/variants/$family"
  for name in "$@"; do
    for entry in "$root/variants/$family/$name".* "$out/leaders/$family/$name".*; do
      [ ! -e "$entry" ] || sed '/^\/\/ apo:\(parent\|predict\) /d' "$entry" >"$to/variants/$family/$(basename "$entry")"
    done
  done
  echo "$to"
}

# checks VARIANT [WORKLOAD]: a line of what its correctness gates say.
checks() {
  local said
  said=$(timeout 15 "$apo" verify "$1" ${2:+--workload "$2"} --no-sanitizers --quiet 2>&1) || failed=1
  echo "- \`$1\` ${2:-}: $(head -1 <<<"$said" | cut -c 1-160)"
}

# judge WORKLOAD A B: the verdict in a line.
judge() {
  local said
  said=$(timeout 60 "$apo" compare "$2" "$3" --workload "$1" --judge standard --skip-correctness 2>&1) || failed=1
  echo "- \`$3\` against \`$2\` on $1: $(tail -3 <<<"$said" | tr '\n' ' ')"
}

# judge_first WORKLOAD FAMILY PEER: what leads in the scan, against the fastest setting of the peer there.
judge_first() {
  local labels
  labels=$(python3 - "$out/$1.$2.json" "$2/$3" <<'P'
import json, sys
path, peer = sys.argv[1:]
with open(path, encoding="utf-8") as file:
    scanned = json.load(file)["scanned"]
ranked = sorted((one for one in scanned if one["speedup"] and one["outcome"] == "valid"), key=lambda one: -one["speedup"])
labels = [one["configuration"]["label"] for one in ranked]
print(next(one for one in labels if one.startswith(peer)), next(one for one in labels if not one.startswith(peer)))
P
  ) || { failed=1; return; }
  judge "$1" "${labels% *}" "${labels#* }"
}

# scan SECONDS WORKLOAD FAMILY LEADER VARIANT...: rows of the table, the fastest first.
scan() {
  local seconds=$1 workload=$2 family=$3 leader=$4 left=$((${SECONDS_OF_ALL:-270} - $(date +%s) + begin)) document=$out/$2.$3.json
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

header() {
  echo
  echo "| workload | configuration | time | against the leader | pairs |"
  echo "|---|---|---|---|---|"
}

halves() {
  judge b16_t512_h83_n32 'e88_forward/cuda_best[SEQUENCES=1]' e88_forward/cuda_half_sequences
}

few() {
  checks e88_backward/cuda_split_warps
  checks e88_backward/cuda_split_slices
  header
  scan 60 b1_t16384_h83_n32 e88_backward 'before_split_warps[COLUMNS=8,UNROLL=4]' cuda_split_warps
  scan 50 b4_t2048_h84_n32 e88_backward 'before_split_warps[COLUMNS=8,UNROLL=4]' cuda_split_warps cuda_split_slices
}

matmul() {
  header
  scan 25 m4096_n4096_k4096 matmul_bf16 cuda_cublaslt cuda_wgmma
  scan 25 m16_n4096_k4096 matmul_bf16 cuda_cublaslt cuda_few_rows
  echo
  judge_first m4096_n4096_k4096 matmul_bf16 cuda_cublaslt
  judge_first m16_n4096_k4096 matmul_bf16 cuda_cublaslt
}

rows() {
  checks 'layer_norm/cuda_registers[ROWS=4,BLOCKS_PER_SM=8]'
  judge r4096_c2048 layer_norm/cuda_registers 'layer_norm/cuda_registers[ROWS=4,BLOCKS_PER_SM=8]'
}

table() {
  if [ "$target" = host ]; then
    header
    scan 20 b2_t64_h4_n32 e88_forward simple combined
    judge_first b2_t64_h4_n32 e88_forward simple
  else
    for part in "$@"; do "$part"; done
  fi
  return "$failed"
}
shift 2
[ $# -gt 0 ] || set -- halves matmul rows few
set -o pipefail
table "$@" | tee settings.md
