#!/usr/bin/env bash
# run.sh OUT - compiles every line of configs.txt, checks each alone, times the right ones together.
set -u
cd "$(dirname "$(readlink -f "$0")")" || exit 1
out=$1
mkdir -p "$out/cubin"
out=$(readlink -f "$out")
variants=$PWD/../../variants
export out variants
compile() {
  local kind=$1 name=$2 define source sed=
  case $name in
    *nostore) sed='s|if (row + 8 \* r < a.M \&\&|if (a.K == 12345 \&\&|' ;;
    *plainstore) sed='s|__stcs(reinterpret_cast<float4\*>(\(.*\)),$|*reinterpret_cast<float4*>(\1) = (|' ;;
    *stream) sed='s|load_words(matrix + \(.*\), row < rows \&\& \(.*\))|(row < rows \&\& \2 ? __ldcs(reinterpret_cast<const uint4*>(matrix + \1)) : uint4{})|' ;;
    *noalloc) sed='s|of\[half\] = load_words(matrix + \(.*\), row < rows \&\& \(.*\));|of[half] = uint4{}; if (row < rows \&\& \2) asm volatile("ld.global.nc.L1::no_allocate.L2::256B.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(of[half].x), "=r"(of[half].y), "=r"(of[half].z), "=r"(of[half].w) : "l"(matrix + \1));|' ;;
  esac
  mkdir -p "$out/cubin/$name"
  if [ "$kind" = wgmma ]; then
    define="-gencode=arch=compute_90a,code=sm_90a -DHAS_MAPS -DSTAGES_=$3 -DDOWN_=$4 -DACROSS_=$5 -DAHEAD_=$6 -DGROUP_=$7" source=cuda_wgmma.cu
  else
    define="-gencode=arch=compute_90,code=sm_90 -DSPLIT_=$3 -DIN_FLIGHT_=$4" source=cuda_few_rows.cu
  fi
  sed "$sed" "$variants/matmul_bf16/$source" >"$out/cubin/$name/$source"
  # shellcheck disable=SC2086
  nvcc $define -std=c++20 -lineinfo --ptxas-options=-v -cubin -Iinc -I"$variants/common" -o "$out/cubin/$name.cubin" "$out/cubin/$name/$source" >"$out/cubin/$name.log" 2>&1
  shift 2
  if [ "$kind" = wgmma ]; then echo "wgmma $name $out/cubin/$name.cubin $1 $2 $3"; else echo "few $name $out/cubin/$name.cubin $1"; fi >"$out/cubin/$name.list"
}
export -f compile
date +%T
(nvcc -O2 -std=c++17 -arch=sm_90 -o "$out/bench" bench.cu -lcublasLt -lcudart >"$out/bench.log" 2>&1) &
xargs -P 12 -L 1 bash -c 'compile "$@"' _ <configs.txt
wait
date +%T
check() {
  local name=$1
  timeout 15 "$out/bench" "$out/cubin/$name.list" "$out/cubin/$name.check" check >"$out/cubin/$name.said" 2>&1
  echo "$? $name: $(tail -1 "$out/cubin/$name.said")"
}
export -f check
awk '{print $2}' configs.txt | grep -v nostore | xargs -P 6 -I{} bash -c 'check {}' | tee "$out/checks.txt"
date +%T
: >"$out/list.txt"
for name in $(awk '$1 == 0 {print $2}' "$out/checks.txt" | tr -d :) w4_21_a1_nostore; do cat "$out/cubin/$name.list" >>"$out/list.txt"; done
nvidia-smi --query-gpu=clocks.sm,power.draw,clocks_event_reasons.active --format=csv -lms 100 >"$out/clocks.csv" 2>&1 &
smi=$!
timeout 60 "$out/bench" "$out/list.txt" "$out/times.txt" time
kill "$smi"
date +%T
for name in w4_21_a1 s4_f4; do
  grep -E "error|C75|spill|Used" "$out/cubin/$name.log"
  cuobjdump -sass "$out/cubin/$name.cubin" >"$out/$name.sass" 2>&1
  echo "$name: HGMMA $(grep -c HGMMA "$out/$name.sass"), HMMA $(grep -c HMMA "$out/$name.sass"), LDL/STL $(grep -cE 'LDL|STL' "$out/$name.sass"), LDG.E.128 $(grep -cE 'LDG.E.*128' "$out/$name.sass")"
  timeout 40 ncu --clock-control none --launch-count 1 --launch-skip 2 -k multiply --set full "$out/bench" "$out/cubin/$name.list" /dev/null once >"$out/$name.ncu" 2>&1
done
date +%T
rm -f "$out/bench" "$out"/cubin/*/*.cu
if [ -n "${B:-}" ]; then
  export LD_LIBRARY_PATH=$B/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} APO_HOME=$PWD/../.. APO_JOURNAL=$out/journal.db
  for variant in cuda_wgmma cuda_few_rows cuda_cublaslt; do
    timeout 30 "$B/apo" verify "matmul_bf16/$variant" --no-sanitizers --workload "$([ $variant = cuda_few_rows ] && echo m16_n4096_k4096 || echo m512_n512_k512)" >"$out/verify_$variant.txt" 2>&1 &
  done
  wait
  tail -3 "$out"/verify_*.txt
  date +%T
fi
