// zoo: expect wrong
// zoo: says metadata line after the code
extern "C" const char* const kText = R"(
// apo:link no-such-library
// apo:target cuda
// apo:requires n < 0
)";
void copy(const float* x, float* y, long n) {
  for (long i = 0; i < n; ++i) {
    y[i] = x[i];
  }
}
