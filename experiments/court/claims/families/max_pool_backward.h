// apo:family    max_pool_backward
// apo:idea      dx of a maximum over windows of 2 x 2: dy where x is the window's largest, the first of equal ones, else 0
// apo:axis      planes 1..65536
// apo:axis      H 1..512 height of the result
// apo:axis      W 1..512 width of the result
// apo:input     x f32[planes,2*H,2*W] normal
// apo:input     dy f32[planes,H,W] normal
// apo:output    dx f32[planes,2*H,2*W]
// apo:requires  planes * H * W <= 67108864
// apo:unit      planes
// apo:workload  p4096_h14_w14 production planes=4096 H=14 W=14
// apo:workload  p5_h7_w9      ragged     planes=5 H=7 W=9
// apo:workload  p2_h4_w4      small      planes=2 H=4 W=4
template <class Real>
void reference(int64_t planes, int64_t H, int64_t W, const Real* x, const Real* dy, Real* dx) {
  for (int64_t row = 0; row < planes * H; ++row) {
    for (int64_t column = 0; column < W; ++column) {
      const int64_t first = row * 4 * W + 2 * column;
      const int64_t window[] = {first, first + 1, first + 2 * W, first + 2 * W + 1};
      int64_t largest = first;
      for (const int64_t one : window) {
        largest = x[one] > x[largest] ? one : largest;
        dx[one] = 0;
      }
      dx[largest] = dy[row * W + column];
    }
  }
}
