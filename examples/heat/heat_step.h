// apo:family    heat_step
// apo:idea      next = u + rate * (the sum of the four neighbours - 4 u) inside, u on the border
// apo:axis      rows 1..16384
// apo:axis      cols 1..16384
// apo:scalar    rate f32 0.2
// apo:input     u f32[rows,cols] uniform(0,1)
// apo:output    next f32[rows,cols]
// apo:workload  r512_c512 production rows=512 cols=512
// apo:workload  r67_c129    ragged     rows=67 cols=129
// apo:workload  r3_c4       small      rows=3 cols=4
template <class Real>
void reference(int64_t rows, int64_t cols, Real rate, const Real* u, Real* next) {
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < cols; ++c, ++u, ++next) {
      const bool inner = r > 0 && r + 1 < rows && c > 0 && c + 1 < cols;
      *next = inner ? *u + rate * (u[-1] + u[1] + u[-cols] + u[cols] - 4 * *u) : *u;
    }
}
