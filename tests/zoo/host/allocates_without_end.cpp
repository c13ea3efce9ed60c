// apo:variant    copy/allocates_without_end
// apo:target     host
// apo:technique  zoo
// apo:idea       Allocates and touches memory until there is none.
// zoo: expect out_of_memory
// zoo: guard memory-limit
// zoo: evidence bad_alloc
#include <cstddef>
#include <cstring>

#include "copy.args.h"

namespace {

constexpr std::size_t kStep = std::size_t{16} << 20;

}  // namespace

APO_EXPORT uint32_t apo_abi(void) {
  return APO_ABI_VERSION;
}

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  while (args->n > 0) {
    std::memset(new char[kStep], 1, kStep);
  }
  return 0;
}
