// apo:family    w4a16_gemm
// apo:idea      y = x ((w_q - zeros) scales): two 4-bit weights a byte, the even row low; zero points and scales of 128 rows
// apo:axis      M 1..256
// apo:axis      N 256..16384
// apo:axis      K 512..8192
// apo:requires  K % 512 == 0 && N % 256 == 0 && (M % 16 == 0 || (M == 1 && K % 2048 == 0 && N % 1024 == 0))
// apo:input     x bf16[M,K] normal
// apo:input     w_q u8[K/2,N] index(0..255)
// apo:input     scales bf16[K/128,N] uniform(0.004,0.01)
// apo:input     zeros bf16[K/128,N] fill
// apo:output    y bf16[M,N]
// apo:regimes   typical near_zero repeated zero_rows
// apo:tolerance derived because weights may be rounded to bf16
// apo:workload  m16_n256_k512 small M=16 N=256 K=512
inline void fill_zeros(int64_t, int64_t N, int64_t K, Random& random, double* zeros) {
  for (int64_t i = 0; i < K / 128 * N; ++i)
    zeros[i] = static_cast<double>(6 + random.below(4));
}
template <class Real>
void reference(int64_t M, int64_t N, int64_t K, const Real* x, const int64_t* w_q, const Real* scales,
               const Real* zeros, Real* y) {
  for (int64_t m = 0; m < M; ++m)
    for (int64_t n = 0; n < N; ++n)
      y[m * N + n] = sum<Real>(K, [&](int64_t k) {
        const int64_t byte = w_q[k / 2 * N + n], group = k / 128 * N + n;
        return x[m * K + k] * approximate<8>((Real(k % 2 == 0 ? byte % 16 : byte / 16) - zeros[group]) * scales[group]);
      });
}
