// apo:family    linear_relu_f32
// apo:idea      y = max(0, x w^T + bias)
// apo:axis      B 1..65536 samples
// apo:axis      I 1..16384 features
// apo:axis      O 1..16384 features of the result
// apo:input     x f32[B,I] normal
// apo:input     w f32[O,I] normal(0,0.1)
// apo:input     bias f32[O] normal(0,0.1)
// apo:output    y f32[B,O]
// apo:requires  B * I <= 67108864 && B * O <= 67108864
// apo:unit      B O/8
// apo:workload  b64_i128_o10   production B=64 I=128 O=10
// apo:workload  b64_i1600_o128 production B=64 I=1600 O=128
// apo:workload  b7_i100_o17    ragged     B=7 I=100 O=17
// apo:workload  b4_i64_o10     small      B=4 I=64 O=10
template <class Real>
void reference(int64_t B, int64_t I, int64_t O, const Real* x, const Real* w, const Real* bias, Real* y) {
  for (int64_t b = 0; b < B; ++b) {
    for (int64_t o = 0; o < O; ++o) {
      const Real total = sum<Real>(I, [&](int64_t i) { return x[b * I + i] * w[o * I + i]; });
      y[b * O + o] = max(total + bias[o], Real(0));
    }
  }
}
