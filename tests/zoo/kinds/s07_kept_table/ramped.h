// apo:family    ramped
// apo:idea      y[r,c] = x[r,c] (c + 1) / cols
// apo:axis      rows 1..65536
// apo:axis      cols 1..16384
// apo:input     x f32[rows,cols] normal
// apo:output    y f32[rows,cols]
// apo:unit      rows
// apo:workload  r16_c512 production rows=16 cols=512
// apo:workload  r5_c99   ragged     rows=5 cols=99
// apo:workload  r2_c8    small      rows=2 cols=8
template <class Real>
void reference(int64_t rows, int64_t cols, const Real* x, Real* y) {
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < cols; ++c)
      y[r * cols + c] = x[r * cols + c] * (Real(c + 1) / Real(cols));
}
