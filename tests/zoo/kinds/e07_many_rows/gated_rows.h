// apo:family    gated_rows
// apo:idea      y[r,:] = gate[r] ? x[r,:] x[r,:] : 0
// apo:axis      rows 1..4194304
// apo:axis      cols 1..4096
// apo:input     x f32[rows,cols] normal
// apo:input     gate bool[rows] mask
// apo:output    y f32[rows,cols]
// apo:unit      rows
// apo:workload  r150k_c8 production rows=150000 cols=8
// apo:workload  r70_c33  ragged     rows=70 cols=33
// apo:workload  r5_c4    small      rows=5 cols=4
template <class Real>
void reference(int64_t rows, int64_t cols, const Real* x, const int64_t* gate, Real* y) {
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < cols; ++c)
      y[r * cols + c] = gate[r] ? x[r * cols + c] * x[r * cols + c] : Real(0);
}
