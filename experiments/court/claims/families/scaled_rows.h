// apo:family    scaled_rows
// apo:idea      y[r,:] = scale[r] * x[r,:], the product of a diagonal matrix and a matrix
// apo:axis      rows 1..65536
// apo:axis      cols 1..65536
// apo:input     scale f32[rows] uniform(0,1)
// apo:input     x f32[rows,cols] uniform(0,1)
// apo:output    y f32[rows,cols]
// apo:requires  rows * cols <= 268435456
// apo:unit      rows
// apo:workload  r4096_c4096 production rows=4096 cols=4096
// apo:workload  r7_c1000    ragged     rows=7 cols=1000
// apo:workload  r5_c64      small      rows=5 cols=64
template <class Real>
void reference(int64_t rows, int64_t cols, const Real* scale, const Real* x, Real* y) {
  for (int64_t i = 0; i < rows * cols; ++i)
    y[i] = scale[i / cols] * x[i];
}
