// apo:family    l2_norm_rows
// apo:idea      each row divided by the root of the sum of its squares + 1e-12
// apo:axis      rows 1..65536
// apo:axis      cols 1..4096
// apo:input     x f32[rows,cols] normal
// apo:output    y f32[rows,cols]
// apo:workload  r7_c300 ragged rows=7 cols=300
template <class Real>
void reference(int64_t rows, int64_t cols, const Real* x, Real* y) {
  for (int64_t row = 0; row < rows; ++row, x += cols, y += cols) {
    const Real length = sqrt(sum<Real>(cols, [&](int64_t i) { return x[i] * x[i]; }) + Real(1e-12));
    for (int64_t i = 0; i < cols; ++i)
      y[i] = x[i] / length;
  }
}
