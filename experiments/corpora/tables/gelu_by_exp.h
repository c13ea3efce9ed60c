// apo:family    gelu_by_exp
// apo:idea      y = x (1 + tanh(u)) / 2 of u = 0.79788 (x + 0.044715 x^3), with the rounding of tanh(u) = 1 - 2 / (exp(2|u|) + 1)
// apo:axis      n 1..1048576
// apo:input     x f32[n] normal
// apo:output    y f32[n]
// apo:workload  n3075 ragged n=3075
template <class Real>
void reference(int64_t n, const Real* x, Real* y) {
  for (int64_t i = 0; i < n; ++i) {
    const Real u = Real(0.7978845608028654) * (x[i] + Real(0.044715) * x[i] * x[i] * x[i]);
    const Real away = Real(1) - Real(2) / (exp(Real(2) * abs(u)) + Real(1));
    y[i] = Real(0.5) * x[i] * (Real(1) + (u >= Real(0) ? away : -away));
  }
}
