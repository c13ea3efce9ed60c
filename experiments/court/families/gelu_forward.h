// apo:family    gelu_forward
// apo:idea      out = GELU(inp), in its form with tanh
// apo:axis      N 1..1073741824 elements
// apo:input     inp f32[N] normal
// apo:output    out f32[N]
// apo:workload  n6m production N=6291456
template <class Real>
void reference(int64_t N, const Real* inp, Real* out) {
  for (int64_t i = 0; i < N; ++i) {
    const Real x = inp[i];
    const Real cube = Real(0.044715) * x * x * x;
    out[i] = Real(0.5) * x * (Real(1) + tanh(Real(0.7978845608028654) * (x + cube)));
  }
}
