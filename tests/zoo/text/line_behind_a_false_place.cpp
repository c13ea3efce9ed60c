// zoo: expect wrong
// zoo: says static assertion failed
#line 1 "/etc/passwd"
static_assert(false, "\n.plain.cpp:3:1: note: a line of the variant");
void copy(const float* x, float* y, long n) {
  for (long i = 0; i < n; ++i) {
    y[i] = x[i];
  }
}
