// apo:variant    copy/host_honest_kept_buffer
// apo:target     host
// apo:idea       Honest: keeps a buffer between calls so as not to allocate it again, and fills it before it reads it.
// zoo: how compare warm n4k; against copy/host_slow; expect faster
#include <cstring>
#include <vector>

#include "copy_abi.h"

namespace {

std::vector<float> buffer;

}  // namespace

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  buffer.resize(static_cast<size_t>(args.n));
  std::memcpy(buffer.data(), args.x, sizeof(float) * buffer.size());
  std::memcpy(args.y, buffer.data(), sizeof(float) * buffer.size());
  return 0;
}
