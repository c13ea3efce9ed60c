// apo:family    stretched
// apo:idea      y[r,o] = x[r, floor(o from / to)]: the nearest neighbour of a row made longer
// apo:axis      rows 1..4096
// apo:axis      from 1..16384
// apo:axis      to 1..65536
// apo:requires  from <= to
// apo:input     x f32[rows,from] normal
// apo:output    y f32[rows,to]
// apo:unit      rows
// apo:workload  r16_c256_c512 production rows=16 from=256 to=512
// apo:workload  r3_c33_c99    ragged     rows=3 from=33 to=99
// apo:workload  r2_c4_c8      small      rows=2 from=4 to=8
template <class Real>
void reference(int64_t rows, int64_t from, int64_t to, const Real* x, Real* y) {
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t o = 0; o < to; ++o)
      y[r * to + o] = x[r * from + o * from / to];
}
