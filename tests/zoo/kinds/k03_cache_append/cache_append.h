// apo:family    cache_append
// apo:idea      the key of each sequence goes to its slot of a cache; the score of the sequence against all slots follows
// apo:axis      seqs 1..256
// apo:axis      slots 1..4096
// apo:axis      dim 1..256
// apo:requires  slots >= seqs
// apo:input     k f32[seqs,dim] normal
// apo:input     slot i64[seqs] fill
// apo:output    score f32[seqs,slots]
// apo:inout     cache f32[slots,dim] normal
// apo:workload  s8_n512_d64 production seqs=8 slots=512 dim=64
// apo:workload  s3_n17_d5   ragged     seqs=3 slots=17 dim=5
// apo:workload  s1_n2_d2    small      seqs=1 slots=2 dim=2
inline void fill_slot(int64_t seqs, int64_t slots, int64_t, Random& random, int64_t* slot) {
  for (int64_t s = 0; s < seqs; ++s)  // one of its own for each
    slot[s] = s * (slots / seqs) + static_cast<int64_t>(random.below(static_cast<uint64_t>(slots / seqs)));
}
template <class Real>
void reference(int64_t seqs, int64_t slots, int64_t dim, const Real* k, const int64_t* slot, Real* score, Real* cache) {
  for (int64_t s = 0; s < seqs; ++s)
    for (int64_t d = 0; d < dim; ++d)
      cache[slot[s] * dim + d] = k[s * dim + d];
  for (int64_t s = 0; s < seqs; ++s)
    for (int64_t n = 0; n < slots; ++n)
      score[s * slots + n] = sum<Real>(dim, [&](int64_t d) { return k[s * dim + d] * cache[n * dim + d]; });
}
