// apo:family    kda_chunk
// apo:idea      the gated delta rule of each head: S decays by exp(g), S += beta k (v - k S), o = q S / sqrt(128)
// apo:axis      B 1..4
// apo:axis      T 64..4096
// apo:axis      H 1..16
// apo:axis      K 128..128 specialised
// apo:requires  T % 128 == 0
// apo:input     q bf16[B,T,H,K] normal(0,0.1)
// apo:input     k bf16[B,T,H,K] normal(0,0.1)
// apo:input     v bf16[B,T,H,K] normal(0,0.1)
// apo:input     g f32[B,T,H,K] uniform(-0.2,0.1)
// apo:input     beta bf16[B,T,H] uniform(0.1,0.9)
// apo:output    o bf16[B,T,H,K]
// apo:regimes   typical
// apo:tolerance rtol=2e-2 atol=1e-4 because products of a chunk are legal in bf16: 1e-4 is a twentieth of a typical output
// apo:workload  b1_t128_h1 small B=1 T=128 H=1 K=128
template <class Real>
void reference(int64_t B, int64_t T, int64_t H, int64_t K, const Real* q, const Real* k, const Real* v, const Real* g,
               const Real* beta, Real* o) {
  for (int64_t b = 0; b < B; ++b)
    for (int64_t h = 0; h < H; ++h) {
      Real state[128 * 128] = {}, change[128];
      for (int64_t t = 0; t < T; ++t) {
        const int64_t at = (b * T + t) * H + h, from = at * K;
        for (int64_t j = 0; j < K; ++j) {
          Real held = 0;
          for (int64_t i = 0; i < K; ++i)
            held += k[from + i] * exp(g[from + i]) * state[i * K + j];
          change[j] = beta[at] * (v[from + j] - held);
        }
        for (int64_t j = 0; j < K; ++j) {
          Real out = 0;
          for (int64_t i = 0; i < K; ++i) {
            state[i * K + j] = state[i * K + j] * exp(g[from + i]) + k[from + i] * change[j];
            out += q[from + i] * state[i * K + j];
          }
          o[from + j] = out / sqrt(Real(K));
        }
      }
    }
}
