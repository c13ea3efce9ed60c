// apo:family    tanh_by_exp
// apo:idea      y = tanh(x), with the rounding of 1 - 2 / (exp(2|x|) + 1)
// apo:axis      n 1..1048576
// apo:input     x f32[n] normal
// apo:output    y f32[n]
// apo:workload  n3075 ragged n=3075
template <class Real>
void reference(int64_t n, const Real* x, Real* y) {
  for (int64_t i = 0; i < n; ++i) {
    const Real away = Real(1) - Real(2) / (exp(Real(2) * abs(x[i])) + Real(1));
    y[i] = x[i] >= Real(0) ? away : -away;
  }
}
