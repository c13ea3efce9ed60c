// apo:family    layer_norm
// apo:idea      y[r,:] = (x[r,:] - mean[r]) * rstd[r] * weight + bias, where rstd = 1 / sqrt(mean((x[r,:] - mean[r])^2) + eps)
// apo:axis      rows 1..1048576 independent rows
// apo:axis      cols 1..65536 elements of a row
// apo:scalar    eps f32 1e-5
// apo:input     x bf16[rows,cols] normal
// apo:input     weight bf16[cols] normal(1,0.25)
// apo:input     bias bf16[cols] normal(0,0.25)
// apo:output    y bf16[rows,cols]
// apo:output    mean f32[rows]
// apo:output    rstd f32[rows]
// apo:unit      rows
// apo:workload  r4096_c2048  production rows=4096 cols=2048
// apo:workload  r16384_c4096 production rows=16384 cols=4096
// apo:workload  r7_c1000     ragged     rows=7 cols=1000
// apo:workload  r3_c5        small      rows=3 cols=5
template <class Real>
void reference(int64_t rows, int64_t cols, Real eps, const Real* x, const Real* weight, const Real* bias, Real* y,
               Real* mean_of, Real* rstd_of) {
  for (int64_t r = 0; r < rows; ++r, x += cols, y += cols) {
    const Real middle = mean<Real>(cols, [&](int64_t c) { return x[c]; });
    const Real variance = mean<Real>(cols, [&](int64_t c) { return (x[c] - middle) * (x[c] - middle); });
    mean_of[r] = middle;
    rstd_of[r] = rsqrt(variance + eps);
    for (int64_t c = 0; c < cols; ++c)
      y[c] = (x[c] - middle) * rstd_of[r] * weight[c] + bias[c];
  }
}
