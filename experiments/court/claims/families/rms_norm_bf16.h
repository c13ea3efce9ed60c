// apo:family    rms_norm_bf16
// apo:idea      y[r,:] = bf16(x[r,:] / sqrt(mean(x[r,:]^2) + eps)) * weight, of bf16, as Llama rounds it
// apo:axis      rows 1..1048576
// apo:axis      cols 1..65536
// apo:scalar    eps f32 1e-6
// apo:input     x bf16[rows,cols] normal
// apo:input     weight bf16[cols] normal(1,0.25)
// apo:output    y bf16[rows,cols]
// apo:requires  rows * cols <= 268435456
// apo:unit      rows
// apo:workload  r2048_c2048 production rows=2048 cols=2048
// apo:workload  r7_c1000    ragged     rows=7 cols=1000
// apo:workload  r3_c64      small      rows=3 cols=64
template <class Real>
void reference(int64_t rows, int64_t cols, Real eps, const Real* x, const Real* weight, Real* y) {
  for (int64_t r = 0; r < rows; ++r, x += cols, y += cols) {
    const Real scale = rsqrt(mean<Real>(cols, [&](int64_t c) { return x[c] * x[c]; }) + eps);
    for (int64_t c = 0; c < cols; ++c)
      y[c] = rounded<bf16>(x[c] * scale) * weight[c];
  }
}
