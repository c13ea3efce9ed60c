// apo:family    total
// apo:idea      y[b] = sum over i of x[b,i]
// apo:axis      B 1..64
// apo:axis      n 1..1000000
// apo:input     x f32[B,n] normal
// apo:output    y f32[B]
// apo:unit      B
// apo:workload  b2_n20k  production B=2 n=20000
// apo:workload  b3_n1777 ragged     B=3 n=1777
// apo:workload  b1_n600  small      B=1 n=600
template <class Real>
void reference(int64_t B, int64_t n, const Real* x, Real* y) {
  for (int64_t b = 0; b < B; ++b) {
    y[b] = 0;
    for (int64_t i = 0; i < n; ++i)
      y[b] += x[b * n + i];
  }
}
