// apo:family    twice
// apo:idea      y[i] = 2 x[i]
// apo:axis      n 1..1000000
// apo:input     x f32[n] normal
// apo:output    y f32[n]
// apo:unit      n
// apo:workload  n5k  production n=5000
// apo:workload  n777 ragged     n=777
// apo:workload  n130 small      n=130
template <class Real>
void reference(int64_t n, const Real* x, Real* y) {
  for (int64_t i = 0; i < n; ++i)
    y[i] = 2 * x[i];
}
