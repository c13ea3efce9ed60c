// apo:family    cross_entropy_mean
// apo:idea      loss = mean over r of log sum_c exp(x[r,c]) - x[r,targets[r]]
// apo:axis      rows 1..65536
// apo:axis      cols 2..4096 classes
// apo:input     x f32[rows,cols] normal
// apo:input     targets i64[rows] index(0..cols-1)
// apo:output    loss f32[1]
// apo:workload  r64_c10    production rows=64 cols=10
// apo:workload  r4096_c100 production rows=4096 cols=100
// apo:workload  r7_c33     ragged     rows=7 cols=33
// apo:workload  r5_c10     small      rows=5 cols=10
template <class Real>
void reference(int64_t rows, int64_t cols, const Real* x, const int64_t* targets, Real* loss) {
  loss[0] = mean<Real>(rows, [&](int64_t r) {
    Real largest = x[r * cols];
    for (int64_t c = 1; c < cols; ++c)
      largest = max(largest, x[r * cols + c]);
    return log(sum<Real>(cols, [&](int64_t c) { return exp(x[r * cols + c] - largest); })) + largest -
           x[r * cols + targets[r]];
  });
}
