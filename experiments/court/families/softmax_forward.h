// apo:family    softmax_forward
// apo:idea      out[n,:] = softmax(inp[n,:])
// apo:axis      N 1..1048576 rows
// apo:axis      C 1..65536 elements of a row
// apo:input     inp f32[N,C] normal
// apo:output    out f32[N,C]
// apo:workload  n8192_c1024 production N=8192 C=1024
template <class Real>
void reference(int64_t N, int64_t C, const Real* inp, Real* out) {
  for (int64_t n = 0; n < N; ++n) {
    Real largest = inp[n * C], total = 0;
    for (int64_t c = 1; c < C; ++c)
      largest = max(largest, inp[n * C + c]);
    for (int64_t c = 0; c < C; ++c) {
      out[n * C + c] = exp(inp[n * C + c] - largest);
      total += out[n * C + c];
    }
    for (int64_t c = 0; c < C; ++c)
      out[n * C + c] /= total;
  }
}
