// apo:variant    copy/host_honest_thread_local_workspace
// apo:target     host
// apo:idea       Honest: each thread has a workspace of its own, made at its first call and filled before it is read.
// zoo: how compare warm n4k; against copy/host_slow; expect faster
#include <cstring>
#include <vector>

#include "copy.args.h"

void copy(const float* x, float* y, int64_t n) {
  thread_local std::vector<float> workspace;
  workspace.resize(static_cast<size_t>(n));
  std::memcpy(workspace.data(), x, sizeof(float) * workspace.size());
  std::memcpy(y, workspace.data(), sizeof(float) * workspace.size());
}
