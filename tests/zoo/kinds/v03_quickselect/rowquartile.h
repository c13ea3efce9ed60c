// apo:family    rowquartile
// apo:idea      m[r] = the element of x[r,:] that cols/4 others are not larger than
// apo:axis      rows 1..65536
// apo:axis      cols 1..65536
// apo:input     x f32[rows,cols] normal
// apo:output    m f32[rows]
// apo:unit      rows
// apo:workload  r64_c2048 production rows=64 cols=2048
// apo:workload  r9_c301   ragged     rows=9 cols=301
// apo:workload  r4_c8     small      rows=4 cols=8
template <class Real>
void reference(int64_t rows, int64_t cols, const Real* x, Real* m) {
  for (int64_t r = 0; r < rows; ++r) {
    std::vector<Real> row(x + r * cols, x + (r + 1) * cols);
    std::sort(row.begin(), row.end());
    m[r] = row[cols / 4];
  }
}
