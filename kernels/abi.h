// kernels/abi.h - the C ABI between the worker and a library variant; frozen per APO_ABI_VERSION.
#ifndef APO_KERNELS_ABI_H
#define APO_KERNELS_ABI_H

#include <stdint.h>

#define APO_ABI_VERSION 1u

#ifdef __cplusplus
extern "C" {
#endif

/* One call of a library variant. The worker owns every pointer; all of them stay valid for the call only.
   `arguments` points to the family's generated argument struct: tensor pointers in the order of the contract
   (inputs, then outputs), then the variant's scratch pointers in the order of its apo:scratch lines, then every axis as
   int64_t. Tensors and scratch buffers are aligned to 64 bytes. Scratch keeps its contents between calls, but a variant
   may not rely on that. */
typedef struct apo_call {
  uint32_t abi_version;  /* APO_ABI_VERSION of the caller */
  uint32_t struct_bytes; /* sizeof(apo_call) of the caller */
  const void* arguments; /* const <family>_args* */
  int32_t threads;       /* CPUs this worker may use, at least 1 */
  int32_t reserved;      /* 0 */
  void* stream;          /* CUstream on target cuda, NULL on host */
} apo_call;

/* A library variant exports these two. apo_abi returns APO_ABI_VERSION; apo_launch returns 0 on success and any
   other value to say that it refuses the call. The work is complete when apo_launch returns (on target cuda: when the
   stream is idle). */
uint32_t apo_abi(void);
int apo_launch(const apo_call* call);

#ifdef __cplusplus
}
#endif
#endif
