// apo:family    lse
// apo:idea      s[r] = log(sum over c of exp(x[r,c]))
// apo:axis      rows 1..65536
// apo:axis      cols 1..65536
// apo:input     x f32[rows,cols] normal
// apo:output    s f32[rows]
// apo:unit      rows
// apo:workload  r64_c1024 production rows=64 cols=1024
// apo:workload  r7_c205   ragged     rows=7 cols=205
// apo:workload  r3_c5     small      rows=3 cols=5
template <class Real>
void reference(int64_t rows, int64_t cols, const Real* x, Real* s) {
  for (int64_t r = 0; r < rows; ++r, x += cols) {
    Real largest = x[0];
    for (int64_t c = 1; c < cols; ++c)
      largest = max(largest, x[c]);
    s[r] = largest + log(sum<Real>(cols, [&](int64_t c) { return exp(x[c] - largest); }));
  }
}
