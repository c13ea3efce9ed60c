// harness/worker/cuda/graph.h - what a stream is given, as one CUDA graph that is launched at once.
#pragma once

#include <functional>

#include "harness/worker/cuda/driver.h"

namespace apo {

class CudaGraph {
 public:
  // `driver` has to outlive it.
  explicit CudaGraph(const cuda::Driver& driver) : driver_(driver) {}
  CudaGraph(const CudaGraph&) = delete;
  CudaGraph& operator=(const CudaGraph&) = delete;
  ~CudaGraph();

  // Makes it of what `queue` gives the stream, brings it to the GPU and waits for that: a launch then takes little room
  // of the stream's queue. kNotSupported where the driver has no graphs.
  cuda::Result make(cuda::Stream stream, const std::function<cuda::Result()>& queue);
  cuda::Result launch(cuda::Stream stream) const { return driver_.launch_graph(graph_, stream); }

 private:
  const cuda::Driver& driver_;
  cuda::ExecutableGraph graph_ = nullptr;
};

}  // namespace apo
