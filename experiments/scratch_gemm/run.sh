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
    *nostore) sed='s|if (8 \* n < columns)|if (8 * n < columns \&\& a.K == 12345)|' ;;
    *plainstore) sed='s|__stcs(reinterpret_cast<float4\*>(\(.*\)), four);|*reinterpret_cast<float4*>(\1) = four;|' ;;
    *noalloc) sed='s|of\[piece\] = load_words(from + 32 \* piece, 32 \* piece < terms);|of[piece] = uint4{}; if (32 * piece < terms) asm volatile("ld.global.nc.L1::no_allocate.L2::256B.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(of[piece].x), "=r"(of[piece].y), "=r"(of[piece].z), "=r"(of[piece].w) : "l"(from + 32 * piece));|' ;;
  esac
  mkdir -p "$out/cubin/$name"
  for file in "$variants"/matmul_bf16/*.cu* host_maps.cu host_staged.cu staged.cuh lines.cu lines.cuh wgmma_product.cuh; do sed "$sed" "$file" >"$out/cubin/$name/$(basename "$file")"; done
  if [ "$kind" = wgmma ]; then
    define="-gencode=arch=compute_90a,code=sm_90a -DSTAGES_=$3 -DDOWN_=$4 -DAHEAD_=$5 -DGROUP_=$6 -DHAS_MAPS" source=cuda_wgmma.cu
    [ "$7" = 0 ] || source=host_maps.cu
    [ "$7" != 2 ] || source=host_staged.cu
    [ "$7" != 3 ] || source=lines.cu
    echo "wgmma $name $out/cubin/$name.cubin $3 $4 $7" >"$out/cubin/$name.list"
  else
    define="-gencode=arch=compute_90,code=sm_90 -DROWS_=$3 -DWARPS_=$4 -DTERMS_=$5 -DROUNDS_=$6" source=cuda_few_rows.cu
    echo "few $name $out/cubin/$name.cubin 1 $3 $4" >"$out/cubin/$name.list"
  fi
  # shellcheck disable=SC2086
  nvcc $define -std=c++20 -lineinfo --ptxas-options=-v -cubin -Iinc -I"$variants/common" -o "$out/cubin/$name.cubin" "$out/cubin/$name/$source" >"$out/cubin/$name.log" 2>&1
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
awk '{print $2}' configs.txt | grep -v nostore | xargs -P 8 -I{} bash -c 'check {}' | tee "$out/checks.txt"
grep -h "clusters of" "$out"/cubin/*.check | sort -u
date +%T
: >"$out/list.txt"
for name in $(awk '$1 == 0 {print $2}' "$out/checks.txt" | tr -d : | sort) w4_2_a2_nostore; do cat "$out/cubin/$name.list" >>"$out/list.txt"; done
nvidia-smi --query-gpu=clocks.sm,power.draw,temperature.gpu,clocks_event_reasons.active --format=csv -lms 50 >"$out/clocks.csv" 2>\&1 \&
smi=$!
timeout 40 "$out/bench" "$out/list.txt" "$out/times.txt" time
kill "$smi"
date +%T
for name in w4_2_a2_lines r32_w16_t64_n2; do
  grep -E "error|C75|spill|Used" "$out/cubin/$name.log"
  cuobjdump -sass "$out/cubin/$name.cubin" >"$out/$name.sass" 2>&1
  echo "$name: HGMMA $(grep -c HGMMA "$out/$name.sass"), HMMA $(grep -c HMMA "$out/$name.sass"), LDL/STL $(grep -cE 'LDL|STL' "$out/$name.sass"), MEMBAR $(grep -c MEMBAR "$out/$name.sass"), LDG.E.128 $(grep -cE 'LDG.E.*128' "$out/$name.sass")"
done
date +%T
rm -f "$out/bench" "$out"/cubin/*/*.cu
if [ -n "${B:-}" ]; then
  export LD_LIBRARY_PATH=$B/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} APO_HOME=$PWD/../.. APO_JOURNAL=$out/journal.db
  for variant in cuda_wgmma cuda_few_rows cuda_cublaslt; do
    timeout 30 "$B/apo" verify "matmul_bf16/$variant" --no-sanitizers --workload "$([ $variant = cuda_few_rows ] && echo m16_n4096_k4096 || echo m512_n512_k512)" >"$out/verify_$variant.txt" 2>&1 &
  done
  wait
  cat "$out"/verify_*.txt
  date +%T
fi
if [ -n "${B:-}" ]; then
  compare() { timeout 70 "$B/apo" compare "$1" "$2" --workload "$3" >"$out/compare_$3.txt" 2>&1; tail -12 "$out/compare_$3.txt"; date +%T; }
  compare matmul_bf16/cuda_cublaslt matmul_bf16/cuda_wgmma m4096_n4096_k4096
  compare matmul_bf16/cuda_cublaslt matmul_bf16/cuda_few_rows m16_n4096_k4096
fi
