// apo:family     copy
// apo:idea       y[i] = x[i]: the memory roof, and the shortest contract to read
// apo:axis       n 1..8589934592 elements
// apo:input      x f32[n] normal
// apo:output     y f32[n]
// apo:unit       n/4096
// apo:regimes    typical wide
// apo:repeatable yes
// apo:workload   n1m   production n=1048576
// apo:workload   n4k   small      n=4096
// apo:workload   n1001 ragged     n=1001
// apo:workload   n64m  extreme    n=67108864
template <class Real>
void reference(int64_t n, const Real* x, Real* y) {
  for (int64_t i = 0; i < n; ++i)
    y[i] = x[i];
}
