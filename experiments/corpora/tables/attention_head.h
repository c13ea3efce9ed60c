// apo:family    attention_head
// apo:idea      out = softmax(q k^T / sqrt(D)) v of one head
// apo:axis      M 1..64 queries
// apo:axis      N 1..256 keys
// apo:axis      D 8..64
// apo:input     q f32[M,D] normal
// apo:input     k f32[N,D] normal
// apo:input     v f32[N,D] normal
// apo:output    out f32[M,D]
// apo:workload  m5_n200_d24 ragged M=5 N=200 D=24
template <class Real>
void reference(int64_t M, int64_t N, int64_t D, const Real* q, const Real* k, const Real* v, Real* out) {
  for (int64_t m = 0; m < M; ++m) {
    Real scores[256], largest = 0;
    for (int64_t n = 0; n < N; ++n) {
      scores[n] = sum<Real>(D, [&](int64_t d) { return q[m * D + d] * k[n * D + d]; }) / sqrt(Real(D));
      largest = n == 0 ? scores[n] : max(largest, scores[n]);
    }
    const Real total = sum<Real>(N, [&](int64_t n) { return exp(scores[n] - largest); });
    for (int64_t d = 0; d < D; ++d)
      out[m * D + d] = sum<Real>(N, [&](int64_t n) { return exp(scores[n] - largest) * v[n * D + d]; }) / total;
  }
}
