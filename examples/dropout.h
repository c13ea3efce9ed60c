// apo:family    dropout
// apo:idea      y = x * mask / keep, where the mask is 1 with the probability keep, else 0
// apo:axis      n 1..16777216
// apo:scalar    keep f32 0.75
// apo:input     x f32[n] normal
// apo:input     seed i64[1] uniform(0,1000000000)
// apo:output    y f32[n]
// apo:output    mask u8[n]
// apo:random    y mask by seed
// apo:unit      n/4096
// apo:workload  n16k production n=16384
// apo:workload  n5001 ragged n=5001
template <class Real>
void reference(int64_t n, Real keep, const Real* x, const int64_t*, Real* y, int64_t* mask) {
  for (int64_t i = 0; i < n; ++i) {
    mask[i] = drawn(keep, 1, 0);
    y[i] = Real(mask[i]) * x[i] / keep;
  }
}
