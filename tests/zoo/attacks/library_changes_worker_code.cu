// apo:variant    copy/library_changes_worker_code
// apo:target     cuda sm_80
// apo:idea       Writes to the code of the C library.
// zoo: how verify; expect valid; exploit 10; needs nvcc
#include <sys/mman.h>

#include <ctime>

#include "slow_library.cuh"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  const auto stream = static_cast<cudaStream_t>(call->stream);
  const auto page = reinterpret_cast<uintptr_t>(&clock_gettime) / 4096 * 4096;
  auto* code = reinterpret_cast<volatile unsigned char*>(&clock_gettime);
  if (mprotect(reinterpret_cast<void*>(page), 4096, PROT_READ | PROT_WRITE | PROT_EXEC) == 0) {
    *code = *code;
    mprotect(reinterpret_cast<void*>(page), 4096, PROT_READ | PROT_EXEC);
  }
  launch(args, stream);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
