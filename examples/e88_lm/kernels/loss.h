// apo:family    byte_loss
// apo:idea      the loss of each row of 256 logits in nats, and the gradient of the mean over the scored rows
// apo:axis      rows 1..1048576
// apo:scalar    inverse_scored f32 0.01
// apo:input     logits f32[rows,256] normal(0,4)
// apo:input     targets i32[rows] fill
// apo:output    losses f32[rows]
// apo:output    d_logits bf16[rows,256]
// apo:regimes   typical wide
// apo:unit      rows
// apo:workload  b16_t512  production rows=8192
// apo:workload  r37       ragged     rows=37
// apo:workload  r1        small      rows=1

// Every fifth row is not scored.
inline void fill_targets(int64_t rows, Random& random, int64_t* targets) {
  for (int64_t row = 0; row < rows; ++row)
    targets[row] = row % 5 == 4 ? -1 : static_cast<int64_t>(256 * random.uniform());
}

template <class Real>
void reference(int64_t rows, Real inverse_scored, const Real* logits, const int64_t* targets, Real* losses,
               Real* d_logits) {
  for (int64_t row = 0; row < rows; ++row, logits += 256, d_logits += 256) {
    Real largest = logits[0];
    for (int64_t i = 1; i < 256; ++i)
      largest = max(largest, logits[i]);
    const Real total = sum<Real>(256, [&](int64_t i) { return exp(logits[i] - largest); });
    const bool scored = targets[row] >= 0;
    losses[row] = scored ? log(total) + (largest - logits[targets[row]]) : Real(0);
    for (int64_t i = 0; i < 256; ++i)
      d_logits[i] =
          scored ? inverse_scored * (exp(logits[i] - largest) / total - Real(i == targets[row] ? 1 : 0)) : Real(0);
  }
}
