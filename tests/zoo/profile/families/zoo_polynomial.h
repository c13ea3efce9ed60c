// apo:family    zoo_polynomial
// apo:idea      y = 1 / 2 + x / 2 (1 / 2 + x / 2 (...)), 256 deep, from x
// apo:axis      n 1..2147483648
// apo:input     x f32[n] uniform(-1,1)
// apo:output    y f32[n]
// apo:regimes   typical
// apo:workload  n16m production cuda n=16777216
// apo:workload  n1m  production cuda n=1048576
// apo:workload  n4k  small      cuda n=4096
template <class Real>
void reference(int64_t n, const Real* x, Real* y) {
  for (int64_t i = 0; i < n; ++i) {
    const Real half = Real(0.5) * x[i];
    y[i] = x[i];
    for (int k = 0; k < 256; ++k)
      y[i] = half * y[i] + Real(0.5);
  }
}
