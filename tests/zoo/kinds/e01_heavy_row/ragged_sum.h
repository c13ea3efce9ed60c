// apo:family    ragged_sum
// apo:idea      y[r] = the sum of the first length[r] + 1 elements of x[r,:]
// apo:axis      rows 1..65536
// apo:axis      cols 1..4096
// apo:input     x f32[rows,cols] normal
// apo:input     length i32[rows] index(0..cols-1)
// apo:output    y f32[rows]
// apo:unit      rows
// apo:workload  r3000_c96 production rows=3000 cols=96
// apo:workload  r67_c33   ragged     rows=67 cols=33
// apo:workload  r2_c4     small      rows=2 cols=4
template <class Real>
void reference(int64_t rows, int64_t cols, const Real* x, const int64_t* length, Real* y) {
  for (int64_t r = 0; r < rows; ++r)
    y[r] = sum<Real>(length[r] + 1, [&](int64_t c) { return x[r * cols + c]; });
}
