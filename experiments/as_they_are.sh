#!/bin/bash
# Brings kernels of llm.c and SGEMM_CUDA as their authors' files are, without an adapter, and judges each against the
# first of its family. Without a GPU they are compiled and registered only.
#   experiments/as_they_are.sh FAMILIES STRANGERS
# FAMILIES: a folder of family files, experiments/court/families. STRANGERS: a folder with clones of llm.c and SGEMM_CUDA.
set -u
families=$(realpath "$1")
strangers=$(realpath "$2")
apo=$(realpath "$(dirname "$0")/../apo")
place=$(mktemp -d)
cd "$place" || exit 1

# bring FAMILY FILE DTYPE LINES FUNCTION...; DTYPE: what the author's floatX is. LINES are separated by ';'.
bring() {
  local family=$1 file=$strangers/$2 dtype=$3 words=()
  sed "s/ f32\[/ $dtype[/" "$families/$family.h" > "$family.h"
  IFS=';' read -ra lines <<< "$4"
  shift 4
  for line in "${lines[@]}"; do words+=(--line "$line"); done
  for function in "$@"; do words+=(--function "$function"); done
  echo "== $family: $# functions of $(basename "$file")"
  "$apo" register --no-verify "$family.h" | tail -1
  local start=$SECONDS
  "$apo" try "$family" "$file" "${words[@]}" 2>&1
  echo "-- exit code $?, $((SECONDS - start)) s"
}

cuda=llm.c/dev/cuda
fast='flags --use_fast_math'
block='tune block_size 256'
bring layernorm_forward $cuda/layernorm_forward.cu f32 "$fast;$block" layernorm_forward{1,2,3,4,5,6}
bring softmax_forward $cuda/softmax_forward.cu f32 "$fast;$block" softmax_forward{1,2,3,4,7} softmax_forward_online{1,2,8}
bring crossentropy_forward $cuda/crossentropy_forward.cu f32 "$fast;$block" crossentropy_forward1
bring fused_classifier $cuda/classifier_fused.cu f32 "$fast;$block" fused_classifier{1,2,3,4,5}' dlogits=logits'
bring adamw $cuda/adamw.cu f32 "$fast -std=c++17" adamw_dispatch{1,2}
bring gelu_forward $cuda/gelu_forward.cu bf16 "$fast;$block" gelu_forward{1,2}
bring residual_forward $cuda/residual_forward.cu bf16 "$fast;$block" residual_forward{1,2}
bring encoder_forward $cuda/encoder_forward.cu bf16 "$fast;$block" encoder_forward{1,2,3}
bring fused_residual_forward $cuda/fused_residual_forward.cu bf16 "$fast;$block" \
  fused_residual_forward{1,4,5}
bring matmul_backward_bias $cuda/matmul_backward_bias.cu bf16 "$fast;$block" matmul_backward_bias{1,2,3}
bring matmul_backward_bias $cuda/matmul_backward_bias.cu bf16 "$fast;$block;link cublas;link cublasLt" \
  matmul_backward_bias{7,8}' setup=setup_main'
bring sgemm SGEMM_CUDA/src/runner.cu f32 "" run_sgemm_{naive,coalesce,shared_mem_block} \
  runSgemm{1DBlocktiling,2DBlocktiling,Vectorize,ResolveBankConflicts,ResolveBankExtraCol,Autotuned,Warptiling}
