// apo:family    rows_cumsum
// apo:idea      y[r,c] = x[r,0] + ... + x[r,c]
// apo:axis      rows 1..65536
// apo:axis      cols 1..4096
// apo:input     x f32[rows,cols] normal
// apo:output    y f32[rows,cols]
// apo:unit      rows
// apo:workload  r1500_c120 production rows=1500 cols=120
// apo:workload  r80_c33    ragged     rows=80 cols=33
// apo:workload  r2_c4      small      rows=2 cols=4
template <class Real>
void reference(int64_t rows, int64_t cols, const Real* x, Real* y) {
  for (int64_t r = 0; r < rows; ++r) {
    Real total = 0;
    for (int64_t c = 0; c < cols; ++c)
      y[r * cols + c] = total = total + x[r * cols + c];
  }
}
