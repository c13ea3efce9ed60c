// apo:family    gelu_f32
// apo:idea      y = 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
// apo:axis      n 1..268435456
// apo:input     x f32[n] uniform(0,1)
// apo:output    y f32[n]
// apo:unit      n/4096
// apo:workload  n67m   production n=67108864
// apo:workload  n1001  ragged     n=1001
// apo:workload  n4k    small      n=4096
template <class Real>
void reference(int64_t n, const Real* x, Real* y) {
  for (int64_t i = 0; i < n; ++i)
    y[i] = Real(0.5) * x[i] * (Real(1) + tanh(Real(0.7978845608028654) * (x[i] + Real(0.044715) * x[i] * x[i] * x[i])));
}
