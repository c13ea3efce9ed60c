// zoo: expect wrong
// zoo: says /etc/passwd:1:
# 1 "/etc/passwd"
int shown = unknown;
void copy(const float* x, float* y, long n) {
  for (long i = 0; i < n; ++i) {
    y[i] = x[i];
  }
}
