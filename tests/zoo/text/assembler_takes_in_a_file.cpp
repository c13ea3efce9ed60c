// zoo: expect wrong
// zoo: says it reads '/etc/passwd'
asm(".section .rodata\n.incbin \"/etc/passwd\"\n.text");
void copy(const float* x, float* y, long n) {
  for (long i = 0; i < n; ++i) {
    y[i] = x[i];
  }
}
