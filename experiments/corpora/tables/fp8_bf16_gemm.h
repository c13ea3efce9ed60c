// apo:family    fp8_bf16_gemm
// apo:idea      y = x weight^T of fp8 and bf16
// apo:axis      M 1..8192
// apo:axis      N 1..16384
// apo:axis      K 256..8192
// apo:requires  (M == 32 || M % 128 == 0) && N % 256 == 0
// apo:input     x e4m3[M,K] uniform(-4,4)
// apo:input     weight bf16[N,K] normal(0,0.02)
// apo:output    y bf16[M,N]
// apo:workload  m32_n256_k512 small M=32 N=256 K=512
template <class Real>
void reference(int64_t M, int64_t N, int64_t K, const Real* x, const Real* weight, Real* y) {
  for (int64_t m = 0; m < M; ++m)
    for (int64_t n = 0; n < N; ++n)
      y[m * N + n] = sum<Real>(K, [&](int64_t k) { return x[m * K + k] * weight[n * K + k]; });
}
