// apo:family    decay_backward
// apo:idea      the gradient of a = exp(-exp(a_log) softplus(alpha + dt_bias)) in alpha, a_log and dt_bias
// apo:axis      rows 1..1048576
// apo:axis      heads 1..4096
// apo:input     alpha bf16[rows,heads] normal(0,3)
// apo:input     a_log f32[heads] normal
// apo:input     dt_bias f32[heads] normal(-2,1)
// apo:input     d_decay bf16[rows,heads] normal
// apo:output    d_alpha bf16[rows,heads]
// apo:output    d_a_log f32[heads]
// apo:output    d_dt_bias f32[heads]
// apo:regimes   typical
// apo:unit      d_alpha: rows
// apo:unit      d_a_log: heads
// apo:unit      d_dt_bias: heads
// apo:workload  b16_t512_h83  production rows=8192 heads=83
// apo:workload  r37_h5        ragged     rows=37 heads=5
// apo:workload  r300_h130     small      rows=300 heads=130
template <class Real>
void reference(int64_t rows, int64_t heads, const Real* alpha, const Real* a_log, const Real* dt_bias,
               const Real* d_decay, Real* d_alpha, Real* d_a_log, Real* d_dt_bias) {
  std::vector<Real> through(rows * heads), along(rows * heads);
  for (int64_t i = 0; i < rows * heads; ++i) {
    const Real x = alpha[i] + dt_bias[i % heads], rate = -exp(a_log[i % heads]);
    const Real step = x > Real(20) ? x : log1p(exp(x)), a = exp(rate * step);
    d_alpha[i] = through[i] = d_decay[i] * a * rate / (Real(1) + exp(-x));
    along[i] = d_decay[i] * a * rate * step;
  }
  for (int64_t head = 0; head < heads; ++head) {
    d_dt_bias[head] = sum<Real>(rows, [&](int64_t row) { return through[row * heads + head]; });
    d_a_log[head] = sum<Real>(rows, [&](int64_t row) { return along[row * heads + head]; });
  }
}
