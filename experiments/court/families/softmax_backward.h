// apo:family    softmax_backward
// apo:idea      dinp = out * (dout - sum of dout * out over the row), where out is the softmax of the forward pass
// apo:axis      N 1..1048576 rows
// apo:axis      C 1..65536 elements of a row
// apo:input     dout f32[N,C] normal
// apo:input     out f32[N,C] probability
// apo:output    dinp f32[N,C]
// apo:workload  n8192_c1024 production N=8192 C=1024
template <class Real>
void reference(int64_t N, int64_t C, const Real* dout, const Real* out, Real* dinp) {
  for (int64_t n = 0; n < N; ++n) {
    Real total = 0;
    for (int64_t c = 0; c < C; ++c)
      total += dout[n * C + c] * out[n * C + c];
    for (int64_t c = 0; c < C; ++c)
      dinp[n * C + c] = out[n * C + c] * (dout[n * C + c] - total);
  }
}
