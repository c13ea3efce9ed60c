// apo:family    rms_norm_f32
// apo:idea      y[r,:] = x[r,:] / sqrt(mean(x[r,:]^2) + eps) * w
// apo:axis      rows 1..1048576
// apo:axis      cols 1..65536
// apo:scalar    eps f32 1e-8
// apo:input     x f32[rows,cols] normal
// apo:input     w f32[cols] normal(1,0.1)
// apo:output    y f32[rows,cols]
// apo:requires  rows * cols <= 268435456
// apo:unit      rows
// apo:workload  r16384_c4096 production rows=16384 cols=4096
// apo:workload  r7_c1000     ragged     rows=7 cols=1000
// apo:workload  r3_c64       small      rows=3 cols=64
template <class Real>
void reference(int64_t rows, int64_t cols, Real eps, const Real* x, const Real* w, Real* y) {
  for (int64_t r = 0; r < rows; ++r, x += cols, y += cols) {
    const Real scale = rsqrt(mean<Real>(cols, [&](int64_t c) { return x[c] * x[c]; }) + eps);
    for (int64_t c = 0; c < cols; ++c)
      y[c] = x[c] * scale * w[c];
  }
}
