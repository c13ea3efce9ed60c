// apo:family    rotated_pow
// apo:idea      pairs of x[p,:] turned by the angle (first + p) theta^(-2i/D): a rotary embedding far out
// apo:axis      P 1..4096 positions
// apo:axis      D 2..256 elements of a row
// apo:axis      first 0..131072 default 131000
// apo:requires  D % 2 == 0
// apo:scalar    theta f32 10000
// apo:input     x f32[P,D] normal
// apo:output    y f32[P,D]
// apo:workload  p64_d128 production P=64 D=128
// apo:workload  p7_d66   ragged     P=7 D=66
// apo:workload  p3_d4    small      P=3 D=4
template <class Real>
void reference(int64_t P, int64_t D, int64_t first, Real theta, const Real* x, Real* y) {
  for (int64_t p = 0; p < P; ++p)
    for (int64_t i = 0; i < D / 2; ++i) {
      const Real angle = Real(first + p) * pow(theta, Real(-2 * i) / Real(D));
      const Real c = cos(angle), s = sin(angle);
      const Real a = x[p * D + 2 * i], b = x[p * D + 2 * i + 1];
      y[p * D + 2 * i] = a * c - b * s;
      y[p * D + 2 * i + 1] = a * s + b * c;
    }
}
