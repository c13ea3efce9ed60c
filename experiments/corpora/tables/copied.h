// apo:family    copied
// apo:idea      y = x: the operation of kernels that have none
// apo:axis      n 1..4096
// apo:input     x f32[n] normal
// apo:output    y f32[n]
// apo:workload  n64 small n=64
template <class Real>
void reference(int64_t n, const Real* x, Real* y) {
  for (int64_t i = 0; i < n; ++i)
    y[i] = x[i];
}
