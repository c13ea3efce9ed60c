// apo:family    fp8_scaled_gemm
// apo:idea      y = (x weight^T) weight_scale: fp8 operands, a scale for each output channel
// apo:axis      M 1..8192
// apo:axis      N 1..16384
// apo:axis      K 256..8192
// apo:requires  (M == 32 || M % 128 == 0) && N % 256 == 0
// apo:input     x e4m3[M,K] uniform(-4,4)
// apo:input     weight e4m3[N,K] normal(0,120)
// apo:input     weight_scale f32[N] uniform(0.0001,0.0003)
// apo:output    y bf16[M,N]
// apo:regimes   typical near_zero zero_rows
// apo:tolerance rtol=2e-2 atol=1e-2 because 8-bit tensor cores add in fewer bits, so that sums of one sign lose by K, and products may be rounded to bf16 before the scale
// apo:workload  m32_n256_k512 small M=32 N=256 K=512
template <class Real>
void reference(int64_t M, int64_t N, int64_t K, const Real* x, const Real* weight, const Real* weight_scale, Real* y) {
  for (int64_t m = 0; m < M; ++m)
    for (int64_t n = 0; n < N; ++n)
      y[m * N + n] = sum<Real>(K, [&](int64_t k) { return x[m * K + k] * weight[n * K + k]; }) * weight_scale[n];
}
