// apo:variant    copy/fma_work
// apo:target     host
// apo:idea       Copies through WORK multiply-adds by one and zero: two values of WORK are a planted effect of known size.
// apo:tune       WORK 204,200,202,208,220
#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  // Read at run time, so that the compiler cannot know that nothing changes: x * 1 + 0 is x, bit for bit.
  volatile float unknown_one = 1.0F;
  volatile float unknown_zero = 0.0F;
  const float one = unknown_one;
  const float zero = unknown_zero;
  constexpr int64_t kTile = 256;
  for (int64_t begin = 0; begin < args.n; begin += kTile) {
    float tile[kTile] = {};
    const int64_t count = args.n - begin < kTile ? args.n - begin : kTile;
    for (int64_t i = 0; i < count; ++i) {
      tile[i] = args.x[begin + i];
    }
    for (int64_t work = 0; work < WORK; ++work) {
      for (int64_t i = 0; i < kTile; ++i) {
        tile[i] = tile[i] * one + zero;
      }
    }
    for (int64_t i = 0; i < count; ++i) {
      args.y[begin + i] = tile[i];
    }
  }
  return 0;
}
