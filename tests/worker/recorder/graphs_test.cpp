// tests/worker/recorder/graphs_test.cpp - CUDA graphs that are made, changed and launched, on a driver whose graphs are
// lists of this process.
#include <algorithm>
#include <cstring>
#include <list>

#include "tests/worker/recorder/recorder_fixture.h"

namespace apo::recorder {
namespace {

struct FakeGraph;
struct FakeNode {
  int type = cuda::kEmptyNode;
  cuda::KernelNode kernel = {};
  std::map<int, cuda::LaunchAttribute> attributes = {};
  cuda::FillNode fill = {};
  cuda::CopyNode copy = {};
  FakeGraph* child = nullptr;
};
struct FakeEdge {
  FakeNode* from;
  FakeNode* to;
  unsigned char type = 0;
};
struct FakeGraph {
  std::list<FakeNode> nodes;
  std::vector<FakeEdge> edges;
  FakeNode* add(const FakeNode& node) { return &nodes.emplace_back(node); }
};

FakeGraph& of(cuda::Graph graph) {
  return *static_cast<FakeGraph*>(graph);
}
FakeNode& node_of(cuda::GraphNode node) {
  return *static_cast<FakeNode*>(node);
}

const cuda::Stream kCaptured = reinterpret_cast<cuda::Stream>(0x70);
const cuda::Stream kStream = reinterpret_cast<cuda::Stream>(0x80);
const cuda::ExecutableGraph kMade = reinterpret_cast<cuda::ExecutableGraph>(0x90);

class Graphs : public RecorderTest {
 protected:
  void SetUp() override {
    RecorderTest::SetUp();
    driver_.function_module = [](cuda::Module* module, cuda::Function function) {
      *module = function;
      return cuda::kSuccess;
    };
    driver_.parameter_info = [](cuda::Function, std::size_t index, std::size_t* offset, std::size_t* bytes) {
      *offset = 0;
      *bytes = sizeof(cuda::Pointer);
      return index == 0 ? cuda::kSuccess : cuda::kInvalidValue;
    };
    driver_.get_function_attribute = [](int* value, int, cuda::Function) { return *value = 0; };
    driver_.function_name = [](const char** name, cuda::Function) {
      *name = "softmax";
      return cuda::kSuccess;
    };
    driver_.is_capturing = [](cuda::Stream stream, int* status) {
      *status = stream == kCaptured ? 1 : 0;
      return cuda::kSuccess;
    };
    driver_.graph_nodes = [](cuda::Graph graph, cuda::GraphNode* nodes, std::size_t* count) {
      for (FakeNode& node : of(graph).nodes) {
        nodes = nodes == nullptr ? nodes : (*nodes = &node, nodes + 1);
      }
      *count = of(graph).nodes.size();
      return cuda::kSuccess;
    };
    driver_.graph_edges = [](cuda::Graph graph, cuda::GraphNode* from, cuda::GraphNode* to, cuda::GraphEdge* edges,
                             std::size_t* count) {
      *count = std::min(*count, of(graph).edges.size());
      for (std::size_t i = 0; i < *count; ++i) {
        from[i] = of(graph).edges[i].from;
        to[i] = of(graph).edges[i].to;
        edges[i] = {.from_port = 0, .to_port = 0, .type = of(graph).edges[i].type, .reserved = {}};
      }
      return cuda::kSuccess;
    };
    driver_.node_type = [](cuda::GraphNode node, int* type) {
      *type = node_of(node).type;
      return cuda::kSuccess;
    };
    driver_.child_graph = [](cuda::GraphNode node, cuda::Graph* graph) {
      *graph = node_of(node).child;
      return cuda::kSuccess;
    };
    driver_.kernel_node = [](cuda::GraphNode node, cuda::KernelNode* kernel) {
      *kernel = node_of(node).kernel;
      return cuda::kSuccess;
    };
    driver_.kernel_node_attribute = [](cuda::GraphNode node, int attribute, void* value) {
      std::memcpy(value, node_of(node).attributes[attribute].bytes.data(), sizeof cuda::LaunchAttribute{}.bytes);
      return cuda::kSuccess;
    };
    driver_.fill_node = [](cuda::GraphNode node, cuda::FillNode* fill) {
      *fill = node_of(node).fill;
      return cuda::kSuccess;
    };
    driver_.copy_node = [](cuda::GraphNode node, cuda::CopyNode* copy) {
      *copy = node_of(node).copy;
      return cuda::kSuccess;
    };
    state().modules[&module_] = 0;
    address_ = there(memory_);
    parameters_ = {&address_};
  }
  FakeNode kernel() {
    return {.type = cuda::kKernelNode,
            .kernel = {.function = &module_,
                       .grid = {4, 1, 1},
                       .block = {256, 1, 1},
                       .shared_bytes = 16,
                       .parameters = parameters_.data(),
                       .extra = nullptr,
                       .kernel = nullptr,
                       .context = nullptr}};
  }
  FakeNode fill(std::size_t offset) const {
    return {.type = cuda::kFillNode,
            .fill = {.to = address_ + offset, .pitch = 0, .value = 7, .element_bytes = 4, .columns = 2, .rows = 1}};
  }
  FakeNode copy(const void* from_host = nullptr) const {
    cuda::CopyNode copy{.from = {}, .to = {}, .bytes = 8, .rows = 1, .layers = 1};
    copy.from.memory_type = from_host != nullptr ? cuda::kMemoryOfHost : cuda::kMemoryOfDevice;
    copy.from.host = from_host;
    copy.from.device = from_host != nullptr ? 0 : address_;
    copy.to.memory_type = cuda::kMemoryOfDevice;
    copy.to.device = address_;
    copy.to.x = 32;
    return {.type = cuda::kCopyNode, .copy = copy};
  }
  static void call(const char* function, const void* parameters, cuda::Result result = cuda::kSuccess) {
    for (const int site : {cupti::kEnter, 1}) {
      note_graph(state(), {.site = site, .parameters = parameters, .result = &result}, function);
    }
  }
  static void make(FakeGraph& graph, const char* function = "cuGraphInstantiateWithFlags") {
    cuda::ExecutableGraph made = kMade;
    const struct {
      cuda::ExecutableGraph* made;
      cuda::Graph graph;
    } parameters{.made = &made, .graph = &graph};
    call(function, &parameters);
  }
  static void change(const char* function, FakeGraph* graph, cuda::Result result = cuda::kSuccess) {
    const struct {
      cuda::ExecutableGraph changed;
      cuda::Graph graph;
    } parameters{.changed = kMade, .graph = graph};
    call(function, &parameters, result);
  }
  static std::string launch(cuda::Stream stream = kStream) {
    const struct {
      cuda::ExecutableGraph graph;
      cuda::Stream stream;
    } parameters{.graph = kMade, .stream = stream};
    return note("cuGraphLaunch", &parameters);
  }
  static std::vector<std::string> names() {
    std::vector<std::string> names;
    std::ranges::transform(state().call.operations, std::back_inserter(names), name_of);
    return names;
  }

  char module_ = 0;  // its address stands for a module, and for the kernel in it
  std::vector<char> memory_ = std::vector<char>(64, 'm');
  cuda::Pointer address_ = 0;
  std::vector<void*> parameters_;
};

using Names = std::vector<std::string>;

TEST_F(Graphs, AreTheWorkOfTheirNodesInTheirOrder) {
  FakeGraph child;
  child.add(fill(16));
  FakeGraph graph;
  FakeNode* const last = graph.add(copy());
  FakeNode* const nothing = graph.add({});
  FakeNode* const inner = graph.add({.type = cuda::kChildGraphNode, .child = &child});
  FakeNode* const first = graph.add(kernel());
  graph.edges = {{first, nothing}, {nothing, inner}, {inner, last}};
  make(graph);
  graph = {};
  child = {};
  ASSERT_EQ(launch(), "") << "the graph itself was destroyed";
  ASSERT_EQ(names(), (Names{"softmax", "a fill", "a copy"}));
  const RecordedKernel& kernel = *state().call.operations[0].kernel;
  EXPECT_EQ(kernel.grid, (std::array<std::int64_t, 3>{4, 1, 1}));
  EXPECT_EQ(kernel.block, (std::array<std::int64_t, 3>{256, 1, 1}));
  EXPECT_EQ(kernel.shared_bytes, 16);
  EXPECT_EQ(kernel.places, (std::vector<RecordedPlace>{{.parameter = 0, .memory = 0}}));
  const RecordedOperation& fill = state().call.operations[1];
  EXPECT_EQ(fill.to, (RecordedPlace{.memory = 0, .offset = 16}));
  EXPECT_EQ(std::pair(fill.bytes, fill.width), std::pair(std::int64_t{8}, 4));
  EXPECT_EQ(fill.value, 7U);
  EXPECT_EQ(state().call.operations[2].to, (RecordedPlace{.memory = 0, .offset = 32}));
  EXPECT_EQ(state().call.operations[2].from, (RecordedPlace{.memory = 0}));
  ASSERT_EQ(launch(), "");
  EXPECT_EQ(state().call.operations.size(), 6U) << "each launch is work";
}

TEST_F(Graphs, WithParallelBranchesKeepTheOrderInWhichTheseWereMade) {
  FakeGraph graph;
  FakeNode* const join = graph.add(kernel());
  FakeNode* const left = graph.add(copy());
  FakeNode* const right = graph.add(fill(0));
  graph.edges = {{right, join}, {left, join}};
  make(graph);
  ASSERT_EQ(launch(), "");
  EXPECT_EQ(names(), (Names{"a copy", "a fill", "softmax"}));
}

TEST_F(Graphs, HaveAnyNumberOfEdges) {
  FakeGraph graph;
  std::vector<FakeNode*> nodes;
  for (int i = 0; i < 12; ++i) {
    nodes.push_back(graph.add(i == 0 ? kernel() : fill(0)));
    for (int before = 1; before < i; ++before) {
      graph.edges.push_back({nodes[static_cast<std::size_t>(before)], nodes.back()});
    }
  }
  graph.edges.push_back({nodes.back(), nodes.front()});
  make(graph);
  ASSERT_EQ(launch(), "");
  EXPECT_EQ(names().size(), 12U);
  EXPECT_EQ(names().back(), "softmax");
}

TEST_F(Graphs, KernelsKeepTheirAttributes) {
  FakeNode clustered = kernel();
  clustered.attributes[cuda::kClusterDimension].cluster = {2, 1, 1};
  clustered.attributes[cuda::kCooperative].cooperative = 1;
  FakeGraph graph;
  FakeNode* const first = graph.add(clustered);
  FakeNode* const second = graph.add(kernel());
  FakeNode* const third = graph.add(kernel());
  graph.edges = {{first, second, cuda::kProgrammaticEdge}, {first, third, cuda::kProgrammaticEdge}};
  make(graph);
  ASSERT_EQ(launch(), "");
  const std::vector<RecordedOperation>& operations = state().call.operations;
  ASSERT_EQ(operations.size(), 3U);
  EXPECT_EQ(operations[0].kernel->cluster, (std::array<std::int64_t, 3>{2, 1, 1}));
  EXPECT_TRUE(operations[0].kernel->cooperative);
  EXPECT_FALSE(operations[0].kernel->overlaps);
  EXPECT_EQ(operations[1].kernel->cluster, (std::array<std::int64_t, 3>{1, 1, 1}));
  EXPECT_TRUE(operations[1].kernel->overlaps);
  EXPECT_FALSE(operations[2].kernel->overlaps) << "another one lies between";

  FakeGraph persistent;
  persistent.add(kernel())->attributes[cuda::kAccessPolicyWindow].window.bytes = 8;
  make(persistent);
  EXPECT_EQ(launch(), "it has the launch attribute 1, which no replay sets");
}

TEST_F(Graphs, CopyFromTheHostWhatItsMemoryHoldsAtTheLaunch) {
  std::string host = "12345678";
  FakeGraph graph;
  graph.add(copy(host.data()));
  make(graph);
  host[0] = '0';
  ASSERT_EQ(launch(), "");
  EXPECT_EQ(state().call.operations.at(0).from_host, "02345678");
}

TEST_F(Graphs, WithNodesThatNoReplayRepeatsAreRefused) {
  constexpr int kBatchNode = 12;
  for (const auto& [type, why] : {std::pair{static_cast<int>(cuda::kHostNode), "calls a function of the host"},
                                  {cuda::kAllocationNode, "allocates memory"},
                                  {cuda::kConditionalNode, "depends on a condition"},
                                  {kBatchNode, "values in memory"}}) {
    FakeGraph graph;
    graph.add({.type = type});
    make(graph);
    EXPECT_NE(launch().find(why), std::string::npos) << type;
  }
  FakeGraph pitched;
  pitched.add(copy())->copy.rows = 2;
  make(pitched);
  EXPECT_NE(launch().find("a part of each row"), std::string::npos);
}

TEST_F(Graphs, ThatWereChangedAreFollowedOrRefused) {
  FakeGraph graph;
  graph.add(copy());
  FakeGraph other;
  other.add(fill(0));
  make(graph, "cuGraphInstantiateWithParams");
  change("cuGraphExecUpdate_v2", &other);
  ASSERT_EQ(launch(), "");
  EXPECT_EQ(names(), Names{"a fill"});
  for (const char* const function :
       {"cuGraphExecKernelNodeSetParams_v2", "cuGraphNodeSetEnabled", "cuGraphExecNodeSetParams"}) {
    make(graph);
    change(function, nullptr);
    EXPECT_NE(launch().find(function), std::string::npos);
  }
  make(graph);
  change("cuGraphExecUpdate_v2", &other, cuda::kInvalidValue);
  EXPECT_NE(launch().find("cuGraphExecUpdate_v2"), std::string::npos) << "who knows what of it was changed";
  change("cuGraphExecDestroy", nullptr);
  EXPECT_EQ(launch(), "its CUDA graph was made where nobody recorded");
}

TEST_F(Graphs, AreWorkOnceTheyAreLaunchedNotWhileTheyAreCaptured) {
  const struct {
    cuda::Pointer to;
    unsigned char value;
    std::size_t count;
    cuda::Stream stream;
  } captured{.to = address_, .value = 1, .count = 8, .stream = kCaptured};
  EXPECT_EQ(note("cuMemsetD8Async", &captured), "");
  FakeGraph graph;
  graph.add(copy());
  make(graph);
  EXPECT_EQ(launch(kCaptured), "") << "it is a node of another graph";
  EXPECT_TRUE(state().call.operations.empty());
  EXPECT_EQ(launch(), "");
  EXPECT_EQ(names(), Names{"a copy"});
}

TEST_F(Graphs, NobodyWaitsForTheGpuWhileOneIsCaptured) {
  static int waits = 0;
  waits = 0;
  driver_.synchronize_context = [] {
    ++waits;
    return cuda::kSuccess;
  };
  call("cuStreamBeginCapture_v2", &kCaptured);
  std::vector<char> memory(64, '\0');
  cuda::Pointer at = there(memory);
  const Allocation parameters{.at = &at, .bytes = memory.size()};
  made("cuMemAlloc_v2", &parameters);
  EXPECT_NE(RecorderTest::fill(address_, 8).find("while a stream is captured"), std::string::npos);
  EXPECT_EQ(waits, 0);
  call("cuStreamEndCapture", &kCaptured, cuda::kInvalidValue);
  EXPECT_EQ(RecorderTest::fill(address_, 8), "");
  EXPECT_EQ(RecorderTest::fill(at, 8), "");
  EXPECT_TRUE(state().call.memory.at(1).is_scratch);
}

// An event of a capture is none that other streams wait for.
TEST_F(Graphs, AnEventOfACaptureOrdersNothing) {
  driver_.stream_flags = [](cuda::Stream, unsigned* flags) {
    *flags = cuda::kStreamNonBlocking;
    return cuda::kSuccess;
  };
  begin_call(state(), {});
  state().is_ordered = true;
  const struct {
    const void* event;
    cuda::Stream stream;
  } before{.event = "e", .stream = nullptr}, captured{.event = "e", .stream = kCaptured};
  const struct {
    cuda::Stream stream;
    const void* event;
  } wait{.stream = kStream, .event = before.event};
  const auto tell = [](const char* function, const void* parameters) {
    note_wait(state(), {.site = cupti::kEnter, .parameters = parameters}, function);
  };
  tell("cuEventRecord", &before);
  tell("cuEventRecord", &captured);
  tell("cuStreamWaitEvent", &wait);
  state().order.works(kStream);
  const std::string fault = state().order.fault([](const auto&) { return true; });
  EXPECT_NE(fault.find("does not wait for the caller's"), std::string::npos);
}

}  // namespace
}  // namespace apo::recorder
