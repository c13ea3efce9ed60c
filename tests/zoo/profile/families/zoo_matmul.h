// apo:family    zoo_matmul
// apo:idea      y = x z
// apo:axis      m 1..2147483648
// apo:axis      n 1..2147483648
// apo:axis      k 1..2147483648
// apo:input     x f32[m,k] uniform(-1,1)
// apo:input     z f32[k,n] uniform(-1,1)
// apo:output    y f32[m,n]
// apo:regimes   typical
// apo:workload  n2048 production cuda m=2048 n=2048 k=2048
// apo:workload  n128  small      cuda m=128 n=128 k=128
template <class Real>
void reference(int64_t m, int64_t n, int64_t k, const Real* x, const Real* z, Real* y) {
  for (int64_t i = 0; i < m * n; ++i)
    y[i] = sum<Real>(k, [&](int64_t j) { return x[i / n * k + j] * z[j * n + i % n]; });
}
