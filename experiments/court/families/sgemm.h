// apo:family    sgemm
// apo:idea      C = alpha A B + beta C, row-major, in place
// apo:axis      M 1..16384
// apo:axis      N 1..16384
// apo:axis      K 1..16384
// apo:scalar    alpha f32 0.5
// apo:scalar    beta f32 3
// apo:input     A f32[M,K] normal
// apo:input     B f32[K,N] normal
// apo:inout     C f32[M,N] normal
// apo:workload  m2048_n2048_k2048 production M=2048 N=2048 K=2048
// apo:workload  m4096_n4096_k4096 extreme    M=4096 N=4096 K=4096
// apo:workload  m256_n128_k64     small      M=256 N=128 K=64
// apo:workload  m65_n33_k17       ragged     M=65 N=33 K=17
template <class Real>
void reference(int64_t M, int64_t N, int64_t K, Real alpha, Real beta, const Real* A, const Real* B, Real* C) {
  for (int64_t m = 0; m < M; ++m) {
    for (int64_t n = 0; n < N; ++n) {
      Real total = 0;
      for (int64_t k = 0; k < K; ++k)
        total += A[m * K + k] * B[k * N + n];
      C[m * N + n] = alpha * total + beta * C[m * N + n];
    }
  }
}
