// apo:family    zoo_transpose
// apo:idea      y[column, row] = x[row, column]
// apo:axis      n 1..2147483648
// apo:input     x f32[n,n] uniform(-1,1)
// apo:output    y f32[n,n]
// apo:regimes   typical
// apo:workload  n4096 production cuda n=4096
// apo:workload  n64   small      cuda n=64
template <class Real>
void reference(int64_t n, const Real* x, Real* y) {
  for (int64_t i = 0; i < n * n; ++i)
    y[i] = x[i % n * n + i / n];
}
