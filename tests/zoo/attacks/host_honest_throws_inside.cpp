// apo:variant    copy/host_honest_throws_inside
// apo:target     host
// apo:idea       Honest: an exception ends its loop within the call.
// zoo: how compare warm n4k; against copy/host_slow; expect faster
#include <cstring>

#include "copy.args.h"

void copy(const float* x, float* y, int64_t n) {
  constexpr int64_t kPart = 1024;
  int64_t done = 0;
  try {
    while (true) {
      if (done + kPart > n) {
        throw n - done;
      }
      std::memcpy(y + done, x + done, sizeof(float) * kPart);
      done += kPart;
    }
  } catch (const int64_t left) {
    std::memcpy(y + done, x + done, sizeof(float) * static_cast<size_t>(left));
  }
}
