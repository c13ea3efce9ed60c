// apo:family    planes
// apo:idea      y[p,i] = 2 x[p,i] + b[i]
// apo:axis      P 1..200000 planes
// apo:axis      n 1..4096
// apo:input     x f32[P,n] normal
// apo:input     b f32[n] normal
// apo:output    y f32[P,n]
// apo:unit      P
// apo:workload  p32_n256 production P=32 n=256
// apo:workload  p7_n33   ragged     P=7 n=33
// apo:workload  p2_n2    small      P=2 n=2
template <class Real>
void reference(int64_t P, int64_t n, const Real* x, const Real* b, Real* y) {
  for (int64_t e = 0; e < P * n; ++e)
    y[e] = Real(2) * x[e] + b[e % n];
}
