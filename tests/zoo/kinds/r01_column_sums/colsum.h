// apo:family    colsum
// apo:idea      y[c] = sum over r of x[r,c]
// apo:axis      rows 1..65536
// apo:axis      cols 1..65536
// apo:input     x f32[rows,cols] normal
// apo:output    y f32[cols]
// apo:unit      cols
// apo:workload  r2048_c96 production rows=2048 cols=96
// apo:workload  r333_c37  ragged     rows=333 cols=37
// apo:workload  r70_c4    small      rows=70 cols=4
template <class Real>
void reference(int64_t rows, int64_t cols, const Real* x, Real* y) {
  for (int64_t c = 0; c < cols; ++c)
    y[c] = 0;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < cols; ++c)
      y[c] += x[r * cols + c];
}
