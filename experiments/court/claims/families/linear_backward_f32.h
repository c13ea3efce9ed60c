// apo:family    linear_backward_f32
// apo:idea      dx, dw and dbias of y = x w^T + bias, from dy
// apo:axis      B 1..65536 samples
// apo:axis      I 1..16384 features
// apo:axis      O 1..16384 features of the result
// apo:input     dy f32[B,O] normal
// apo:input     x f32[B,I] normal
// apo:input     w f32[O,I] normal(0,0.1)
// apo:output    dx f32[B,I]
// apo:output    dw f32[O,I]
// apo:output    dbias f32[O]
// apo:requires  B * I <= 67108864 && B * O <= 67108864
// apo:workload  b64_i128_o10 production B=64 I=128 O=10
// apo:workload  b7_i100_o17  ragged     B=7 I=100 O=17
// apo:workload  b4_i64_o10   small      B=4 I=64 O=10
template <class Real>
void reference(int64_t B, int64_t I, int64_t O, const Real* dy, const Real* x, const Real* w, Real* dx, Real* dw,
               Real* dbias) {
  for (int64_t b = 0; b < B; ++b)
    for (int64_t i = 0; i < I; ++i)
      dx[b * I + i] = sum<Real>(O, [&](int64_t o) { return dy[b * O + o] * w[o * I + i]; });
  for (int64_t o = 0; o < O; ++o) {
    for (int64_t i = 0; i < I; ++i)
      dw[o * I + i] = sum<Real>(B, [&](int64_t b) { return dy[b * O + o] * x[b * I + i]; });
    dbias[o] = sum<Real>(B, [&](int64_t b) { return dy[b * O + o]; });
  }
}
