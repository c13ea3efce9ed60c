// zoo: expect wrong
// zoo: says <script>alert(1)</script>
#pragma message "</td><script>alert(1)</script> [x](javascript:alert(2))"
#error </td><script>alert(1)</script><img src=x onerror=alert(3)> [x](javascript:alert(2)) | `code`
void copy(const float* x, float* y, long n) {
  for (long i = 0; i < n; ++i) {
    y[i] = x[i];
  }
}
