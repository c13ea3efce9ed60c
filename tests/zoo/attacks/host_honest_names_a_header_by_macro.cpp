// apo:variant    copy/host_honest_names_a_header_by_macro
// apo:target     host
// apo:idea       Honest: chooses the compiler's header for this processor by a macro, and has a line of assembler.
// zoo: expect valid
#if defined(__x86_64__)
#define APO_INTRINSICS <immintrin.h>
#else
#define APO_INTRINSICS <arm_neon.h>
#endif
#include APO_INTRINSICS
#include <omp.h>

#include <cstring>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  asm volatile("" ::: "memory");
  std::memcpy(args.y, args.x, sizeof(float) * static_cast<size_t>(args.n));
  return omp_get_max_threads() > 0 ? 0 : 1;
}
