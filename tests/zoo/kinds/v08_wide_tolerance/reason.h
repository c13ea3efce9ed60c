// apo:family    rowsum_reason
// apo:idea      t[r] = the sum of x[r,:]
// apo:axis      rows 1..65536
// apo:axis      cols 1..65536
// apo:input     x f32[rows,cols] normal
// apo:output    t f32[rows]
// apo:unit      rows
// apo:tolerance rtol=1e-4 atol=1e-3 because the sums feed a histogram of 100 bins
// apo:workload  r64_c1024 production rows=64 cols=1024
// apo:workload  r7_c205   ragged     rows=7 cols=205
// apo:workload  r3_c5     small      rows=3 cols=5
template <class Real>
void reference(int64_t rows, int64_t cols, const Real* x, Real* t) {
  for (int64_t r = 0; r < rows; ++r)
    t[r] = sum<Real>(cols, [&](int64_t c) { return x[r * cols + c]; });
}
