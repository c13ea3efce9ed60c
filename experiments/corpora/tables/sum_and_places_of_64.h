// apo:family    sum_and_places_of_64
// apo:idea      the sum of all elements and of their places
// apo:axis      n 64..64 specialised
// apo:input     x i32[n] index(0..999)
// apo:output    y i32[1]
// apo:workload  n64 small n=64
template <class Real>
void reference(int64_t n, const int64_t* x, int64_t* y) {
  y[0] = 0;
  for (int64_t i = 0; i < n; ++i)
    y[0] += x[i] + i;
}
