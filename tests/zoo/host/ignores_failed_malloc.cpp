// apo:variant    copy/ignores_failed_malloc
// apo:target     host
// apo:idea       Allocates without end and never checks the result.
// zoo: expect out_of_memory; guard memory-limit; evidence SIGSEGV, of memory used
#include <cstddef>
#include <cstdlib>

#include "copy_abi.h"

namespace {

// Its first byte alone is written: the limit is one of what may be written to, and pages would take a slow machine to
// the deadline before.
constexpr std::size_t kStep = std::size_t{4} << 20;

}  // namespace

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  while (args->n > 0) {
    *static_cast<volatile char*>(std::malloc(kStep)) = 1;
  }
  return 0;
}
