// apo:family    row_softmax
// apo:idea      y[r,:] = softmax(x[r,:])
// apo:axis      rows 1..1048576 independent rows
// apo:axis      cols 1..262144 elements of a row
// apo:input     x f32[rows,cols] normal
// apo:output    y f32[rows,cols]
// apo:unit      rows
// apo:workload  r4096_c1024 production rows=4096 cols=1024
// apo:workload  r256_c4096  production rows=256 cols=4096
// apo:workload  r2048_c131072 extreme rows=2048 cols=131072
// apo:workload  r7_c1000    ragged     rows=7 cols=1000
// apo:workload  r35_c2052   ragged     rows=35 cols=2052
// apo:workload  r5_c33      small      rows=5 cols=33
// apo:workload  r1_c1       small      rows=1 cols=1
template <class Real>
void reference(int64_t rows, int64_t cols, const Real* x, Real* y) {
  for (int64_t r = 0; r < rows; ++r, x += cols, y += cols) {
    Real largest = x[0], sum = 0;
    for (int64_t c = 1; c < cols; ++c)
      largest = max(largest, x[c]);
    for (int64_t c = 0; c < cols; ++c)
      sum += y[c] = exp(x[c] - largest);
    for (int64_t c = 0; c < cols; ++c)
      y[c] /= sum;
  }
}
