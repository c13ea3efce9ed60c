// apo:family    layernorm_forward
// apo:idea      each row of inp becomes (x - mean) * rstd * weight + bias; mean and rstd are kept for the backward pass
// apo:axis      B 1..1024 sequences
// apo:axis      T 1..65536 tokens of a sequence
// apo:axis      C 1..65536 channels
// apo:input     inp f32[B,T,C] normal
// apo:input     weight f32[C] normal(1,0.25)
// apo:input     bias f32[C] normal
// apo:output    out f32[B,T,C]
// apo:output    mean f32[B,T]
// apo:output    rstd f32[B,T]
// apo:workload  b8_t1024_c768 production B=8 T=1024 C=768
template <class Real>
void reference(int64_t B, int64_t T, int64_t C, const Real* inp, const Real* weight, const Real* bias, Real* out,
               Real* mean, Real* rstd) {
  for (int64_t row = 0; row < B * T; ++row) {
    const Real* x = inp + row * C;
    Real total = 0, squares = 0;
    for (int64_t c = 0; c < C; ++c)
      total += x[c];
    const Real m = total / Real(C);
    for (int64_t c = 0; c < C; ++c)
      squares += (x[c] - m) * (x[c] - m);
    const Real s = Real(1) / sqrt(squares / Real(C) + Real(1e-5));
    for (int64_t c = 0; c < C; ++c)
      out[row * C + c] = (x[c] - m) * s * weight[c] + bias[c];
    mean[row] = m;
    rstd[row] = s;
  }
}
