// apo:family    tapped
// apo:idea      y[t] = sum over k of w[k] x[t + k], k < K
// apo:axis      T 1..65536
// apo:axis      K 1..64
// apo:input     x f32[T+K] normal
// apo:input     w f32[K] normal
// apo:output    y f32[T]
// apo:workload  t4096_k4 production T=4096 K=4
// apo:workload  t333_k3  ragged     T=333 K=3
// apo:workload  t16_k2   small      T=16 K=2
template <class Real>
void reference(int64_t T, int64_t K, const Real* x, const Real* w, Real* y) {
  for (int64_t t = 0; t < T; ++t)
    y[t] = sum<Real>(K, [&](int64_t k) { return w[k] * x[t + k]; });
}
