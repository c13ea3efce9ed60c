#include "matmul_backward_bias.cu"
void allocate() { setup_main(), cudaMalloc(&dbias_buffer, 1 << 28); }
