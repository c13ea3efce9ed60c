// apo:family    silu
// apo:idea      y = x / (1 + exp(-x))
// apo:axis      n 1..1048576
// apo:input     x f32[n] normal
// apo:output    y f32[n]
// apo:workload  n3075 ragged n=3075
template <class Real>
void reference(int64_t n, const Real* x, Real* y) {
  for (int64_t i = 0; i < n; ++i) {
    y[i] = x[i] / (Real(1) + exp(-x[i]));
  }
}
