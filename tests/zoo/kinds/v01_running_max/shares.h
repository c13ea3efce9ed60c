// apo:family    shares
// apo:idea      y[r,:] = softmax(x[r,:])
// apo:axis      rows 1..65536
// apo:axis      cols 1..65536
// apo:input     x f32[rows,cols] normal
// apo:output    y f32[rows,cols]
// apo:unit      rows
// apo:workload  r64_c1024 production rows=64 cols=1024
// apo:workload  r7_c205   ragged     rows=7 cols=205
// apo:workload  r3_c5     small      rows=3 cols=5
template <class Real>
void reference(int64_t rows, int64_t cols, const Real* x, Real* y) {
  for (int64_t r = 0; r < rows; ++r, x += cols, y += cols) {
    Real largest = x[0];
    for (int64_t c = 1; c < cols; ++c)
      largest = max(largest, x[c]);
    const Real total = sum<Real>(cols, [&](int64_t c) { return exp(x[c] - largest); });
    for (int64_t c = 0; c < cols; ++c)
      y[c] = exp(x[c] - largest) / total;
  }
}
