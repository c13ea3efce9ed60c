// apo:family    unit_rows
// apo:idea      y[r,:] = x[r,:] / ||x[r,:]||
// apo:axis      rows 1..65536
// apo:axis      cols 1..4096
// apo:requires  cols >= 2
// apo:input     x f32[rows,cols] normal
// apo:output    y bf16[rows,cols]
// apo:unit      rows
// apo:regimes   typical wide saturating constant_rows
// apo:workload  r2000_c128 production rows=2000 cols=128
// apo:workload  r70_c37    ragged     rows=70 cols=37
// apo:workload  r2_c4      small      rows=2 cols=4
template <class Real>
void reference(int64_t rows, int64_t cols, const Real* x, Real* y) {
  for (int64_t r = 0; r < rows; ++r, x += cols, y += cols) {
    const Real squares = sum<Real>(cols, [&](int64_t c) { return x[c] * x[c]; });
    const Real scale = Real(1) / sqrt(squares + Real(1e-6));
    for (int64_t c = 0; c < cols; ++c)
      y[c] = x[c] * scale;
  }
}
