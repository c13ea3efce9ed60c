// apo:family    row_squares
// apo:idea      y[r] = x[r,0] x[r,0] + ... + x[r,cols-1] x[r,cols-1]
// apo:axis      rows 1..65536
// apo:axis      cols 1..4096
// apo:input     x f32[rows,cols] normal
// apo:output    y f32[rows]
// apo:unit      rows
// apo:workload  r500_c32 production rows=500 cols=32
// apo:workload  r70_c33  ragged     rows=70 cols=33
// apo:workload  r2_c4    small      rows=2 cols=4
template <class Real>
void reference(int64_t rows, int64_t cols, const Real* x, Real* y) {
  for (int64_t r = 0; r < rows; ++r)
    y[r] = sum<Real>(cols, [&](int64_t c) { return x[r * cols + c] * x[r * cols + c]; });
}
