// apo:family    drop_clock
// apo:idea      y[i] = x[i] / keep with probability keep, else 0, and no seed says which
// apo:axis      n 1..16777216
// apo:scalar    keep f32 0.5
// apo:input     x f32[n] normal
// apo:output    y f32[n]
// apo:random    y
// apo:unit      n/4096
// apo:workload  n16k  production n=16384
// apo:workload  n9001 ragged     n=9001
// apo:workload  n64   small      n=64
template <class Real>
void reference(int64_t n, Real keep, const Real* x, Real* y) {
  for (int64_t i = 0; i < n; ++i)
    y[i] = drawn(keep, x[i] / keep, 0);
}
