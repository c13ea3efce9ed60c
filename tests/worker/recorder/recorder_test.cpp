// tests/worker/recorder/recorder_test.cpp - what is written down of the driver's calls, on a driver whose GPU is memory
// of this process.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <map>

#include "harness/worker/recorder/state.h"

namespace apo::recorder {
namespace {

// Allocations by address.
std::map<cuda::Pointer, std::size_t>& allocations() {
  static std::map<cuda::Pointer, std::size_t> all;
  return all;
}

int attribute_of(void* value, int attribute, cuda::Pointer at) {
  auto found = allocations().upper_bound(at);
  if (found == allocations().begin() || at >= (--found)->first + found->second) {
    return cuda::kInvalidValue;
  }
  switch (attribute) {
    case cuda::kPointerRangeStart:
      std::memcpy(value, &found->first, sizeof found->first);
      break;
    case cuda::kPointerRangeSize:
      std::memcpy(value, &found->second, sizeof found->second);
      break;
    default:
      *static_cast<unsigned*>(value) = attribute == cuda::kPointerMemoryType ? cuda::kMemoryOfDevice : 0;
  }
  return cuda::kSuccess;
}

class Recorder : public ::testing::Test {
 protected:
  void SetUp() override {
    allocations().clear();
    driver_.pointer_attribute = attribute_of;
    driver_.current_device = [](cuda::Device* device) { return *device = 0; };
    driver_.device_name = [](char*, int, cuda::Device) { return cuda::kSuccess; };
    driver_.synchronize_context = [] { return cuda::kSuccess; };
    driver_.copy_to_host = [](void* to, cuda::Pointer from, std::size_t bytes) {
      std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
      return cuda::kSuccess;
    };
    driver_.fill = [](cuda::Pointer at, unsigned char value, std::size_t bytes, cuda::Stream) {
      std::memset(reinterpret_cast<void*>(at), value, bytes);
      return cuda::kSuccess;
    };
    state().driver = &driver_;
    begin_call(state(), {});
  }
  void TearDown() override {
    state().recording = false;
    state().driver = nullptr;
  }
  static cuda::Pointer there(std::vector<char>& memory) {
    const auto at = reinterpret_cast<cuda::Pointer>(memory.data());
    allocations()[at] = memory.size();
    return at;
  }
  // "" where it was written down.
  static std::string note(const char* function, const void* parameters) {
    try {
      note_operation(state(), {.function = function, .parameters = parameters}, function);
      return "";
    } catch (const Unrecordable& refused) {
      return refused.why;
    }
  }
  static void made(const char* function, const void* parameters, cuda::Result result = cuda::kSuccess) {
    note_made(state(), {.site = 1, .parameters = parameters, .result = &result}, function);
  }
  static std::string fill(cuda::Pointer at, std::size_t bytes) {
    const struct {
      cuda::Pointer to;
      unsigned char value;
      std::size_t count;
      cuda::Stream stream;
    } parameters{.to = at, .value = 1, .count = bytes, .stream = nullptr};
    return note("cuMemsetD8Async", &parameters);
  }

  cuda::Driver driver_{.in = {nullptr}};
};

TEST_F(Recorder, MemoryIsKeptAsTheCallFindsIt) {
  std::vector<char> memory(64, 'm');
  EXPECT_EQ(fill(there(memory) + 8, 16), "");
  ASSERT_EQ(state().call.memory.size(), 1U);
  EXPECT_EQ(state().call.memory[0].contents, std::string(64, 'm'));
  EXPECT_EQ(state().call.operations[0].to, (RecordedPlace{.memory = 0, .offset = 8}));
}

TEST_F(Recorder, MemoryThatTheCallAllocatesBeginsAsNoNumber) {
  std::vector<char> memory(64, '\0');
  cuda::Pointer at = there(memory);
  const struct {
    cuda::Pointer* at;
    std::size_t bytes;
  } parameters{.at = &at, .bytes = memory.size()};
  made("cuMemAlloc_v2", &parameters, cuda::kOutOfMemory);
  EXPECT_EQ(memory, std::vector<char>(64, '\0')) << "what a failed call returns is no memory of its";
  made("cuMemAlloc_v2", &parameters);
  EXPECT_EQ(memory, std::vector<char>(64, static_cast<char>(kScratchByte))) << "for the program itself, too";
  EXPECT_EQ(fill(at, 8), "");
  EXPECT_TRUE(state().call.memory.at(0).is_scratch);
  EXPECT_EQ(state().call.memory.at(0).contents, "");
}

TEST_F(Recorder, MemoryOfAPoolIsNewToo) {
  std::vector<char> memory(64, '\0');
  cuda::Pointer at = there(memory);
  const struct {
    cuda::Pointer* at;
    std::size_t bytes;
    const void* pool;
    cuda::Stream stream;
  } parameters{.at = &at, .bytes = memory.size(), .pool = nullptr, .stream = nullptr};
  made("cuMemAllocFromPoolAsync", &parameters);
  EXPECT_EQ(memory, std::vector<char>(64, static_cast<char>(kScratchByte)));
  EXPECT_TRUE(state().fresh.contains(at));
}

// Two halves of one stretch, as adjacent allocations lie.
TEST_F(Recorder, TheEndOfATensorIsTheBeginOfWhatLiesBehindIt) {
  std::vector<char> memory(64, 'm');
  const auto at = reinterpret_cast<cuda::Pointer>(memory.data());
  allocations()[at] = 32;
  const std::vector<CudaRange> both = {{.at = at, .bytes = 32}, {.at = at + 32, .bytes = 32}};
  begin_call(state(), both);
  EXPECT_EQ(place_of(state(), at + 31), (RecordedPlace{.argument = 0, .offset = 31}));
  EXPECT_EQ(place_of(state(), at + 32), (RecordedPlace{.argument = 1}));
  EXPECT_EQ(place_of(state(), at + 64), (RecordedPlace{.argument = 1, .offset = 32}));
  begin_call(state(), {both.front()});
  EXPECT_EQ(place_of(state(), at + 32), (RecordedPlace{.argument = 0, .offset = 32})) << "nothing begins there";
  allocations()[at + 32] = 32;
  EXPECT_EQ(place_of(state(), at + 32), (RecordedPlace{.memory = 0}));
}

// Before the call is over nobody knows which of it is an output.
TEST_F(Recorder, ScratchCountsWhenTheCallIsOver) {
  state().call.memory = {{.bytes = kMostRecordedMemory, .contents = "", .is_scratch = true}};
  EXPECT_NO_THROW(check_memory(state()));
  std::vector<char> memory(64, 'm');
  EXPECT_EQ(fill(there(memory), 8), "");
  EXPECT_THROW(check_memory(state()), Unrecordable);
}

TEST_F(Recorder, ScratchThatTheRangeFreedHasNoResult) {
  std::vector<char> memory(64, 'm');
  std::vector<char> scratch(64, 'm');
  EXPECT_EQ(fill(there(memory), 8), "");
  EXPECT_EQ(fill(there(scratch), 8), "");
  allocations().erase(there(scratch));
  memory[3] = 'n';
  ProgramCall told;
  state().done = [&](const ProgramCall& call) { told = call; };
  end_program_call(state());
  EXPECT_EQ(told.refusal, "");
  EXPECT_EQ(told.results, (std::vector<std::string>{"n", ""}));
  EXPECT_TRUE(decode_program_call(encode(told)));
}

TEST_F(Recorder, AnAddressInMemoryIsFoundWithinTheFirstGiB) {
  std::vector<char> other(64);
  const cuda::Pointer address = there(other);
  std::vector<char> memory(64, '\0');
  std::memcpy(memory.data() + 24, &address, sizeof address);
  EXPECT_NE(fill(there(memory), 8).find("an address lies at byte 24"), std::string::npos);
  begin_call(state(), {});
  state().searched = std::int64_t{1} << 30;
  EXPECT_EQ(fill(there(memory), 8), "");
  EXPECT_EQ(state().call.unsearched, 64) << "what was not looked at is said";
}

TEST_F(Recorder, GraphsAreRefusedByThatName) {
  for (const char* const function : {"cuGraphLaunch", "cuStreamBeginCapture_v2"}) {
    EXPECT_NE(note(function, &function).find("CUDA graph"), std::string::npos) << function;
  }
  EXPECT_EQ(note("cuMemcpyHtoD_v2", "x"), "no replay repeats such a call");
  EXPECT_EQ(note("cuStreamAddCallback", "x"), "no replay repeats such a call");
  EXPECT_NE(note("cuTexObjectCreate", "x"), "");
  EXPECT_NE(note("cuMemMap", "x"), "");
  EXPECT_EQ(note("cuCtxSynchronize", nullptr), "");
}

std::vector<std::size_t> images_of(cuda::Module module) {
  const auto images = state().images_of.find(module);
  return images == state().images_of.end() ? std::vector<std::size_t>() : images->second;
}

TEST_F(Recorder, AModuleIsKnownByTheImagesThatItsLoadTellsOf) {
  const std::string first = "first image";
  const std::string second = "second image";
  const auto loads = [](cuda::Module module, const std::string& image, const char* function, const void* parameters) {
    note_loading(state(), {.site = cupti::kEnter, .parameters = parameters}, function);
    const cupti::ModuleData data{.id = 0, .bytes = image.size(), .cubin = image.data()};
    note_module(state(), &data);
    cuda::Result result = cuda::kSuccess;
    note_loading(state(), {.site = 1, .parameters = parameters, .result = &result}, function);
    return images_of(module);
  };
  const auto early = reinterpret_cast<cuda::Module>(0x10);
  const auto late = reinterpret_cast<cuda::Module>(0x20);
  cuda::Module made = early;
  const struct { cuda::Module* module; } load{.module = &made};
  const struct {
    cuda::Function* function;
    cuda::Module module;
  } get{.function = nullptr, .module = late};
  const auto of_first = loads(early, first, "cuModuleLoadData", &load);
  ASSERT_EQ(of_first.size(), 1U);
  EXPECT_EQ(state().images.at(of_first.front()), first);
  const auto of_second = loads(late, second, "cuModuleGetFunction", &get);
  ASSERT_EQ(of_second.size(), 1U);
  EXPECT_EQ(state().images.at(of_second.front()), second);
  cuda::Result result = cuda::kSuccess;
  note_loading(state(), {.site = 1, .parameters = &early, .result = &result}, "cuModuleUnload");
  EXPECT_TRUE(images_of(early).empty()) << "another module may get its handle";
}

TEST_F(Recorder, AKernelThatNoModuleNamesIsRefused) {
  driver_.parameter_info = [](cuda::Function, std::size_t, std::size_t*, std::size_t*) { return cuda::kInvalidValue; };
  driver_.get_function_attribute = [](int* value, int, cuda::Function) { return *value = 0; };
  driver_.function_module = [](cuda::Module* module, cuda::Function) {
    *module = reinterpret_cast<cuda::Module>(0x30);
    return cuda::kSuccess;
  };
  const std::string stripped(64, '\x7f');  // an image without a symbol
  const cupti::ModuleData data{.id = 0, .bytes = stripped.size(), .cubin = stripped.data()};
  note_module(state(), &data);
  try {
    note_launch(state(), {.grid = {1, 1, 1}, .block = {32, 1, 1}}, nullptr, nullptr, nullptr, "softmax");
    ADD_FAILURE() << "it was recorded";
  } catch (const Unrecordable& refused) {
    EXPECT_EQ(refused.why, "no module that the driver told of has its code");
  }
}

TEST_F(Recorder, TheFirstReasonStays) {
  state().refused("it copies");
  state().refused("the mark names nothing");
  EXPECT_EQ(state().refusal, "it copies");
}

// The marks are looked at behind the operations: a range without its operations knows no memory.
TEST_F(Recorder, AProgramsCallTellsTheFirstReasonWhateverItsMarksSay) {
  std::string told;
  state().done = [&](const ProgramCall& call) { told = call.refusal; };
  state().marks = {"apo:output y f32[4] 0x10"};
  state().refused("it copies");
  end_program_call(state());
  EXPECT_EQ(told, "it copies");
}

}  // namespace
}  // namespace apo::recorder
