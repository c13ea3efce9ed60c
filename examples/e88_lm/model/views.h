// model/views.h - what the operations of a backend are called with. `Half` is the type of activations and of the
// weights of GEMMs, `Full` that of the residual stream, gradients and masters: bf16 and fp32 on a GPU, one type on the
// host.
#pragma once

#include <cstdint>
#include <type_traits>

#include "model/size.h"

namespace byte_lm {

// A matrix whose rows are `stride` elements apart.
template <class Type>
struct View {
  Type* data = nullptr;
  std::int64_t stride = 0;

  template <class Const>
  requires std::is_same_v<Const, const Type>
  operator View<Const>() const { return {data, stride}; }
};

// The outputs of a layer's input GEMMs before their activations, or the gradients of these.
template <class Half>
struct Projection {
  View<Half> qkv, gate, alpha;
};

// The extents of the E88 recurrence: [batch, length, heads, state].
struct Recurrence {
  std::int64_t batch = 0, length = 0, heads = 0, state = 0;
};

// The tensors of the family e88_forward with GATE=1 and NORM=1; s0 is zero, and s_final is not asked for.
template <class Half>
struct ForwardTensors {
  const Half *k, *q, *v, *gate, *decay;
  Half *output, *checkpoints, *y_cache;
};

// Those of e88_backward; d_s_final is zero, and ds0 is not asked for.
template <class Half>
struct BackwardTensors {
  const Half *k, *q, *v, *gate, *decay, *d_output, *checkpoints, *y_cache;
  Half *dk, *dq, *dv, *d_gate, *d_decay;
};

// What norm_backward reads and writes, for `rows` rows of `dim`.
template <class Half, class Full>
struct NormGradient {
  const Full *d_normed, *residual, *inverse_rms, *weight;
  Full* d_residual;  // added to, or written where `is_first`
  Half* d_x;         // the same, rounded: the gradient of what was added to the residual stream
  Full* d_weight;
  bool is_first = false;
};

// What decay_backward reads and writes, for `rows` rows of `heads`.
template <class Half, class Full>
struct DecayGradient {
  View<const Half> alpha;
  const Full *a_log, *dt_bias;
  const Half* d_decay;
  View<Half> d_alpha;
  Full *d_a_log, *d_dt_bias;
};

}  // namespace byte_lm
