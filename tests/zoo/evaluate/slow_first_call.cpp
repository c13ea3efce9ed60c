// apo:variant    copy/slow_first_call
// apo:target     host
// apo:idea       Copies, and spins for a third of a second in the first call of a process.
#include <chrono>
#include <cstring>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  static const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(333);
  while (std::chrono::steady_clock::now() < until) {
  }
  std::memcpy(args->y, args->x, sizeof(float) * static_cast<size_t>(args->n));
  return 0;
}
