// apo:family    cross_entropy
// apo:idea      losses[r] = log sum_c exp(x[r,c]) - x[r,targets[r]], and dlogits = dloss * (softmax(x) - [c is the target]), x = logits
// apo:axis      rows 1..1048576 tokens
// apo:axis      cols 2..262144 the vocabulary
// apo:scalar    dloss f32 0.0001220703125
// apo:input     logits bf16[rows,cols] normal
// apo:input     targets i64[rows] index(0..cols-1)
// apo:output    losses f32[rows]
// apo:output    dlogits bf16[rows,cols]
// apo:unit      rows
// apo:workload  r8192_c50304 production rows=8192 cols=50304
// apo:workload  r7_c1000     ragged     rows=7 cols=1000
// apo:workload  r5_c33       small      rows=5 cols=33
template <class Real>
void reference(int64_t rows, int64_t cols, Real dloss, const Real* logits, const int64_t* targets, Real* losses,
               Real* dlogits) {
  for (int64_t r = 0; r < rows; ++r, logits += cols, dlogits += cols) {
    Real largest = logits[0];
    for (int64_t c = 1; c < cols; ++c)
      largest = max(largest, logits[c]);
    const Real total = sum<Real>(cols, [&](int64_t c) { return exp(logits[c] - largest); });
    losses[r] = log(total) + largest - logits[targets[r]];
    for (int64_t c = 0; c < cols; ++c)
      dlogits[c] = (exp(logits[c] - largest) / total - (c == targets[r] ? Real(1) : Real(0))) * dloss;
  }
}
