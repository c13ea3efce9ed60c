// apo:family    matmul_bf16
// apo:idea      c[m,n] = sum over k of a[m,k] b[n,k]: products of bf16, sums of binary32, a result in binary32
// apo:axis      M 1..65536 rows of a and c
// apo:axis      N 1..65536 rows of b, columns of c
// apo:axis      K 1..65536 terms of each sum
// apo:input     a bf16[M,K] normal
// apo:input     b bf16[N,K] normal
// apo:output    c f32[M,N]
// apo:unit      M/16 N/16
// apo:workload  m512_n512_k512    production M=512 N=512 K=512
// apo:workload  m4096_n4096_k4096 production M=4096 N=4096 K=4096
// apo:workload  m16_n4096_k4096   production M=16   N=4096 K=4096
// apo:workload  m2048_n2048_k1024 extreme    M=2048 N=2048 K=1024
// apo:workload  m33_n17_k100      ragged     M=33 N=17 K=100
// apo:workload  m64_n32_k48       small      M=64 N=32 K=48
//
// A sum may be made by tensor cores. They add 16 products to what they have and cut the result off behind 24 bits, so
// that half of 2^-23 is lost on average of each of K / 16 steps: what is left of a long sum errs to one side.
template <class Real>
void reference(int64_t M, int64_t N, int64_t K, const Real* a, const Real* b, Real* c) {
  const Real left = Real(1 - static_cast<double>(K) * 0x1p-28);
  for (int64_t m = 0; m < M; ++m) {
    for (int64_t n = 0; n < N; ++n) {
      const Real total = sum<Real>(K, [&](int64_t k) { return a[m * K + k] * b[n * K + k]; });
      c[m * N + n] = either(total, total * left);
    }
  }
}
