// tests/injection/fake_profiler.h - what the stand-in for CUPTI's profilers is told, and what it was asked.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

struct FakeProfiler {
  // Every call that reaches the GPU, by a word: "initialize availability enable config start stop disable ".
  std::string log;

  // ---- the range profiler
  int passes = 2;
  int busy = 0;            // how many sessions are refused for another process
  std::size_t ranges = 1;  // launches of a call
  double value = 42;

  // ---- counts of instructions
  bool disables = true;
  std::size_t most_kernels = std::numeric_limits<std::size_t>::max();     // that a session counts, the first ones
  int times = 1;                                                          // how often it counts each warp
  std::vector<std::pair<std::string, std::int64_t>> launched_in_session;  // name, warps; launch_on_fake() adds them

  // ---- its own
  int passes_done = 0;
  bool enabled = false;
  std::map<std::string, std::uint64_t> counted;
};

// Of the loaded stand-in, found by its name "fake_profiler".
using FakeProfilerFunction = FakeProfiler* (*)();
