// apo:family    widened
// apo:idea      y[i] = s x[i], from 8-bit floats
// apo:axis      n 1..67108864
// apo:scalar    s f32 0.125
// apo:input     x e4m3[n] normal
// apo:output    y f32[n]
// apo:unit      n/4096
// apo:workload  n64k  production n=65536
// apo:workload  n1001 ragged     n=1001
// apo:workload  n16   small      n=16
template <class Real>
void reference(int64_t n, Real s, const Real* x, Real* y) {
  for (int64_t i = 0; i < n; ++i)
    y[i] = s * x[i];
}
