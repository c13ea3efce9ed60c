// apo:family    sorted_values
// apo:idea      the values of x, ascending
// apo:axis      n 1..1048576
// apo:input     x f32[n] normal
// apo:output    y f32[n]
// apo:workload  n1025 ragged n=1025
template <class Real>
void reference(int64_t n, const Real* x, Real* y) {
  for (int64_t i = 0; i < n; ++i) {
    int64_t place = i;
    for (; place > 0 && x[i] < y[place - 1]; --place)
      y[place] = y[place - 1];
    y[place] = x[i];
  }
}
