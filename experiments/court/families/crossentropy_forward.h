// apo:family    crossentropy_forward
// apo:idea      losses[b,t] = -log(probs[b,t,targets[b,t]])
// apo:axis      B 1..1024 sequences
// apo:axis      T 1..65536 tokens of a sequence
// apo:axis      V 1..262144 words
// apo:input     probs f32[B,T,V] probability
// apo:input     targets i32[B,T] index(0..V-1)
// apo:output    losses f32[B,T]
// apo:workload  b8_t1024_v50304 production B=8 T=1024 V=50304
// apo:workload  b2_t3_v50       small      B=2 T=3 V=50
template <class Real>
void reference(int64_t B, int64_t T, int64_t V, const Real* probs, const int64_t* targets, Real* losses) {
  for (int64_t row = 0; row < B * T; ++row)
    losses[row] = -log(probs[row * V + targets[row]]);
}
