// zoo: expect wrong
// zoo: says /etc/passwd
__attribute__((section(".x,\"a\"\n.include \"/etc/passwd\"\n#"))) int placed = 1;
void copy(const float* x, float* y, long n) {
  for (long i = 0; i < n; ++i) {
    y[i] = x[i];
  }
}
