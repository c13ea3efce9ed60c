// apo:family    softmax_f32
// apo:idea      y[r,:] = softmax(x[r,:])
// apo:axis      rows 1..1048576
// apo:axis      cols 1..262144
// apo:input     x f32[rows,cols] normal
// apo:output    y f32[rows,cols]
// apo:requires  rows * cols <= 268435456
// apo:unit      rows
// apo:workload  r2048_c1024   production rows=2048 cols=1024
// apo:workload  r1024_c262144 production rows=1024 cols=262144
// apo:workload  r7_c1000      ragged     rows=7 cols=1000
// apo:workload  r3_c64        small      rows=3 cols=64
template <class Real>
void reference(int64_t rows, int64_t cols, const Real* x, Real* y) {
  for (int64_t r = 0; r < rows; ++r, x += cols, y += cols) {
    Real largest = x[0];
    for (int64_t c = 1; c < cols; ++c)
      largest = max(largest, x[c]);
    const Real total = sum<Real>(cols, [&](int64_t c) { return exp(x[c] - largest); });
    for (int64_t c = 0; c < cols; ++c)
      y[c] = exp(x[c] - largest) / total;
  }
}
