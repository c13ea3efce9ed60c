// apo:family    grouped
// apo:idea      y[h,t,d] = q[h,t,d] k[h / (H / G),t,d]: H / G heads share one of G
// apo:axis      H 1..64
// apo:axis      G 1..64
// apo:axis      T 1..4096
// apo:axis      D 1..256
// apo:requires  H % G == 0
// apo:input     q f32[H,T,D] normal
// apo:input     k f32[G,T,D] normal
// apo:output    y f32[H,T,D]
// apo:unit      T
// apo:workload  h8_g2_t64_d32 production H=8 G=2 T=64 D=32
// apo:workload  h12_g3_t5_d7  ragged     H=12 G=3 T=5 D=7
// apo:workload  h4_g1_t2_d4   small      H=4 G=1 T=2 D=4
template <class Real>
void reference(int64_t H, int64_t G, int64_t T, int64_t D, const Real* q, const Real* k, Real* y) {
  for (int64_t h = 0; h < H; ++h)
    for (int64_t e = 0; e < T * D; ++e)
      y[h * T * D + e] = q[h * T * D + e] * k[h * G / H * T * D + e];
}
