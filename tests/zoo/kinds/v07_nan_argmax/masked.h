// apo:family    masked
// apo:idea      y[r,:] = softmax(x[r,:]) where minus infinity has no part; a row of nothing else is 0
// apo:axis      rows 1..65536
// apo:axis      cols 1..65536
// apo:input     x f32[rows,cols] normal
// apo:output    y f32[rows,cols]
// apo:unit      rows
// apo:values    -inf
// apo:workload  r64_c1024 production rows=64 cols=1024
// apo:workload  r7_c205   ragged     rows=7 cols=205
// apo:workload  r3_c5     small      rows=3 cols=5
template <class Real>
void reference(int64_t rows, int64_t cols, const Real* x, Real* y) {
  for (int64_t r = 0; r < rows; ++r, x += cols, y += cols) {
    Real largest = x[0], total = 0;
    for (int64_t c = 1; c < cols; ++c)
      largest = max(largest, x[c]);
    const bool any = isfinite(largest);
    for (int64_t c = 0; c < cols; ++c)
      total += y[c] = any && isfinite(x[c]) ? exp(x[c] - largest) : Real(0);
    for (int64_t c = 0; c < cols && any; ++c)
      y[c] /= total;
  }
}
