// apo:family    bent
// apo:idea      y[i] = 1 / (1 + exp(-x[i]))
// apo:axis      n 1..67108864
// apo:input     x f32[n] normal
// apo:output    y f16[n]
// apo:unit      n/4096
// apo:workload  n64k  production n=65536
// apo:workload  n1001 ragged     n=1001
// apo:workload  n16   small      n=16
template <class Real>
void reference(int64_t n, const Real* x, Real* y) {
  for (int64_t i = 0; i < n; ++i)
    y[i] = Real(1) / (Real(1) + exp(-x[i]));
}
