// apo:family    sample
// apo:idea      token[r] is c with probability softmax(logits[r,:])[c]
// apo:axis      rows 1..65536
// apo:axis      choices 1..64
// apo:input     logits f32[rows,choices] normal
// apo:input     seed i64[1] uniform(0,1000000000)
// apo:output    token i32[rows]
// apo:random    token by seed
// apo:unit      rows/256
// apo:workload  r8192_c8 production rows=8192 choices=8
// apo:workload  r3001_c5 ragged     rows=3001 choices=5
// apo:workload  r5_c3    small      rows=5 choices=3
template <class Real>
void reference(int64_t rows, int64_t choices, const Real* logits, const int64_t*, int64_t* token) {
  for (int64_t r = 0; r < rows; ++r, logits += choices) {
    Real largest = logits[0];
    for (int64_t c = 1; c < choices; ++c)
      largest = max(largest, logits[c]);
    token[r] = drawn<Real>(choices, [&](int64_t c) { return exp(logits[c] - largest); });
  }
}
