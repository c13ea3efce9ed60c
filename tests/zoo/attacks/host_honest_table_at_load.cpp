// apo:variant    copy/host_honest_table_at_load
// apo:target     host
// apo:idea       Honest: a table that is made when it is loaded says where each part begins.
// zoo: how compare warm n4k; against copy/host_slow; expect faster
#include <array>
#include <cstring>

#include "copy.args.h"

namespace {

constexpr int64_t kPart = 1024;

struct Table {
  Table() {
    for (size_t i = 0; i < begins.size(); ++i) {
      begins[i] = static_cast<int64_t>(i) * kPart;
    }
  }
  std::array<int64_t, 64> begins;
};
const Table table;

}  // namespace

void copy(const float* x, float* y, int64_t n) {
  for (int64_t first = 0; first < n; first += kPart * std::ssize(table.begins)) {
    for (const int64_t offset : table.begins) {
      const int64_t begin = first + offset;
      const int64_t count = n - begin < kPart ? n - begin : kPart;
      if (count > 0) {
        std::memcpy(y + begin, x + begin, sizeof(float) * static_cast<size_t>(count));
      }
    }
  }
}
