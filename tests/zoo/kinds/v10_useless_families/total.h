// apo:family    total
// apo:idea      y[0] = x[0] + ... + x[n-1]
// apo:axis      n 1..1048576
// apo:input     x f32[n] normal
// apo:output    y f32[1]
// apo:workload  n64k production n=65536
// apo:workload  n1001 ragged n=1001
// apo:workload  n5 small n=5
template <class Real>
void reference(int64_t n, const Real* x, Real* y) {
  y[0] = sum<Real>(n, [&](int64_t i) { return x[i]; });
}
