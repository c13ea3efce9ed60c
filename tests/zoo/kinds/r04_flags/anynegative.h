// apo:family    anynegative
// apo:idea      y[r] = 1 where a row has an element below -2.5, else 0
// apo:axis      rows 1..4096
// apo:axis      cols 1..65536
// apo:input     x f32[rows,cols] normal
// apo:output    y f32[rows]
// apo:unit      rows
// apo:workload  r64_c300 production rows=64 cols=300
// apo:workload  r23_c131 ragged     rows=23 cols=131
// apo:workload  r5_c70   small      rows=5 cols=70
template <class Real>
void reference(int64_t rows, int64_t cols, const Real* x, Real* y) {
  for (int64_t r = 0; r < rows; ++r) {
    y[r] = 0;
    for (int64_t c = 0; c < cols; ++c)
      if (x[r * cols + c] < Real(-2.5))
        y[r] = 1;
  }
}
