// apo:family    spread
// apo:idea      m[r] = the mean, v[r] = the variance of x[r,:]
// apo:axis      rows 1..65536
// apo:axis      cols 1..65536
// apo:input     x f32[rows,cols] normal
// apo:output    m f32[rows]
// apo:output    v f32[rows]
// apo:unit      rows
// apo:workload  r64_c1024 production rows=64 cols=1024
// apo:workload  r7_c205   ragged     rows=7 cols=205
// apo:workload  r3_c5     small      rows=3 cols=5
template <class Real>
void reference(int64_t rows, int64_t cols, const Real* x, Real* m, Real* v) {
  for (int64_t r = 0; r < rows; ++r, x += cols) {
    m[r] = sum<Real>(cols, [&](int64_t c) { return x[c]; }) / Real(cols);
    v[r] = sum<Real>(cols, [&](int64_t c) { return (x[c] - m[r]) * (x[c] - m[r]); }) / Real(cols);
  }
}
