// zoo: expect wrong
// zoo: says /etc/passwd
asm(".include \"/etc/passwd\"");
void copy(const float* x, float* y, long n) {
  for (long i = 0; i < n; ++i) {
    y[i] = x[i];
  }
}
