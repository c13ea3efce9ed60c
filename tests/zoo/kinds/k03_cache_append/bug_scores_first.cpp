// apo:variant  cache_append/bug_scores_first
// apo:target   host
// apo:idea     The scores are those of the cache before the keys came.
#include <cstdint>

void cache_append(const float* k, const int64_t* slot, float* score, float* cache, int64_t seqs, int64_t slots,
                  int64_t dim) {
  for (int64_t s = 0; s < seqs; ++s)
    for (int64_t n = 0; n < slots; ++n) {
      float total = 0;
      for (int64_t d = 0; d < dim; ++d)
        total += k[s * dim + d] * cache[n * dim + d];
      score[s * slots + n] = total;
    }
  for (int64_t s = 0; s < seqs; ++s)
    for (int64_t d = 0; d < dim; ++d)
      cache[slot[s] * dim + d] = k[s * dim + d];
}
