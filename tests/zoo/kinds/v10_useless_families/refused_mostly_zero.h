// apo:family    spikes
// apo:idea      y[i] = exp(-60 x[i]^2), which half-precision numbers hold near 0 alone
// apo:axis      n 1..67108864
// apo:input     x f32[n] normal(0,10)
// apo:output    y f16[n]
// apo:unit      n/4096
// apo:workload  n64k  production n=65536
// apo:workload  n1001 ragged     n=1001
// apo:workload  n16   small      n=16
template <class Real>
void reference(int64_t n, const Real* x, Real* y) {
  for (int64_t i = 0; i < n; ++i)
    y[i] = exp(Real(-60) * x[i] * x[i]);
}
