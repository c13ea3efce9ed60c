// apo:variant  midpoint/bug_midpoint
// apo:target   host
// apo:idea     The sum is a half-precision number, which ends at 65504.
#include <cstdint>

void midpoint(const uint16_t* pa, const uint16_t* pb, uint16_t* py, int64_t n) {
  const auto* a = reinterpret_cast<const _Float16*>(pa);
  const auto* b = reinterpret_cast<const _Float16*>(pb);
  auto* y = reinterpret_cast<_Float16*>(py);
  for (int64_t i = 0; i < n; ++i)
    y[i] = _Float16(0.5f * float(_Float16(float(a[i]) + float(b[i]))));
}
