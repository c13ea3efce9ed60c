// apo:family    row_range
// apo:idea      largest[r] and place[r]: the largest element of x[r,:] and where it is first
// apo:axis      rows 1..65536
// apo:axis      cols 1..4096
// apo:input     x f32[rows,cols] normal
// apo:output    largest f32[rows]
// apo:output    place i32[rows]
// apo:unit      rows
// apo:workload  r2500_c64 production rows=2500 cols=64
// apo:workload  r90_c21   ragged     rows=90 cols=21
// apo:workload  r2_c4     small      rows=2 cols=4
template <class Real>
void reference(int64_t rows, int64_t cols, const Real* x, Real* largest, int64_t* place) {
  for (int64_t r = 0; r < rows; ++r) {
    int64_t best = 0;
    for (int64_t c = 1; c < cols; ++c)
      if (x[r * cols + best] < x[r * cols + c])
        best = c;
    largest[r] = x[r * cols + best];
    place[r] = best;
  }
}
