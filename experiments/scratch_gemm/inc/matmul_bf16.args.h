#pragma once
#include <cuda_bf16.h>
struct matmul_bf16_args {
  const __nv_bfloat16* a;
  const __nv_bfloat16* b;
  float* c;
#ifdef HAS_MAPS
  void* maps;
#endif
  long long M, N, K;
};
#ifdef STAGES_
inline constexpr long long STAGES = STAGES_, DOWN = DOWN_, AHEAD = AHEAD_, GROUP = GROUP_;
#endif
#ifdef ROWS_
inline constexpr long long ROWS = ROWS_, WARPS = WARPS_, TERMS = TERMS_, ROUNDS = ROUNDS_;
#endif
