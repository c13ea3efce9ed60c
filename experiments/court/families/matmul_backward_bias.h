// apo:family    matmul_backward_bias
// apo:idea      dbias[o] += the sum of dout[b,t,o] over all tokens
// apo:axis      B 1..1024 sequences
// apo:axis      T 1..65536 tokens of a sequence
// apo:axis      OC 1..65536 output channels
// apo:input     dout f32[B,T,OC] normal
// apo:inout     dbias f32[OC] normal
// apo:workload  b8_t1024_oc3072 production B=8 T=1024 OC=3072
template <class Real>
void reference(int64_t B, int64_t T, int64_t OC, const Real* dout, Real* dbias) {
  for (int64_t row = 0; row < B * T; ++row)
    for (int64_t o = 0; o < OC; ++o)
      dbias[o] += dout[row * OC + o];
}
