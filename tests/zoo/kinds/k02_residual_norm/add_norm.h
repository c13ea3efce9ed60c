// apo:family    add_norm
// apo:idea      h[r,c] += x[r,c], and y is the RMS norm of each row of the new h
// apo:axis      rows 1..65536
// apo:axis      cols 1..16384
// apo:scalar    eps f32 1e-6
// apo:input     x bf16[rows,cols] normal
// apo:output    y bf16[rows,cols]
// apo:inout     h bf16[rows,cols] normal
// apo:unit      rows
// apo:workload  r32_c512 production rows=32 cols=512
// apo:workload  r7_c333  ragged     rows=7 cols=333
// apo:workload  r2_c8    small      rows=2 cols=8
template <class Real>
void reference(int64_t rows, int64_t cols, Real eps, const Real* x, Real* y, Real* h) {
  for (int64_t r = 0; r < rows; ++r, x += cols, y += cols, h += cols) {
    for (int64_t c = 0; c < cols; ++c)
      h[c] = rounded<bf16>(h[c] + x[c]);
    const Real squares = sum<Real>(cols, [&](int64_t c) { return h[c] * h[c]; });
    const Real scale = rsqrt(squares / Real(cols) + eps);
    for (int64_t c = 0; c < cols; ++c)
      y[c] = h[c] * scale;
  }
}
