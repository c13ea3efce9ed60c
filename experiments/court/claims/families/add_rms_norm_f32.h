// apo:family    add_rms_norm_f32
// apo:idea      s = x + residual, and y[r,:] = s[r,:] / sqrt(mean(s[r,:]^2) + eps) * weight
// apo:axis      rows 1..1048576
// apo:axis      cols 1..65536
// apo:scalar    eps f32 1e-6
// apo:input     x f32[rows,cols] normal
// apo:input     residual f32[rows,cols] normal
// apo:input     weight f32[cols] normal(1,0.25)
// apo:output    y f32[rows,cols]
// apo:output    s f32[rows,cols]
// apo:requires  rows * cols <= 268435456
// apo:unit      rows
// apo:workload  r2048_c4096 production rows=2048 cols=4096
// apo:workload  r7_c1000    ragged     rows=7 cols=1000
// apo:workload  r3_c64      small      rows=3 cols=64
template <class Real>
void reference(int64_t rows, int64_t cols, Real eps, const Real* x, const Real* residual, const Real* weight, Real* y,
               Real* s) {
  for (int64_t r = 0; r < rows; ++r, x += cols, residual += cols, y += cols, s += cols) {
    for (int64_t c = 0; c < cols; ++c)
      s[c] = x[c] + residual[c];
    const Real scale = rsqrt(mean<Real>(cols, [&](int64_t c) { return s[c] * s[c]; }) + eps);
    for (int64_t c = 0; c < cols; ++c)
      y[c] = s[c] * scale * weight[c];
  }
}
