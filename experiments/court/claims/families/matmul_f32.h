// apo:family    matmul_f32
// apo:idea      C = A B, all of binary32
// apo:axis      M 1..16384
// apo:axis      N 1..16384
// apo:axis      K 1..16384
// apo:input     A f32[M,K] normal
// apo:input     B f32[K,N] normal
// apo:output    C f32[M,N]
// apo:unit      M/16 N/16
// apo:workload  m4096_n4096_k4096 production M=4096 N=4096 K=4096
// apo:workload  m256_n256_k256    small      M=256 N=256 K=256
// apo:workload  m33_n17_k100      ragged     M=33 N=17 K=100
template <class Real>
void reference(int64_t M, int64_t N, int64_t K, const Real* A, const Real* B, Real* C) {
  for (int64_t m = 0; m < M; ++m)
    for (int64_t n = 0; n < N; ++n)
      C[m * N + n] = sum<Real>(K, [&](int64_t k) { return A[m * K + k] * B[k * N + n]; });
}
