// tests/worker/recorder/recorder_test.cpp - what is written down of the driver's calls, on a driver whose GPU is memory
// of this process.
#include <array>
#include <cstring>

#include "tests/worker/recorder/recorder_fixture.h"

namespace apo::recorder {
namespace {

using Recorder = RecorderTest;

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
  const Allocation parameters{.at = &at, .bytes = memory.size()};
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

// As tensor maps that a kernel of the call writes anew: what follows one fails where it is recorded.
TEST_F(Recorder, AddressesInMemoryAreInvertedThereToo) {
  std::vector<char> other(64);
  const cuda::Pointer address = there(other);
  const cuda::Pointer inverted = ~address;
  std::vector<char> memory(64, 'm');
  std::memcpy(memory.data() + 8, &address, sizeof address);
  std::memcpy(memory.data() + 24, &address, sizeof address);
  driver_.copy_to_device = [](cuda::Pointer to, const void* from, std::size_t bytes) {
    std::memcpy(reinterpret_cast<void*>(to), from, bytes);
    return cuda::kSuccess;
  };
  state().inverts_addresses = true;
  EXPECT_EQ(fill(there(memory), 8), "");
  EXPECT_EQ(std::memcmp(memory.data() + 8, &inverted, sizeof inverted), 0);
  EXPECT_EQ(std::memcmp(memory.data() + 24, &inverted, sizeof inverted), 0);
  EXPECT_EQ(state().call.memory.at(0).contents, std::string(memory.begin(), memory.end()));
  EXPECT_EQ(state().call.memory.size(), 1U) << "what they point to is none of the call's";
  EXPECT_EQ(state().call.unsettled, 16);
  EXPECT_EQ(state().inverted.find("an address lies at byte 8 of the memory that it works on"), 0U);
  begin_call(state(), {});
  EXPECT_FALSE(state().inverts_addresses);
  EXPECT_EQ(state().inverted, "");
}

TEST_F(Recorder, WhatNoReplayRepeatsIsRefused) {
  EXPECT_EQ(note("cuMemcpyDtoHAsync_v2", "x"), "no replay repeats such a call");
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
    note_kernel(state(), {.function = nullptr, .kernel = {.name = "softmax"}, .parameters = ""});
    ADD_FAILURE() << "it was recorded";
  } catch (const Unrecordable& refused) {
    EXPECT_EQ(refused.why, "no module that the driver told of has its code");
  }
}

struct HostCopy {
  cuda::Pointer to;
  const void* from;
  std::size_t bytes;
  cuda::Stream stream = nullptr;
};

TEST_F(Recorder, ACopyFromTheHostHoldsItsBytes) {
  std::vector<char> memory(64, 'm');
  std::string host = "constants";
  const HostCopy parameters{.to = there(memory) + 8, .from = host.data(), .bytes = host.size()};
  ASSERT_EQ(note("cuMemcpyHtoDAsync_v2", &parameters), "");
  ASSERT_EQ(note("cuMemcpy", &parameters), "") << "to which the address says that it is the host's";
  host[0] = 'C';
  ASSERT_EQ(state().call.operations.size(), 2U);
  for (const RecordedOperation& copy : state().call.operations) {
    EXPECT_EQ(copy.from_host, "constants");
    EXPECT_EQ(copy.to, (RecordedPlace{.memory = 0, .offset = 8}));
    EXPECT_FALSE(copy.from);
  }
}

TEST_F(Recorder, ACopyOfAddressesFromTheHostIsRefused) {
  std::vector<char> memory(64, 'm');
  const std::array<cuda::Pointer, 2> table = {0, there(memory) + 8};
  const HostCopy parameters{.to = there(memory), .from = table.data(), .bytes = sizeof table};
  EXPECT_NE(note("cuMemcpyHtoD_v2", &parameters).find("an address lies at byte 8 of what it copies"),
            std::string::npos);
}

TEST_F(Recorder, CopiesToTheHostAndLargeOnesFromItAreRefused) {
  std::vector<char> memory(64, 'm');
  std::vector<char> host(64);
  const cuda::Pointer at = there(memory);
  const HostCopy to_host{.to = reinterpret_cast<cuda::Pointer>(host.data()), .from = memory.data(), .bytes = 8};
  EXPECT_NE(note("cuMemcpyAsync", &to_host).find("it copies to the host"), std::string::npos);
  EXPECT_EQ(note("cuMemcpyDtoD_v2", &to_host).find("it copies to the host"), 0U);
  const HostCopy on_device{.to = at, .from = host.data(), .bytes = 8};
  EXPECT_EQ(note("cuMemcpyDtoDAsync_v2", &on_device), "it copies from what is no memory") << "nobody reads there";
  const HostCopy from_host{.to = at, .from = host.data(), .bytes = 8};
  state().from_host = kMostFromHost - 8;
  EXPECT_EQ(note("cuMemcpyHtoD_v2", &from_host), "");
  EXPECT_NE(note("cuMemcpyHtoD_v2", &from_host).find("copies more than 64"), std::string::npos);
}

TEST_F(Recorder, WorkOnMemoryThatNothingElseWorksOnIsNotSeen) {
  RecordedCall call;
  call.modules = {{.image = "m", .variables = {}}, {.image = "n", .variables = {{.name = "v", .bytes = "v"}}}};
  call.memory.resize(3);
  const RecordedKernel on_second{.module = 0, .places = {{.memory = 1}}};
  call.operations = {{.kernel = {}, .bytes = 8, .to = {.memory = 0}},
                     {.kernel = on_second},
                     {.kernel = {}, .bytes = 8, .to = {.argument = 0}, .from = RecordedPlace{.memory = 2}}};
  EXPECT_FALSE(are_seen(call, {0}));
  EXPECT_FALSE(are_seen(call, {0, 1}));
  EXPECT_TRUE(are_seen(call, {2})) << "a tensor of the call";
  call.operations[0].to.memory = 1;
  EXPECT_TRUE(are_seen(call, {1}));
  EXPECT_FALSE(are_seen(call, {0, 1}));
  call.operations.push_back({.kernel = RecordedKernel{.module = 0, .places = {{.memory = 2}}}});
  EXPECT_FALSE(are_seen(call, {0, 1})) << "code alone is shared";
  for (const std::size_t i : {std::size_t{1}, std::size_t{3}}) {
    call.operations[i].kernel->module = 1;
  }
  EXPECT_TRUE(are_seen(call, {0, 1})) << "a variable, too";
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
