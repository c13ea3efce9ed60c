// apo:family    grayscale
// apo:idea      output = 0.2989 red + 0.5870 green + 0.1140 blue of each pixel
// apo:axis      H 1..16384
// apo:axis      W 1..16384
// apo:input     inp f32[H,W,3] uniform(0,1)
// apo:output    output f32[H,W]
// apo:workload  h64_w50 ragged H=64 W=50
template <class Real>
void reference(int64_t H, int64_t W, const Real* inp, Real* output) {
  for (int64_t i = 0; i < H * W; ++i)
    output[i] = Real(0.2989) * inp[3 * i] + Real(0.5870) * inp[3 * i + 1] + Real(0.1140) * inp[3 * i + 2];
}
