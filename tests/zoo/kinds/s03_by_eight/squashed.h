// apo:family    squashed
// apo:idea      y[r,c] = x[r,c] / (1 + |x[r,c]|)
// apo:axis      rows 1..4096
// apo:axis      cols 1..65536
// apo:input     x f32[rows,cols] normal
// apo:output    y f32[rows,cols]
// apo:unit      rows
// apo:workload  r16_c512 production rows=16 cols=512
// apo:workload  r5_c24   ragged     rows=5 cols=24
// apo:workload  r2_c8    small      rows=2 cols=8
template <class Real>
void reference(int64_t rows, int64_t cols, const Real* x, Real* y) {
  for (int64_t e = 0; e < rows * cols; ++e)
    y[e] = x[e] / (Real(1) + fabs(x[e]));
}
