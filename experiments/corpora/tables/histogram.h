// apo:family    histogram
// apo:idea      how often each value of a byte occurs
// apo:axis      n 1..16777216
// apo:input     data u8[n] index(0..255)
// apo:output    counts i64[256]
// apo:workload  n7840 small n=7840
template <class Real>
void reference(int64_t n, const int64_t* data, int64_t* counts) {
  for (int64_t value = 0; value < 256; ++value)
    counts[value] = 0;
  for (int64_t i = 0; i < n; ++i)
    ++counts[data[i]];
}
