// apo:family    fused_classifier
// apo:idea      the loss of each token, and the gradient of its logits in their place; a row has P places, of which V are in use
// apo:axis      B 1..1024 sequences
// apo:axis      T 1..65536 tokens of a sequence
// apo:axis      V 1..262144 words
// apo:axis      P 1..262144 places of a row
// apo:requires  P >= V
// apo:input     dlosses f32[B,T] normal
// apo:input     targets i32[B,T] index(0..V-1)
// apo:output    losses f32[B,T]
// apo:inout     logits f32[B,T,P] normal
// apo:workload  b8_t1024_v50257 production B=8 T=1024 V=50257 P=50304
template <class Real>
void reference(int64_t B, int64_t T, int64_t V, int64_t P, const Real* dlosses, const int64_t* targets, Real* losses,
               Real* logits) {
  for (int64_t row = 0; row < B * T; ++row) {
    Real* x = logits + row * P;
    Real largest = x[0], total = 0;
    for (int64_t v = 1; v < V; ++v)
      largest = max(largest, x[v]);
    for (int64_t v = 0; v < V; ++v)
      total += exp(x[v] - largest);
    losses[row] = log(total) - (x[targets[row]] - largest);
    for (int64_t v = 0; v < V; ++v) {
      const Real probability = exp(x[v] - largest) / total;
      x[v] = (probability - (v == targets[row] ? Real(1) : Real(0))) * dlosses[row];
    }
  }
}
