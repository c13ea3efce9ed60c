#include "global_norm.cu"
void ask_device() { setup_main(), cudaGetDeviceProperties(&deviceProp, 0); }
void norm1(float* out, const float* values, size_t count) { cudaMemset(out, 0, 4), global_norm1(out, values, count, 512); }
void norm2(float* out, const float* values, size_t count) { cudaMemset(out, 0, 4), global_norm2(out, values, count, 512); }
void norm3(float* out, const float* values, size_t count) { cudaMemset(out, 0, 4), global_norm3(out, values, count, 512); }
void norm4(float* out, const float* values, size_t count) { cudaMemset(out, 0, 4), global_norm4(out, values, count, 512); }
