// tests/worker/recorder/recorder_fixture.h - a driver whose GPU is memory of this process, for tests of the recorder.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "harness/worker/recorder/state.h"

namespace apo::recorder {

// Allocations by address.
inline std::map<cuda::Pointer, std::size_t>& allocations() {
  static std::map<cuda::Pointer, std::size_t> all;
  return all;
}

inline int attribute_of(void* value, int attribute, cuda::Pointer at) {
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

// The parameters of cuMemAlloc.
struct Allocation {
  cuda::Pointer* at;
  std::size_t bytes;
};

class RecorderTest : public ::testing::Test {
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
    state().executables.clear();
    state().captures.clear();
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

}  // namespace apo::recorder
