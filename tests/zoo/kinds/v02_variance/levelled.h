// apo:family    levelled
// apo:idea      y[r,:] = (x[r,:] - mean) / sqrt(variance + eps)
// apo:axis      rows 1..65536
// apo:axis      cols 2..65536
// apo:scalar    eps f32 1e-5
// apo:input     x f32[rows,cols] normal
// apo:output    y f32[rows,cols]
// apo:unit      rows
// apo:workload  r64_c2048 production rows=64 cols=2048
// apo:workload  r9_c301   ragged     rows=9 cols=301
// apo:workload  r4_c8     small      rows=4 cols=8
template <class Real>
void reference(int64_t rows, int64_t cols, Real eps, const Real* x, Real* y) {
  for (int64_t r = 0; r < rows; ++r, x += cols, y += cols) {
    const Real middle = mean<Real>(cols, [&](int64_t c) { return x[c]; });
    const Real squares = sum<Real>(cols, [&](int64_t c) { return (x[c] - middle) * (x[c] - middle); });
    const Real scale = rsqrt(squares / Real(cols) + eps);
    for (int64_t c = 0; c < cols; ++c)
      y[c] = (x[c] - middle) * scale;
  }
}
