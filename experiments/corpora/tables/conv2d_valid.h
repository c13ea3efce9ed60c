// apo:family    conv2d_valid
// apo:idea      cross-correlation with no padding and no stride
// apo:axis      batch 1..64
// apo:axis      channels 1..256
// apo:axis      size 8..512
// apo:axis      extent 1..32 of a filter
// apo:requires  size >= extent
// apo:input     x f32[batch,channels,size,size] normal
// apo:input     filters f32[channels,channels,extent,extent] normal
// apo:output    y f32[batch,channels,size-extent+1,size-extent+1]
// apo:workload  b2_c16_s32_e4 small batch=2 channels=16 size=32 extent=4
template <class Real>
void reference(int64_t batch, int64_t channels, int64_t size, int64_t extent, const Real* x, const Real* filters,
               Real* y) {
  const int64_t out = size - extent + 1, terms = channels * extent * extent;
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t row = 0; row < out; ++row)
        for (int64_t col = 0; col < out; ++col)
          *y++ = sum<Real>(terms, [&](int64_t t) {
            const int64_t from = t / (extent * extent), r = t / extent % extent, s = t % extent;
            return x[((b * channels + from) * size + row + r) * size + col + s] * filters[c * terms + t];
          });
}
