// apo:family    softmax_rows
// apo:idea      softmax of each row
// apo:axis      rows 1..65536
// apo:axis      cols 1..4096
// apo:input     x f32[rows,cols] normal
// apo:output    y f32[rows,cols]
// apo:workload  r7_c300 ragged rows=7 cols=300
template <class Real>
void reference(int64_t rows, int64_t cols, const Real* x, Real* y) {
  for (int64_t row = 0; row < rows; ++row, x += cols, y += cols) {
    Real largest = x[0];
    for (int64_t i = 1; i < cols; ++i)
      largest = max(largest, x[i]);
    const Real total = sum<Real>(cols, [&](int64_t i) { return exp(x[i] - largest); });
    for (int64_t i = 0; i < cols; ++i)
      y[i] = exp(x[i] - largest) / total;
  }
}
