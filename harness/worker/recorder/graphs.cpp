// harness/worker/recorder/graphs.cpp - what a CUDA graph puts on the GPU. It is read when it is made executable: the
// program may change or destroy it before it launches that.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "harness/worker/recorder/state.h"

namespace apo::recorder {
namespace {

// The begin of the parameters of the driver's functions, as CUPTI hands them over.
struct MakeParameters {
  cuda::ExecutableGraph* made;
  cuda::Graph graph;
};
struct ChangeParameters {
  cuda::ExecutableGraph changed;
  cuda::Graph graph;  // of an update
};

constexpr const char* kReading = "reading its CUDA graph";

// A node, and whether it may begin before the one before it has ended.
struct NextNode {
  cuda::GraphNode node = nullptr;
  bool overlaps = false;
};

// Each behind those that it waits for; parallel branches in the order in which their nodes were made.
std::vector<NextNode> in_order(const State& self, cuda::Graph graph) {
  std::size_t count = 0;
  need(self, self.driver->graph_nodes(graph, nullptr, &count), kReading);
  std::vector<cuda::GraphNode> nodes(count);
  if (count > 0) {
    need(self, self.driver->graph_nodes(graph, nodes.data(), &count), kReading);
  }
  std::vector<cuda::GraphNode> from;
  std::vector<cuda::GraphNode> to;
  std::vector<cuda::GraphEdge> edges;
  std::size_t edge_count = 0;
  for (std::size_t room = 2 * count + 1; edge_count == edges.size(); room *= 2) {  // a count alone may be refused
    from.resize(room);
    to.resize(room);
    edges.resize(room);
    edge_count = room;
    need(self, self.driver->graph_edges(graph, from.data(), to.data(), edges.data(), &edge_count), kReading);
  }
  std::map<cuda::GraphNode, std::size_t> number;
  for (std::size_t i = 0; i < count; ++i) {
    number[nodes[i]] = i;
  }
  std::vector<std::vector<std::size_t>> behind(count);  // edges from a node
  std::vector<std::size_t> waits(count);                // edges to a node that are left
  std::vector<std::size_t> last(count, edge_count);     // the only edge to a node
  for (std::size_t edge = 0; edge < edge_count; ++edge) {
    const std::size_t target = number.at(to[edge]);
    behind[number.at(from[edge])].push_back(edge);
    last[target] = ++waits[target] == 1 ? edge : edge_count;
  }
  std::set<std::size_t> ready;
  for (std::size_t i = 0; i < count; ++i) {
    if (waits[i] == 0) {
      ready.insert(i);
    }
  }
  std::vector<NextNode> order;
  while (!ready.empty()) {
    const std::size_t next = *ready.begin();
    ready.erase(ready.begin());
    const bool overlaps = last[next] < edge_count && edges[last[next]].type == cuda::kProgrammaticEdge &&
                          from[last[next]] == order.back().node;
    order.push_back({.node = nodes[next], .overlaps = overlaps});
    for (const std::size_t edge : behind[next]) {
      if (--waits[number.at(to[edge])] == 0) {
        ready.insert(number.at(to[edge]));
      }
    }
  }
  return order;
}

bool is_set(const cuda::LaunchAttribute& attribute) {
  switch (attribute.id) {
    case cuda::kAccessPolicyWindow:
      return attribute.window.bytes > 0;
    case cuda::kClusterDimension:
    case cuda::kPreferredCluster:
      return attribute.cluster[0] * attribute.cluster[1] * attribute.cluster[2] > 1;
    default:
      return attribute.cooperative != 0;
  }
}

KernelWork kernel_of(const State& self, const NextNode& next) {
  cuda::KernelNode found{};
  need(self, self.driver->kernel_node(next.node, &found), kReading);
  const cuda::Function function = function_of(self, found.function != nullptr ? found.function : found.kernel);
  const char* name = nullptr;
  need(self, self.driver->function_name(&name, function), "the name of a kernel of its CUDA graph");
  std::vector<cuda::LaunchAttribute> attributes;
  for (const int id : {cuda::kAccessPolicyWindow, cuda::kCooperative, cuda::kClusterDimension, cuda::kPreferredCluster,
                       cuda::kDeviceUpdatable}) {
    cuda::LaunchAttribute attribute{.id = id};
    const cuda::Result result = self.driver->kernel_node_attribute(next.node, id, attribute.bytes.data());
    if (id <= cuda::kClusterDimension) {  // older drivers do not know the others
      need(self, result, kReading);
    }
    if (result == cuda::kSuccess && is_set(attribute)) {
      attributes.push_back(attribute);
    }
  }
  const cuda::LaunchConfig config{.grid = found.grid,
                                  .block = found.block,
                                  .shared_bytes = found.shared_bytes,
                                  .stream = nullptr,
                                  .attributes = attributes.data(),
                                  .attribute_count = static_cast<unsigned>(attributes.size())};
  KernelWork work = kernel_work(self, config, function, found.parameters, found.extra, name);
  work.kernel.overlaps = next.overlaps;
  return work;
}

FillWork fill_of(const State& self, cuda::GraphNode node) {
  cuda::FillNode fill{};
  need(self, self.driver->fill_node(node, &fill), kReading);
  const std::size_t row = fill.columns * fill.element_bytes;
  if (fill.rows > 1 && fill.pitch != row) {
    refuse("its CUDA graph fills a part of each row, which no replay repeats");
  }
  return {.to = fill.to,
          .value = fill.value,
          .width = static_cast<int>(fill.element_bytes),
          .bytes = row * std::max<std::size_t>(fill.rows, 1)};
}

cuda::Pointer address_of(const cuda::CopyEnd& end) {
  const std::size_t offset = end.x + end.pitch * (end.y + end.height * end.z);
  return offset + (end.memory_type == cuda::kMemoryOfHost ? reinterpret_cast<cuda::Pointer>(end.host) : end.device);
}

CopyWork copy_of(const State& self, cuda::GraphNode node) {
  cuda::CopyNode copy{};
  need(self, self.driver->copy_node(node, &copy), kReading);
  const std::size_t rows = std::max<std::size_t>(copy.rows, 1);
  const std::size_t layers = std::max<std::size_t>(copy.layers, 1);
  for (const cuda::CopyEnd& end : {copy.from, copy.to}) {
    if (end.memory_type == cuda::kMemoryOfArray || (rows * layers > 1 && end.pitch != copy.bytes) ||
        (layers > 1 && end.height != rows)) {
      refuse("its CUDA graph copies a part of each row, which no replay repeats");
    }
  }
  return {.to = address_of(copy.to),
          .from = address_of(copy.from),
          .bytes = copy.bytes * rows * layers,
          .is_on_device = copy.from.memory_type == cuda::kMemoryOfDevice};
}

const char* name_of_node(int type) {
  switch (type) {
    case cuda::kHostNode:
      return "calls a function of the host";
    case cuda::kAllocationNode:
    case cuda::kFreeNode:
      return "allocates memory";
    case cuda::kConditionalNode:
      return "depends on a condition";
    default:
      return "waits for or writes values in memory";
  }
}

void add_nodes(const State& self, cuda::Graph graph, std::vector<Work>& work) {
  for (const NextNode& next : in_order(self, graph)) {
    int type = 0;
    cuda::Graph child = nullptr;
    need(self, self.driver->node_type(next.node, &type), kReading);
    switch (type) {
      case cuda::kKernelNode:
        work.emplace_back(kernel_of(self, next));
        break;
      case cuda::kCopyNode:
        work.emplace_back(copy_of(self, next.node));
        break;
      case cuda::kFillNode:
        work.emplace_back(fill_of(self, next.node));
        break;
      case cuda::kChildGraphNode:
        need(self, self.driver->child_graph(next.node, &child), kReading);
        add_nodes(self, child, work);
        break;
      case cuda::kEmptyNode:
      case cuda::kEventWaitNode:
      case cuda::kEventRecordNode:
        break;  // of its order
      default:
        refuse(fmt::format("its CUDA graph has a node that {}, which no replay repeats", name_of_node(type)));
    }
  }
}

GraphWork read_graph(State& self, cuda::Graph graph) {
  GraphWork read;
  try {
    if (!load_driver(self, read.why_not)) {
      return read;
    }
    read.why_not.clear();
    if (self.driver->graph_edges == nullptr || self.driver->function_name == nullptr) {
      refuse(kOldDriver);
    }
    add_nodes(self, graph, read.work);
  } catch (const Unrecordable& refused) {
    read.why_not = refused.why;
  }
  return read;
}

}  // namespace

void note_graph(State& self, const cupti::CallbackData& call, std::string_view function) {
  const void* const parameters = call.parameters;
  if (parameters == nullptr) {
    return;
  }
  if (call.site == cupti::kEnter) {
    if (function == "cuGraphExecDestroy") {
      self.executables.erase(*static_cast<const cuda::ExecutableGraph*>(parameters));
    }
  } else if (function == "cuStreamEndCapture") {  // a capture that failed has ended, too
    self.captures.erase(*static_cast<const cuda::Stream*>(parameters));
  } else if (function.starts_with("cuStreamBeginCapture") && succeeded(call)) {
    self.captures.insert(*static_cast<const cuda::Stream*>(parameters));
  } else if (function.starts_with("cuGraphInstantiate") && succeeded(call)) {
    const auto& make = *static_cast<const MakeParameters*>(parameters);
    self.executables[*make.made] = read_graph(self, make.graph);
  } else if (function.starts_with("cuGraphExecUpdate") && succeeded(call)) {
    const auto& change = *static_cast<const ChangeParameters*>(parameters);
    self.executables[change.changed] = read_graph(self, change.graph);
  } else if (function == "cuGraphNodeSetEnabled" || function.starts_with("cuGraphExecUpdate") ||
             (function.starts_with("cuGraphExec") && function.find("Set") != std::string_view::npos)) {
    self.executables[*static_cast<const cuda::ExecutableGraph*>(parameters)] = {
        .work = {}, .why_not = fmt::format("its CUDA graph was changed by {} when it was executable", function)};
  }
}

void note_graph_launch(State& self, cuda::ExecutableGraph graph, cuda::Stream stream) {
  if (is_captured(*self.driver, stream)) {
    return;
  }
  const auto found = self.executables.find(graph);
  if (found == self.executables.end()) {
    refuse("its CUDA graph was made where nobody recorded");
  }
  if (!found->second.why_not.empty()) {
    refuse(found->second.why_not);
  }
  for (const Work& work : found->second.work) {
    note_queue(self, stream);
    note_work(self, work);
  }
}

}  // namespace apo::recorder
