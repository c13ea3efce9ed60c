// apo:family    cross_entropy_rows
// apo:idea      losses[r] = log sum_c exp(x[r,c]) - x[r,targets[r]]
// apo:axis      rows 1..65536
// apo:axis      cols 2..65536 classes
// apo:input     x f32[rows,cols] uniform(0,1)
// apo:input     targets i64[rows] index(0..cols-1)
// apo:output    losses f32[rows]
// apo:requires  rows * cols <= 268435456
// apo:unit      rows
// apo:workload  r32768_c4096 production rows=32768 cols=4096
// apo:workload  r37_c1000    ragged     rows=37 cols=1000
// apo:workload  r32_c64      small      rows=32 cols=64
template <class Real>
void reference(int64_t rows, int64_t cols, const Real* x, const int64_t* targets, Real* losses) {
  for (int64_t r = 0; r < rows; ++r, x += cols) {
    Real largest = x[0];
    for (int64_t c = 1; c < cols; ++c)
      largest = max(largest, x[c]);
    losses[r] = log(sum<Real>(cols, [&](int64_t c) { return exp(x[c] - largest); })) + largest - x[targets[r]];
  }
}
