// apo:family    rows_softmax
// apo:idea      y[r,:] = softmax(x[r,:])
// apo:axis      rows 1..65536
// apo:axis      cols 1..4096
// apo:requires  cols >= 2
// apo:input     x f32[rows,cols] normal
// apo:output    y f32[rows,cols]
// apo:unit      rows
// apo:workload  r1000_c128 production rows=1000 cols=128
// apo:workload  r75_c33    ragged     rows=75 cols=33
// apo:workload  r2_c4      small      rows=2 cols=4
template <class Real>
void reference(int64_t rows, int64_t cols, const Real* x, Real* y) {
  for (int64_t r = 0; r < rows; ++r, x += cols, y += cols) {
    Real largest = x[0];
    for (int64_t c = 1; c < cols; ++c)
      largest = max(largest, x[c]);
    for (int64_t c = 0; c < cols; ++c)
      y[c] = exp(x[c] - largest);
    const Real total = sum<Real>(cols, [&](int64_t c) { return y[c]; });
    for (int64_t c = 0; c < cols; ++c)
      y[c] /= total;
  }
}
