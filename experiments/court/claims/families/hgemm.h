// apo:family    hgemm
// apo:idea      c = a b: products of f16, sums of binary32, a result in f16; b also lies there as bt, its transposed
// apo:axis      M 1..16384
// apo:axis      N 1..16384
// apo:axis      K 1..16384
// apo:input     a f16[M,K] normal
// apo:input     b f16[K,N] normal
// apo:derive    bt f16[N,K]
// apo:output    c f16[M,N]
// apo:unit      M/16 N/16
// apo:regimes   all but wide saturating extreme offset negative_offset largest
// apo:workload  m512_n512_k512     production M=512 N=512 K=512
// apo:workload  m1024_n1024_k1024  production M=1024 N=1024 K=1024
// apo:workload  m2048_n2048_k2048  production M=2048 N=2048 K=2048
// apo:workload  m4096_n4096_k4096  production M=4096 N=4096 K=4096
// apo:workload  m8192_n8192_k8192  production M=8192 N=8192 K=8192
// apo:workload  m64_n4096_k4096    production M=64 N=4096 K=4096
// apo:workload  m128_n4096_k4096   production M=128 N=4096 K=4096
// apo:workload  m4096_n4096_k128   production M=4096 N=4096 K=128
// apo:workload  m4096_n128_k1024   production M=4096 N=128 K=1024
// apo:workload  m1024_n8192_k64    production M=1024 N=8192 K=64
// apo:workload  m128_n16384_k1024  production M=128 N=16384 K=1024
// apo:workload  m33_n17_k100       ragged     M=33 N=17 K=100
// apo:workload  m64_n32_k48        small      M=64 N=32 K=48
template <class Real>
void derive(int64_t, int64_t N, int64_t K, const Real*, const Real* b, Real* bt) {
  for (int64_t n = 0; n < N; ++n)
    for (int64_t k = 0; k < K; ++k)
      bt[n * K + k] = b[k * N + n];
}

// It reads b and bt in turn, so that a kernel may read either. A sum may be made by tensor cores, which cut off behind
// 24 bits: see kernels/matmul_bf16.h.
template <class Real>
void reference(int64_t M, int64_t N, int64_t K, const Real* a, const Real* b, const Real* bt, Real* c) {
  const Real left = Real(1 - static_cast<double>(K) * 0x1p-28);
  for (int64_t m = 0; m < M; ++m) {
    for (int64_t n = 0; n < N; ++n) {
      const Real total = sum<Real>(K, [&](int64_t k) { return a[m * K + k] * (k % 2 ? bt[n * K + k] : b[k * N + n]); });
      c[m * N + n] = either(total, total * left);
    }
  }
}
