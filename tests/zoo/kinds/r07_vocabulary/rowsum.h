// apo:family    rowsum
// apo:idea      y[r] = pi times the sum of a row
// apo:axis      rows 1..4096
// apo:axis      cols 1..65536
// apo:input     x f32[rows,cols] normal
// apo:output    y f32[rows]
// apo:unit      rows
// apo:workload  r64_c300 production rows=64 cols=300
// apo:workload  r23_c131 ragged     rows=23 cols=131
// apo:workload  r5_c7    small      rows=5 cols=7
template <class Real>
void reference(int64_t rows, int64_t cols, const Real* x, Real* y) {
  for (int64_t r = 0; r < rows; ++r) {
    y[r] = 0;
    for (int64_t c = 0; c < cols; ++c)
      y[r] += x[r * cols + c];
    y[r] *= Real(3.14159265358979323846);
  }
}
