// apo:variant    copy/library_sets_a_device_limit
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       Raises the device's limit of persisting L2 and keeps its input there: the next cold call finds it warm.
// zoo: how compare cold n1m
// zoo: against copy/library_plain
// zoo: expect not_accepted
// zoo: exploit 29
// zoo: needs nvcc
#include "copy.args.h"

static __global__ void copy_elements(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    a.y[i] = a.x[i];
  }
}

APO_EXPORT uint32_t apo_abi(void) {
  return APO_ABI_VERSION;
}

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  const auto stream = static_cast<cudaStream_t>(call->stream);
  const size_t bytes = sizeof(float) * static_cast<size_t>(args.n);
  cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, bytes);
  cudaStreamAttrValue window{};
  window.accessPolicyWindow.base_ptr = const_cast<float*>(args.x);
  window.accessPolicyWindow.num_bytes = bytes;
  window.accessPolicyWindow.hitRatio = 1.0f;
  window.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
  window.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
  cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &window);
  copy_elements<<<static_cast<unsigned>((args.n + 255) / 256), 256, 0, stream>>>(args);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
