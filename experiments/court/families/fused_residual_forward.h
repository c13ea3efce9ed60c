// apo:family    fused_residual_forward
// apo:idea      residual = inp1 + inp2, and normed is its layer norm; mean and rstd are kept for the backward pass
// apo:axis      N 1..1048576 tokens
// apo:axis      C 1..65536 channels
// apo:input     inp1 f32[N,C] normal
// apo:input     inp2 f32[N,C] normal
// apo:input     weight f32[C] normal(1,0.25)
// apo:input     bias f32[C] normal
// apo:output    residual f32[N,C]
// apo:output    normed f32[N,C]
// apo:output    mean f32[N]
// apo:output    rstd f32[N]
// apo:workload  n8192_c768 production N=8192 C=768
template <class Real>
void reference(int64_t N, int64_t C, const Real* inp1, const Real* inp2, const Real* weight, const Real* bias,
               Real* residual, Real* normed, Real* mean, Real* rstd) {
  for (int64_t n = 0; n < N; ++n) {
    Real* x = residual + n * C;
    Real total = 0, squares = 0;
    for (int64_t c = 0; c < C; ++c) {
      x[c] = inp1[n * C + c] + inp2[n * C + c];
      total += x[c];
    }
    mean[n] = total / Real(C);
    for (int64_t c = 0; c < C; ++c)
      squares += (x[c] - mean[n]) * (x[c] - mean[n]);
    rstd[n] = Real(1) / sqrt(squares / Real(C) + Real(1e-5));
    for (int64_t c = 0; c < C; ++c)
      normed[n * C + c] = (x[c] - mean[n]) * rstd[n] * weight[c] + bias[c];
  }
}
