// apo:family    encoder_forward
// apo:idea      out[b,t,:] = the embedding of token inp[b,t] + the embedding of position t
// apo:axis      B 1..1024 sequences
// apo:axis      T 1..65536 tokens of a sequence
// apo:axis      C 1..65536 channels
// apo:axis      V 1..262144 words
// apo:input     inp i32[B,T] index(0..V-1)
// apo:input     wte f32[V,C] normal
// apo:input     wpe f32[T,C] normal
// apo:output    out f32[B,T,C]
// apo:workload  b8_t1024_c768 production B=8 T=1024 C=768 V=50257
// apo:workload  b2_t3_c8      small      B=2 T=3 C=8 V=20
template <class Real>
void reference(int64_t B, int64_t T, int64_t C, int64_t, const int64_t* inp, const Real* wte, const Real* wpe,
               Real* out) {
  for (int64_t b = 0; b < B; ++b)
    for (int64_t t = 0; t < T; ++t)
      for (int64_t c = 0; c < C; ++c)
        out[(b * T + t) * C + c] = wte[inp[b * T + t] * C + c] + wpe[t * C + c];
}
