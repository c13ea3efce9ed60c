// apo:family    beta_c
// apo:idea      C = A B + beta C
// apo:axis      M 1..4096
// apo:axis      N 1..4096
// apo:axis      K 1..4096
// apo:scalar    beta f32 0.5
// apo:input     A f32[M,K] normal
// apo:input     B f32[K,N] normal
// apo:inout     C f32[M,N] normal
// apo:unit      M
// apo:workload  m64_n64_k32 production M=64 N=64 K=32
// apo:workload  m17_n33_k9  ragged     M=17 N=33 K=9
// apo:workload  m2_n2_k2    small      M=2 N=2 K=2
template <class Real>
void reference(int64_t M, int64_t N, int64_t K, Real beta, const Real* A, const Real* B, Real* C) {
  for (int64_t m = 0; m < M; ++m)
    for (int64_t n = 0; n < N; ++n)
      C[m * N + n] = sum<Real>(K, [&](int64_t k) { return A[m * K + k] * B[k * N + n]; }) + beta * C[m * N + n];
}
