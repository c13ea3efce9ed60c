// apo:family    scaled_softmax
// apo:idea      y[r,:] = softmax(scale * x[r,:])
// apo:axis      rows 1..65536
// apo:axis      cols 1..65536
// apo:scalar    scale f32 0.125
// apo:input     x f32[rows,cols] normal(0,8)
// apo:output    y f32[rows,cols]
// apo:unit      rows
// apo:workload  r256_c1024 production rows=256 cols=1024
// apo:workload  r7_c1000   ragged     rows=7 cols=1000
// apo:workload  r1_c1      small      rows=1 cols=1
template <class Real>
void reference(int64_t rows, int64_t cols, Real scale, const Real* x, Real* y) {
  for (int64_t r = 0; r < rows; ++r, x += cols, y += cols) {
    Real largest = x[0], sum = 0;
    for (int64_t c = 1; c < cols; ++c)
      largest = max(largest, x[c]);
    for (int64_t c = 0; c < cols; ++c)
      sum += y[c] = exp((x[c] - largest) * scale);
    for (int64_t c = 0; c < cols; ++c)
      y[c] /= sum;
  }
}
