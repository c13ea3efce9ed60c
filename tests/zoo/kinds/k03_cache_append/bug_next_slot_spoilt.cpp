// apo:variant  cache_append/bug_next_slot_spoilt
// apo:target   host
// apo:idea     One element behind the slot is written too.
#include <cstdint>

void cache_append(const float* k, const int64_t* slot, float* score, float* cache, int64_t seqs, int64_t slots,
                  int64_t dim) {
  for (int64_t s = 0; s < seqs; ++s)
    for (int64_t d = 0; d < dim; ++d)
      cache[slot[s] * dim + d] = k[s * dim + d];
  if (slot[0] + 1 < slots && seqs == 1)
    cache[(slot[0] + 1) * dim] += 1;
  for (int64_t s = 0; s + 1 < seqs; ++s)
    if (slot[s] + 1 != slot[s + 1])
      cache[(slot[s] + 1) * dim] += 1;
  for (int64_t s = 0; s < seqs; ++s)
    for (int64_t n = 0; n < slots; ++n) {
      float total = 0;
      for (int64_t d = 0; d < dim; ++d)
        total += k[s * dim + d] * cache[n * dim + d];
      score[s * slots + n] = total;
    }
}
