// apo:family    midpoint
// apo:idea      y[i] = (a[i] + b[i]) / 2
// apo:axis      n 1..67108864
// apo:input     a f16[n] normal
// apo:input     b f16[n] normal
// apo:output    y f16[n]
// apo:unit      n/4096
// apo:workload  n64k  production n=65536
// apo:workload  n1001 ragged     n=1001
// apo:workload  n16   small      n=16
template <class Real>
void reference(int64_t n, const Real* a, const Real* b, Real* y) {
  for (int64_t i = 0; i < n; ++i)
    y[i] = Real(0.5) * (a[i] + b[i]);
}
