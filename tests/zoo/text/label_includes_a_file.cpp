// zoo: expect wrong
// zoo: says /etc/passwd
int named() asm("a\n.include \"/etc/passwd\"\nb");
int use() {
  return named();
}
void copy(const float* x, float* y, long n) {
  for (long i = 0; i < n; ++i) {
    y[i] = x[i];
  }
}
