// zoo: expect wrong
// zoo: says #error what stands here
#line 1 "/etc/passwd"
#error what stands here
void copy(const float* x, float* y, long n) {
  for (long i = 0; i < n; ++i) {
    y[i] = x[i];
  }
}
