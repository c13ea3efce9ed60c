// apo:family    sum_of_1008
// apo:idea      the sum of all elements
// apo:axis      n 1008..1008 specialised
// apo:input     x i32[n] index(0..999)
// apo:output    y i32[1]
// apo:workload  n1008 small n=1008
template <class Real>
void reference(int64_t n, const int64_t* x, int64_t* y) {
  y[0] = 0;
  for (int64_t i = 0; i < n; ++i)
    y[0] += x[i];
}
