// apo:family    layer_norm_f32
// apo:idea      y[r,:] = (x[r,:] - mean) / sqrt(variance + eps) * weight + bias
// apo:axis      rows 1..1048576
// apo:axis      cols 1..8388608
// apo:scalar    eps f32 1e-5
// apo:input     x f32[rows,cols] normal
// apo:input     weight f32[cols] normal
// apo:input     bias f32[cols] normal
// apo:output    y f32[rows,cols]
// apo:requires  rows * cols <= 268435456
// apo:unit      rows
// apo:workload  r1_c4194304  production rows=1 cols=4194304
// apo:workload  r16_c4194304 production rows=16 cols=4194304
// apo:workload  r4096_c4096  production rows=4096 cols=4096
// apo:workload  r7_c1000     ragged     rows=7 cols=1000
// apo:workload  r3_c64       small      rows=3 cols=64
template <class Real>
void reference(int64_t rows, int64_t cols, Real eps, const Real* x, const Real* weight, const Real* bias, Real* y) {
  for (int64_t r = 0; r < rows; ++r, x += cols, y += cols) {
    const Real middle = mean<Real>(cols, [&](int64_t c) { return x[c]; });
    const Real variance = mean<Real>(cols, [&](int64_t c) { return (x[c] - middle) * (x[c] - middle); });
    const Real scale = rsqrt(variance + eps);
    for (int64_t c = 0; c < cols; ++c)
      y[c] = (x[c] - middle) * scale * weight[c] + bias[c];
  }
}
