// apo:family    flipped
// apo:idea      y[i] = 3 - x[i]
// apo:axis      n 1..4000000000
// apo:input     x i8[n] uniform(-20,20)
// apo:output    y i8[n]
// apo:workload  n1m    production n=1048576
// apo:workload  n1001  ragged     n=1001
// apo:workload  n64    small      n=64
template <class Real>
void reference(int64_t n, const int64_t* x, int64_t* y) {
  for (int64_t i = 0; i < n; ++i)
    y[i] = 3 - x[i];
}
