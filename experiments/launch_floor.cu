// experiments/launch_floor.cu - what a call takes that does nothing, by its grid: the floor of a small call.
//
//   nvcc -O2 -std=c++17 -arch=sm_90 experiments/launch_floor.cu -lcuda -o launch_floor && ./launch_floor
//
// Each time is the median of 31 runs of 200 launches between two events, divided by 200: as fast as this program
// launches them; queued before the first one starts, as apo times short calls; and as one graph. `copies` reads and
// writes 16 bytes a thread, in a buffer that stays in the L2 cache. The arguments take 136 bytes, as those of
// binary_backward. Before that: what two events take with nothing and with one such call between them, in a process that
// has just begun and in one that has worked.
#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

struct Args {
  uint4 *to, *from;
  long long rest[15];
};

__global__ void does_nothing(const __grid_constant__ Args args) {
  if (args.rest[0] == 1) {
    args.to[0] = args.from[0];
  }
}

__global__ void copies(const __grid_constant__ Args args) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  args.to[i] = args.from[i];
}

void check(cudaError_t error) {
  if (error != cudaSuccess) {
    std::fprintf(stderr, "launch_floor: %s\n", cudaGetErrorString(error));
    std::exit(1);
  }
}

constexpr int kLaunches = 200, kRuns = 31;

// A word that the stream waits for.
struct Gate {
  unsigned* word;
  CUdeviceptr on_device;
  unsigned opened = 0;

  Gate() {
    void* pointer = nullptr;
    check(cudaHostAlloc(reinterpret_cast<void**>(&word), sizeof *word, cudaHostAllocMapped));
    check(cudaHostGetDevicePointer(&pointer, word, 0));
    on_device = reinterpret_cast<CUdeviceptr>(pointer);
    *word = 0;
  }
  void close(cudaStream_t stream) {
    if (cuStreamWaitValue32(stream, on_device, opened + 1, CU_STREAM_WAIT_VALUE_GEQ) != CUDA_SUCCESS) {
      std::fprintf(stderr, "launch_floor: the stream cannot wait\n");
      std::exit(1);
    }
  }
  void open() { __atomic_store_n(word, ++opened, __ATOMIC_SEQ_CST); }
};

// Microseconds between the events round `launch`, in the order of the runs; queued behind the gate where there is one.
template <class Launch>
std::vector<float> time_us(cudaStream_t stream, Gate* gate, Launch launch) {
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  std::vector<float> us;
  for (int run = 0; run < kRuns; ++run) {
    float ms = 0;
    if (gate != nullptr) {
      gate->close(stream);
    }
    check(cudaEventRecord(begin, stream));
    launch();
    check(cudaEventRecord(end, stream));
    if (gate != nullptr) {
      gate->open();
    }
    check(cudaStreamSynchronize(stream));
    check(cudaEventElapsedTime(&ms, begin, end));
    us.push_back(ms * 1e3F);
  }
  return us;
}

// Of one of the kLaunches that `launch` makes.
template <class Launch>
double median_us(cudaStream_t stream, Gate* gate, Launch launch) {
  std::vector<float> us = time_us(stream, gate, launch);
  std::nth_element(us.begin(), us.begin() + kRuns / 2, us.end());
  return us[kRuns / 2] / kLaunches;
}

template <class Launch>
void time_events(cudaStream_t stream, Gate& gate, const char* what, Launch launch) {
  std::vector<float> us = time_us(stream, &gate, launch);
  std::printf("| %s | %.2f |", what, us.front());
  std::sort(us.begin(), us.end());
  std::printf(" %.2f | %.2f | %.2f |\n", us.front(), us[kRuns / 2], us.back());
}

void time_grid(cudaStream_t stream, Gate& gate, const Args& args, int blocks, int threads) {
  std::printf("| %d x %d |", blocks, threads);
  for (auto* kernel : {does_nothing, copies}) {
    const auto launches = [&] {
      for (int i = 0; i < kLaunches; ++i) {
        kernel<<<blocks, threads, 0, stream>>>(args);
      }
      check(cudaGetLastError());
    };
    launches();
    check(cudaStreamSynchronize(stream));
    const double one_by_one = median_us(stream, nullptr, launches), queued = median_us(stream, &gate, launches);
    cudaGraph_t graph;
    cudaGraphExec_t instance;
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    launches();
    check(cudaStreamEndCapture(stream, &graph));
    check(cudaGraphInstantiate(&instance, graph, 0));
    check(cudaGraphLaunch(instance, stream));
    check(cudaStreamSynchronize(stream));
    std::printf(" %.2f | %.2f | %.2f |", one_by_one, queued,
                median_us(stream, nullptr, [&] { check(cudaGraphLaunch(instance, stream)); }));
  }
  std::printf("\n");
}

}  // namespace

int main() {
  cudaStream_t stream;
  Args args = {};
  cudaDeviceProp device;
  check(cudaGetDeviceProperties(&device, 0));
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  check(cudaMalloc(&args.from, 64 << 20));
  check(cudaMalloc(&args.to, 64 << 20));
  Gate gate;
  std::printf("%s, us between two events\n\n| between them | first | least | median | most |\n|---|---|---|---|---|\n",
              device.name);
  time_events(stream, gate, "nothing", [] {});
  for (int i = 0; i < 100'000; ++i) {
    does_nothing<<<132, 256, 0, stream>>>(args);
  }
  check(cudaStreamSynchronize(stream));
  time_events(stream, gate, "nothing, after 0.2 s of launches", [] {});
  time_events(stream, gate, "one call that does nothing", [&] { does_nothing<<<132, 256, 0, stream>>>(args); });
  time_events(stream, gate, "one call that copies", [&] { copies<<<132, 256, 0, stream>>>(args); });
  time_events(stream, gate, "ten calls that do nothing", [&] {
    for (int i = 0; i < 10; ++i) {
      does_nothing<<<132, 256, 0, stream>>>(args);
    }
  });
  std::printf(
      "\n%s, us a launch\n\n| blocks x threads | nothing | queued | in a graph | copies | queued | in a graph "
      "|\n|---|---|---|---|---|---|---|\n",
      device.name);
  for (const auto& [blocks, threads] : std::vector<std::pair<int, int>>{
           {1, 32}, {4, 256}, {33, 256}, {132, 128}, {132, 256}, {132, 512}, {264, 512}, {528, 256}}) {
    time_grid(stream, gate, args, blocks, threads);
  }
}
