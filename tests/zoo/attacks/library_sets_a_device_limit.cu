// apo:variant    copy/library_sets_a_device_limit
// apo:target     cuda sm_80
// apo:idea       Raises the device's limit of persisting L2 and keeps its input there: the next cold call finds it warm.
// zoo: how compare cold n1m; against copy/library_plain; expect not_accepted; exploit 29; needs nvcc
#include "library.cuh"

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
  launch(args, stream);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
