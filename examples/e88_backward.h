// apo:family    e88_backward
// apo:idea      the gradient of e88_forward in k, q, v, g, decay and s0, from its checkpoints and y_cache
// apo:axis      B 1..65536 batch
// apo:axis      T 1..1048576 time steps
// apo:axis      H 1..65536 heads
// apo:axis      N 1..128 specialised rows of the state: width of k and q
// apo:axis      V 1..128 specialised columns of the state: width of v
// apo:axis      GATE 0..1 specialised 1: output = y*silu(g), 0: output = y
// apo:axis      NORM 0..1 specialised 1: k and q are L2-normalised here
// apo:requires  NORM == 0 || N > 1
// apo:input     k bf16[B,T,H,N] normal
// apo:input     q bf16[B,T,H,N] normal
// apo:input     v bf16[B,T,H,V] normal(0,0.6)
// apo:input     g bf16[B,T,H,V] normal
// apo:input     decay bf16[B,T,H] probability
// apo:input     d_output bf16[B,T,H,V] normal
// apo:input     d_s_final bf16[B,H,N,V] normal
// apo:derive    checkpoints bf16[ceil_div(T,16),B,H,N,V]
// apo:derive    y_cache bf16[B,T,H,V]
// apo:output    dk bf16[B,T,H,N]
// apo:output    dq bf16[B,T,H,N]
// apo:output    dv bf16[B,T,H,V]
// apo:output    dg bf16[B,T,H,V]
// apo:output    ddecay bf16[B,T,H]
// apo:output    ds0 bf16[B,H,N,V]
// apo:regimes   typical
// apo:unit      B H
// apo:workload  b2_t64_h4_n32      production B=2 T=64 H=4 N=32 V=32 GATE=1 NORM=1
// apo:workload  b1_t37_h3_n24_v20  ragged     B=1 T=37 H=3 N=24 V=20 GATE=1 NORM=1
// apo:workload  b1_t16_h1_n4       small      B=1 T=16 H=1 N=4 V=4 GATE=1 NORM=1
//
// The E88 backward in the new form: the contract of the family `e88_backward`, whose oracle was written by hand before
// oracles were derived (experiments/host-epyc/e88_oracles.md compares the two).

// The factor of a row of k or q: 1/sqrt(sum x^2 + 1e-12), or 1.
template <class Real>
Real factor(const Real* x, int64_t count, int64_t norm) {
  return norm ? rsqrt(sum<Real>(count, [&](int64_t i) { return x[i] * x[i]; }) + Real(1e-12)) : Real(1);
}

// The chain rule of x^ = x factor(x), in place: d becomes (d - x^ (x^ . d)) factor.
template <class Real>
void through_norm(const Real* x_hat, Real x_factor, int64_t count, int64_t norm, Real* d) {
  const Real dot = sum<Real>(count, [&](int64_t i) { return x_hat[i] * d[i]; });
  for (int64_t i = 0; norm && i < count; ++i)
    d[i] = (d[i] - x_hat[i] * dot) * x_factor;
}

// The step of one head with state S: delta = v - S^T k^, next = tanh(a S + k^ delta^T).
template <class Real>
void step(int64_t N, int64_t V, const Real* S, const Real* kh, const Real* v, Real a, Real* delta, Real* next) {
  for (int64_t j = 0; j < V; ++j)
    delta[j] = v[j] - sum<Real>(N, [&](int64_t i) { return S[i * V + j] * kh[i]; });
  for (int64_t e = 0; e < N * V; ++e)
    next[e] = approximate<11>(tanh(a * S[e] + kh[e / V] * delta[e % V]));
}

// What the forward leaves behind. No tensor holds the state before the first step but slot 0 of the checkpoints, so it
// is made from an input.
template <class Real>
void derive(int64_t B, int64_t T, int64_t H, int64_t N, int64_t V, int64_t, int64_t NORM, const Real* k, const Real* q,
            const Real* v, const Real*, const Real* decay, const Real*, const Real* d_s_final, Real* checkpoints,
            Real* y_cache) {
  const int64_t NV = N * V;
  std::vector<Real> S(NV), next(NV), delta(V), kh(N);
  for (int64_t bh = 0; bh < B * H; ++bh) {
    for (int64_t e = 0; e < NV; ++e)
      S[e] = Real(0.3) * d_s_final[bh * NV + e];
    for (int64_t t = 0; t < T; ++t) {
      const int64_t row = (bh / H * T + t) * H + bh % H;
      for (int64_t e = 0; t % 16 == 0 && e < NV; ++e)
        checkpoints[(t / 16 * B * H + bh) * NV + e] = S[e];
      const Real k_factor = factor(k + row * N, N, NORM), q_factor = factor(q + row * N, N, NORM);
      for (int64_t i = 0; i < N; ++i)
        kh[i] = k[row * N + i] * k_factor;
      step(N, V, S.data(), kh.data(), v + row * V, decay[row], delta.data(), next.data());
      S = next;
      for (int64_t j = 0; j < V; ++j)
        y_cache[row * V + j] = sum<Real>(N, [&](int64_t i) { return S[i * V + j] * q[row * N + i] * q_factor; });
    }
  }
}

template <class Real>
void reference(int64_t B, int64_t T, int64_t H, int64_t N, int64_t V, int64_t GATE, int64_t NORM, const Real* k,
               const Real* q, const Real* v, const Real* g, const Real* decay, const Real* d_output,
               const Real* d_s_final, const Real* checkpoints, const Real* y_cache, Real* dk, Real* dq, Real* dv,
               Real* dg, Real* ddecay, Real* ds0) {
  const int64_t NV = N * V;
  std::vector<Real> states((T + 1) * NV), k_hats(T * N), delta(V), dy(V), dd(V), qh(N), next(NV), D(NV);
  for (int64_t bh = 0; bh < B * H; ++bh) {
    const auto row_of = [&](int64_t t) { return (bh / H * T + t) * H + bh % H; };
    for (int64_t t = 0; t < T; ++t) {
      const int64_t row = row_of(t);
      const Real* given = checkpoints + (t / 16 * B * H + bh) * NV;
      Real* S = states.data() + t * NV;
      for (int64_t e = 0; t % 16 == 0 && e < NV; ++e)
        S[e] = t == 0 ? given[e] : either(S[e], given[e]);
      const Real k_factor = factor(k + row * N, N, NORM);
      for (int64_t i = 0; i < N; ++i)
        k_hats[t * N + i] = k[row * N + i] * k_factor;
      step(N, V, S, k_hats.data() + t * N, v + row * V, decay[row], delta.data(), S + NV);
    }
    for (int64_t e = 0; e < NV; ++e)
      D[e] = d_s_final[bh * NV + e];
    for (int64_t t = T - 1; t >= 0; --t) {
      const int64_t row = row_of(t);
      Real* S = states.data() + t * NV;
      Real* kh = k_hats.data() + t * N;
      for (int64_t e = 0; e < NV; ++e)
        S[e] = rounded<bf16>(S[e]);
      for (int64_t i = 0; i < N; ++i)
        kh[i] = rounded<bf16>(kh[i]);
      step(N, V, S, kh, v + row * V, decay[row], delta.data(), next.data());
      const Real q_factor = factor(q + row * N, N, NORM);
      for (int64_t i = 0; i < N; ++i)
        qh[i] = q[row * N + i] * q_factor;
      for (int64_t j = 0; j < V; ++j) {
        const int64_t at = row * V + j;
        const Real computed = sum<Real>(N, [&](int64_t i) { return next[i * V + j] * qh[i]; });
        const Real s = Real(1) / (Real(1) + exp(-g[at]));
        dg[at] = GATE ? d_output[at] * either(computed, y_cache[at]) * s * (Real(1) + g[at] * (Real(1) - s)) : Real(0);
        dy[j] = GATE ? d_output[at] * g[at] * s : d_output[at];
      }
      for (int64_t e = 0; e < NV; ++e)
        D[e] = (D[e] + qh[e / V] * dy[e % V]) * (Real(1) - next[e] * next[e]);
      for (int64_t j = 0; j < V; ++j)
        dv[row * V + j] = dd[j] = sum<Real>(N, [&](int64_t i) { return D[i * V + j] * kh[i]; });
      ddecay[row] = sum<Real>(NV, [&](int64_t e) { return D[e] * S[e]; });
      for (int64_t i = 0; i < N; ++i) {
        dq[row * N + i] = sum<Real>(V, [&](int64_t j) { return next[i * V + j] * dy[j]; });
        dk[row * N + i] = sum<Real>(V, [&](int64_t j) { return D[i * V + j] * delta[j]; }) -
                          sum<Real>(V, [&](int64_t j) { return S[i * V + j] * dd[j]; });
      }
      through_norm(qh.data(), q_factor, N, NORM, dq + row * N);
      through_norm(kh, factor(k + row * N, N, NORM), N, NORM, dk + row * N);
      for (int64_t e = 0; e < NV; ++e)
        D[e] = decay[row] * D[e] - kh[e / V] * dd[e % V];
    }
    for (int64_t e = 0; e < NV; ++e)
      ds0[bh * NV + e] = D[e];
  }
}
