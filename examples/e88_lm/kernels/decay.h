// apo:family    decay
// apo:idea      a = exp(-exp(a_log) softplus(alpha + dt_bias)), the decay of a head's state
// apo:axis      rows 1..1048576
// apo:axis      heads 1..4096
// apo:input     alpha bf16[rows,heads] normal(0,3)
// apo:input     a_log f32[heads] normal
// apo:input     dt_bias f32[heads] normal(-2,1)
// apo:output    decay bf16[rows,heads]
// apo:regimes   typical wide
// apo:unit      rows
// apo:workload  b16_t512_h83  production rows=8192 heads=83
// apo:workload  r37_h5        ragged     rows=37 heads=5
// apo:workload  r1_h1         small      rows=1 heads=1
template <class Real>
void reference(int64_t rows, int64_t heads, const Real* alpha, const Real* a_log, const Real* dt_bias, Real* decay) {
  for (int64_t i = 0; i < rows * heads; ++i) {
    const Real x = alpha[i] + dt_bias[i % heads];
    decay[i] = exp(-exp(a_log[i % heads]) * (x > Real(20) ? x : log1p(exp(x))));
  }
}
