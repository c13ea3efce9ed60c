// apo:family    zoo_stencil
// apo:idea      y[i] = x[i-1] / 4 + x[i] / 2 + x[i+1] / 4, ends repeated
// apo:axis      n 1..2147483648
// apo:input     x f32[n] uniform(-1,1)
// apo:output    y f32[n]
// apo:regimes   typical
// apo:workload  n16m production cuda n=16777216
// apo:workload  n1m  production cuda n=1048576
// apo:workload  n4k  small      cuda n=4096
template <class Real>
void reference(int64_t n, const Real* x, Real* y) {
  for (int64_t i = 0; i < n; ++i)
    y[i] = Real(0.25) * x[max(i - 1, 0)] + Real(0.5) * x[i] + Real(0.25) * x[min(i + 1, n - 1)];
}
