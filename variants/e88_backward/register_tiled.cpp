// apo:variant    e88_backward/register_tiled
// apo:target     host
// apo:technique  column-vectorised
// apo:technique  reused-state
// apo:technique  register-tiled
// apo:technique  fused-l2-norm
// apo:technique  chunk-prefetch
// apo:parent     e88_backward/column_vectorised
// apo:idea       Partial sums of ROWS rows stay in registers; one transposing sum yields whole vectors of dk and dq.
// apo:predict    1.7x..3x over parent: 1.2x..1.7x over its REUSED_STATE: five walks over S become three, 64 lane sums a step 4 trees of additions.
// apo:toggle     RECIPROCAL_TANH reciprocal-tanh
// apo:tune       ROWS 4,2,8
// apo:tune       LANES 0,8,16
// apo:scratch    history 4*B*H*17*N*(V+15)
#include "e88_backward.args.h"
#if RECIPROCAL_TANH
#include <immintrin.h>
#endif
#include "tiled_phases.h"

namespace {

// RECIPROCAL_TANH: the division in tanh becomes AVX-512's 14-bit reciprocal estimate and a Newton step, where it
// exists.
#if RECIPROCAL_TANH
// 1/x for x in the normal range, to 2^-23: the 14-bit estimate and one Newton step where the ISA has it.
template <class Vector>
Vector reciprocal(Vector x) {
#if defined(__AVX512F__)
  if constexpr (sizeof(Vector) == sizeof(__m512)) {
    const auto estimate = std::bit_cast<Vector>(_mm512_rcp14_ps(std::bit_cast<__m512>(x)));
    return estimate * (2.0f - x * estimate);
  }
#endif
  return 1.0f / x;
}

Lanes tanh_of(Lanes x) {
  const Fraction fraction = tanh_fraction(x);
  return fraction.numerator * reciprocal(fraction.denominator);
}
#else
constexpr auto tanh_of = tanh;
#endif

}  // namespace

void e88_backward(const e88_backward_args& a) {
  auto* history = static_cast<State*>(a.history);
  for (int64_t sequence = 0; sequence < a.B * a.H; ++sequence) {
    run_sequence<tanh_of>(a, sequence, history);
  }
}
