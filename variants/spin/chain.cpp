// apo:variant    spin/chain
// apo:target     host
// apo:technique  scalar-loop
// apo:idea       The chain of dependent steps as it stands, and then EXTRA thousandths of it more, which change nothing.
// apo:tune       EXTRA 0,1,2,3,5,10,20,50
#include "spin.args.h"

namespace {

uint32_t walk(uint32_t state, int64_t steps) {
  for (int64_t i = 0; i < steps; ++i) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
  }
  return state;
}

}  // namespace

void spin(const spin_args& a) {
  for (int64_t i = 0; i < a.n; ++i) {
    const uint32_t end = walk(static_cast<uint32_t>(a.x[i]), a.steps);
    // No state but 0 leads to 0, which no compiler knows: the extra steps have to be taken.
    const bool kept = walk(end, a.steps * EXTRA / 1000) != 0;
    a.y[i] = kept ? static_cast<float>(end >> 8) : -1.0f;
  }
}
