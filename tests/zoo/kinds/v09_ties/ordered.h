// apo:family    ordered
// apo:idea      y[r,:] = x[r,:] in ascending order
// apo:axis      rows 1..4096
// apo:axis      cols 1..2048
// apo:input     x f32[rows,cols] normal
// apo:output    y f32[rows,cols]
// apo:unit      rows
// apo:workload  r64_c512 production rows=64 cols=512
// apo:workload  r7_c205  ragged     rows=7 cols=205
// apo:workload  r3_c5    small      rows=3 cols=5
template <class Real>
void reference(int64_t rows, int64_t cols, const Real* x, Real* y) {
  for (int64_t r = 0; r < rows; ++r) {
    std::copy(x + r * cols, x + (r + 1) * cols, y + r * cols);
    std::sort(y + r * cols, y + (r + 1) * cols);
  }
}
