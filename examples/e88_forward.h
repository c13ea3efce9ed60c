// apo:family    e88_forward
// apo:idea      S_t = tanh(a_t S_{t-1} + k_t (v_t - S_{t-1}^T k_t)^T), output_t = (S_t^T q_t) silu(g_t), with checkpoints
// apo:axis      B 1..65536 batch
// apo:axis      T 1..1048576 time steps
// apo:axis      H 1..65536 heads
// apo:axis      N 1..128 specialised rows of the state: width of k and q
// apo:axis      V 1..128 specialised columns of the state: width of v
// apo:axis      GATE 0..1 specialised 1: output = y*silu(g), 0: output = y
// apo:axis      NORM 0..1 specialised 1: k and q are L2-normalised here
// apo:input     k bf16[B,T,H,N] normal
// apo:input     q bf16[B,T,H,N] normal
// apo:input     v bf16[B,T,H,V] normal(0,0.6)
// apo:input     g bf16[B,T,H,V] normal
// apo:input     decay bf16[B,T,H] probability
// apo:input     s0 bf16[B,H,N,V] normal(0,0.3)
// apo:output    output bf16[B,T,H,V]
// apo:output    checkpoints bf16[ceil_div(T,16),B,H,N,V]
// apo:output    y_cache bf16[B,T,H,V]
// apo:output    s_final bf16[B,H,N,V]
// apo:regimes   typical
// apo:unit      B H
// apo:workload  b2_t64_h4_n32      production B=2 T=64 H=4 N=32 V=32 GATE=1 NORM=1
// apo:workload  b1_t37_h3_n24_v20  ragged     B=1 T=37 H=3 N=24 V=20 GATE=1 NORM=1
// apo:workload  b1_t16_h1_n4       small      B=1 T=16 H=1 N=4 V=4 GATE=1 NORM=1
//
// The E88 forward in the new form: the contract of the family `e88_forward`, whose oracle was written by hand before
// oracles were derived (experiments/host-epyc/e88_oracles.md compares the two).

// The factor of a row of k or q: 1/sqrt(sum x^2 + 1e-12), or 1.
template <class Real>
Real factor(const Real* x, int64_t count, int64_t norm) {
  return norm ? rsqrt(sum<Real>(count, [&](int64_t i) { return x[i] * x[i]; }) + Real(1e-12)) : Real(1);
}

template <class Real>
void reference(int64_t B, int64_t T, int64_t H, int64_t N, int64_t V, int64_t GATE, int64_t NORM, const Real* k,
               const Real* q, const Real* v, const Real* g, const Real* decay, const Real* s0, Real* output,
               Real* checkpoints, Real* y_cache, Real* s_final) {
  std::vector<Real> S(N * V), delta(V), kh(N), qh(N);
  for (int64_t bh = 0; bh < B * H; ++bh) {
    for (int64_t e = 0; e < N * V; ++e)
      S[e] = s0[bh * N * V + e];
    for (int64_t t = 0; t < T; ++t) {
      const int64_t row = (bh / H * T + t) * H + bh % H;  // of the tensors that have a row a step
      for (int64_t e = 0; t % 16 == 0 && e < N * V; ++e)
        checkpoints[(t / 16 * B * H + bh) * N * V + e] = S[e];
      const Real k_factor = factor(k + row * N, N, NORM), q_factor = factor(q + row * N, N, NORM);
      for (int64_t i = 0; i < N; ++i)
        kh[i] = k[row * N + i] * k_factor, qh[i] = q[row * N + i] * q_factor;
      for (int64_t j = 0; j < V; ++j)
        delta[j] = v[row * V + j] - sum<Real>(N, [&](int64_t i) { return S[i * V + j] * kh[i]; });
      for (int64_t e = 0; e < N * V; ++e)
        S[e] = approximate<11>(tanh(decay[row] * S[e] + kh[e / V] * delta[e % V]));
      for (int64_t j = 0; j < V; ++j) {
        const Real y = sum<Real>(N, [&](int64_t i) { return S[i * V + j] * qh[i]; });
        const Real gate = g[row * V + j];
        y_cache[row * V + j] = y;
        output[row * V + j] = GATE ? y * gate / (Real(1) + exp(-gate)) : y;
      }
    }
    for (int64_t e = 0; e < N * V; ++e)
      s_final[bh * N * V + e] = S[e];
  }
}
