// apo:family    gated
// apo:idea      y[b,t,c] = x[b,t,c] g[b,c]
// apo:axis      B 1..16 batch
// apo:axis      T 1..4096
// apo:axis      C 1..4096
// apo:input     x f32[B,T,C] normal
// apo:input     g f32[B,C] normal
// apo:output    y f32[B,T,C]
// apo:unit      B T
// apo:workload  b1_t32_c256 production B=1 T=32 C=256
// apo:workload  b1_t5_c99   ragged     B=1 T=5 C=99
// apo:workload  b1_t2_c8    small      B=1 T=2 C=8
template <class Real>
void reference(int64_t B, int64_t T, int64_t C, const Real* x, const Real* g, Real* y) {
  for (int64_t b = 0; b < B; ++b)
    for (int64_t t = 0; t < T; ++t)
      for (int64_t c = 0; c < C; ++c)
        y[(b * T + t) * C + c] = x[(b * T + t) * C + c] * g[b * C + c];
}
