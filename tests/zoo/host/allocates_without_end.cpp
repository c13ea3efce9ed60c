// apo:variant    copy/allocates_without_end
// apo:target     host
// apo:idea       Allocates memory until there is none.
// zoo: expect out_of_memory; guard memory-limit; evidence bad_alloc
#include <cstddef>

#include "copy_abi.h"

namespace {

// Its first byte alone is written: the limit is one of what may be written to, and pages would take a slow machine to
// the deadline before.
constexpr std::size_t kStep = std::size_t{16} << 20;

}  // namespace

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  while (args->n > 0) {
    *new volatile char[kStep] = 1;
  }
  return 0;
}
