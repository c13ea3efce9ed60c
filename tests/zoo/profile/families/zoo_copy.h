// apo:family    zoo_copy
// apo:idea      y = x
// apo:axis      n 1..2147483648
// apo:input     x f32[n] uniform(-1,1)
// apo:output    y f32[n]
// apo:regimes   typical
// apo:workload  n16m production cuda n=16777216
// apo:workload  n1m  production cuda n=1048576
// apo:workload  n4k  small      cuda n=4096
template <class Real>
void reference(int64_t n, const Real* x, Real* y) {
  for (int64_t i = 0; i < n; ++i)
    y[i] = x[i];
}
