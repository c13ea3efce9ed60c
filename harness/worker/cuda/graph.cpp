// harness/worker/cuda/graph.cpp - captures a stream, and always ends the capture.
#include "harness/worker/cuda/graph.h"

namespace apo {

CudaGraph::~CudaGraph() {
  if (graph_ != nullptr) {
    driver_.destroy_executable_graph(graph_);  // fails only after a sticky error, which the next call reports
  }
}

cuda::Result CudaGraph::make(cuda::Stream stream, const std::function<cuda::Result()>& queue) {
  if (driver_.begin_capture == nullptr || driver_.end_capture == nullptr || driver_.instantiate_graph == nullptr ||
      driver_.upload_graph == nullptr || driver_.launch_graph == nullptr || driver_.destroy_graph == nullptr ||
      driver_.destroy_executable_graph == nullptr) {
    return cuda::kNotSupported;
  }
  cuda::Result error = driver_.begin_capture(stream, cuda::kCaptureRelaxed);
  if (error != cuda::kSuccess) {
    return error;
  }
  error = queue();
  cuda::Graph graph = nullptr;
  const cuda::Result ended = driver_.end_capture(stream, &graph);
  error = error != 0 ? error : ended;
  error = error != 0 ? error : driver_.instantiate_graph(&graph_, graph, 0);
  if (graph != nullptr) {
    driver_.destroy_graph(graph);  // likewise
  }
  error = error != 0 ? error : driver_.upload_graph(graph_, stream);
  return error != 0 ? error : driver_.synchronize(stream);
}

}  // namespace apo
