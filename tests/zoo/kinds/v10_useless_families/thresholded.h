// apo:family    thresholded
// apo:idea      y[i] = x[i] where it is above 0, else 0: half of it is 0
// apo:axis      n 1..67108864
// apo:input     x f32[n] normal
// apo:output    y f32[n]
// apo:unit      n/4096
// apo:workload  n64k  production n=65536
// apo:workload  n1001 ragged     n=1001
// apo:workload  n16   small      n=16
template <class Real>
void reference(int64_t n, const Real* x, Real* y) {
  for (int64_t i = 0; i < n; ++i)
    y[i] = max(x[i], Real(0));
}
