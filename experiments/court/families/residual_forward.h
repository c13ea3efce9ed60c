// apo:family    residual_forward
// apo:idea      out = inp1 + inp2
// apo:axis      N 1..1073741824 elements
// apo:input     inp1 f32[N] normal
// apo:input     inp2 f32[N] normal
// apo:output    out f32[N]
// apo:workload  n6m production N=6291456
template <class Real>
void reference(int64_t N, const Real* inp1, const Real* inp2, Real* out) {
  for (int64_t i = 0; i < N; ++i)
    out[i] = inp1[i] + inp2[i];
}
