// zoo: expect wrong
// zoo: says cannot name a header of a variant
const unsigned char taken_in[] = {
#embed "/etc/passwd"
};
void copy(const float* x, float* y, long n) {
  for (long i = 0; i < n; ++i) {
    y[i] = x[i];
  }
}
