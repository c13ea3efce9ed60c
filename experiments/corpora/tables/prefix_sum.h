// apo:family    prefix_sum
// apo:idea      y[i] = x[0] + ... + x[i]
// apo:axis      n 1..16777216
// apo:input     x f32[n] normal
// apo:output    y f32[n]
// apo:workload  n1025 ragged n=1025
template <class Real>
void reference(int64_t n, const Real* x, Real* y) {
  Real total = 0;
  for (int64_t i = 0; i < n; ++i)
    y[i] = total += x[i];
}
