// apo:family    cross_entropy_mean_backward
// apo:idea      dx = grad / rows * (softmax(x) - [c is the target])
// apo:axis      rows 1..65536
// apo:axis      cols 2..4096 classes
// apo:scalar    grad f32 1
// apo:input     x f32[rows,cols] normal
// apo:input     targets i64[rows] index(0..cols-1)
// apo:output    dx f32[rows,cols]
// apo:workload  r64_c10    production rows=64 cols=10
// apo:workload  r4096_c100 production rows=4096 cols=100
// apo:workload  r7_c33     ragged     rows=7 cols=33
// apo:workload  r5_c10     small      rows=5 cols=10
template <class Real>
void reference(int64_t rows, int64_t cols, Real grad, const Real* x, const int64_t* targets, Real* dx) {
  const Real scale = grad / Real(rows);
  for (int64_t r = 0; r < rows; ++r, x += cols, dx += cols) {
    Real largest = x[0];
    for (int64_t c = 1; c < cols; ++c)
      largest = max(largest, x[c]);
    const Real total = sum<Real>(cols, [&](int64_t c) { return exp(x[c] - largest); });
    for (int64_t c = 0; c < cols; ++c)
      dx[c] = (exp(x[c] - largest) / total - (c == targets[r] ? Real(1) : Real(0))) * scale;
  }
}
