// apo:family    narrowproduct
// apo:idea      y[r,c] = x[r,0] x[r,1] ... x[r,c], of factors near 1
// apo:axis      rows 1..4096
// apo:axis      cols 1..8192
// apo:input     x f32[rows,cols] uniform(0.995,1.005)
// apo:output    y f32[rows,cols]
// apo:unit      rows
// apo:regimes   typical wide alternating constant_rows
// apo:workload  r16_c4096 production rows=16 cols=4096
// apo:workload  r5_c533   ragged     rows=5 cols=533
// apo:workload  r2_c4     small      rows=2 cols=4
template <class Real>
void reference(int64_t rows, int64_t cols, const Real* x, Real* y) {
  for (int64_t r = 0; r < rows; ++r) {
    Real v = 1;
    for (int64_t c = 0; c < cols; ++c)
      y[r * cols + c] = v = v * x[r * cols + c];
  }
}
