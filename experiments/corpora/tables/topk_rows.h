// apo:family    topk_rows
// apo:idea      the k largest values of each row, largest first, and where they stand
// apo:axis      batch 1..128
// apo:axis      n 64..131072
// apo:axis      k 1..64
// apo:requires  n % 32 == 0 && (k == 1 || k == 8 || k == 16 || k == 32 || k == 64)
// apo:input     x f32[batch,n] normal
// apo:output    values f32[batch,k]
// apo:output    indices i64[batch,k]
// apo:regimes   typical
// apo:unit      batch
// apo:workload  b16_n12000_k16 small batch=16 n=12000 k=16
template <class Real>
void reference(int64_t batch, int64_t n, int64_t k, const Real* x, Real* values, int64_t* indices) {
  for (int64_t row = 0; row < batch; ++row, x += n, values += k, indices += k) {
    for (int64_t place = 0; place < k; ++place) {
      int64_t best = -1;
      for (int64_t i = 0; i < n; ++i) {
        bool taken = false;
        for (int64_t before = 0; before < place; ++before)
          taken = taken || indices[before] == i;
        if (!taken && (best < 0 || decided(x[best], x[i])))
          best = i;
      }
      values[place] = x[best];
      indices[place] = best;
    }
  }
}
