// apo:family    matmul_f16
// apo:idea      C = A B, row-major, of f16
// apo:axis      M 1..16384
// apo:axis      N 1..16384
// apo:axis      K 1..16384
// apo:input     A f16[M,K] uniform(0,1)
// apo:input     B f16[K,N] uniform(0,1)
// apo:output    C f16[M,N]
// apo:workload  m32_n512_k32 small M=32 N=512 K=32
template <class Real>
void reference(int64_t M, int64_t N, int64_t K, const Real* A, const Real* B, Real* C) {
  for (int64_t m = 0; m < M; ++m)
    for (int64_t n = 0; n < N; ++n)
      C[m * N + n] = sum<Real>(K, [&](int64_t k) { return A[m * K + k] * B[k * N + n]; });
}
