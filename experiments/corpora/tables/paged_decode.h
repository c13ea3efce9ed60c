// apo:family    paged_decode
// apo:idea      attention of one query a sequence over keys and values in pages of 16 tokens; four query heads share one of the cache
// apo:axis      batch 1..32
// apo:axis      heads 16..64
// apo:axis      dim 64..128
// apo:axis      pages 4..4096 of the cache
// apo:axis      listed 4..256 of a sequence
// apo:requires  heads % 16 == 0 && dim % 64 == 0 && pages >= listed
// apo:input     query bf16[batch,heads,dim] normal(0,0.5)
// apo:input     kv_cache bf16[pages,16,heads/4,2*dim] normal(0,0.5)
// apo:input     block_table i32[batch,listed] index(0..pages-1)
// apo:input     seq_lens i32[batch] fill
// apo:output    out bf16[batch,heads,dim]
// apo:tolerance derived because weights of tokens, and results of a part of them, may be rounded to bf16
// apo:workload  b4_h16_l13 small batch=4 heads=16 dim=64 pages=32 listed=13
inline void fill_seq_lens(int64_t batch, int64_t, int64_t, int64_t, int64_t listed, Random& random, int64_t* lengths) {
  for (int64_t b = 0; b < batch; ++b)
    lengths[b] = 16 * listed - random.below(16);
}
template <class Real>
void reference(int64_t batch, int64_t heads, int64_t dim, int64_t, int64_t listed, const Real* query,
               const Real* kv_cache, const int64_t* block_table, const int64_t* seq_lens, Real* out) {
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t h = 0; h < heads; ++h, query += dim, out += dim) {
      const auto token = [&](int64_t t) {
        return kv_cache + ((block_table[b * listed + t / 16] * 16 + t % 16) * (heads / 4) + h / 4) * 2 * dim;
      };
      const auto score = [&](int64_t t) {
        return sum<Real>(dim, [&](int64_t d) { return query[d] * token(t)[d]; }) / sqrt(Real(dim));
      };
      Real scores[4096], largest = score(0);
      for (int64_t t = 0; t < seq_lens[b]; ++t) {
        scores[t] = score(t);
        largest = max(largest, scores[t]);
      }
      const Real total = sum<Real>(seq_lens[b], [&](int64_t t) { return exp(scores[t] - largest); });
      for (int64_t d = 0; d < dim; ++d)
        out[d] = approximate<8>(
            sum<Real>(seq_lens[b],
                      [&](int64_t t) { return approximate<8>(exp(scores[t] - largest)) * token(t)[dim + d]; }) /
            total);
    }
}
