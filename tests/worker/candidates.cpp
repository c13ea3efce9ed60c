// tests/worker/candidates.cpp - compiles with g++, runs through Worker and SharedTensors.
#include "tests/worker/candidates.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstring>

#include "harness/core/hash.h"
#include "harness/core/system/process.h"
#include "harness/core/text.h"
#include "kernels/random.h"
#include "tests/zoo/says.h"

namespace apo::testing {
namespace {

namespace fs = std::filesystem;

// As the harness generates it from the contract of `copy`.
constexpr const char* kArgumentHeader = R"(#pragma once
#include "kernels/abi.h"
struct copy_args {
  const float* x;
  float* y;
  int64_t n;
};
#define APO_EXPORT extern "C" __attribute__((visibility("default")))
)";

std::vector<std::string> base_flags() {
  return {"-std=c++20", "-O1", "-g1", "-shared", "-fPIC", "-pthread"};
}

std::optional<Failure> check_output(const SharedTensors& shared_tensors, const std::vector<float>& expected, int call) {
  const std::vector<std::byte> bytes = shared_tensors.read_output("y");
  for (std::size_t i = 0; i < expected.size(); ++i) {
    float got = 0;
    std::memcpy(&got, bytes.data() + i * sizeof got, sizeof got);
    if (!(got == expected[i])) {
      return Failure{Outcome::incorrect, "in call " + std::to_string(call) + ", 'y' is wrong at element " +
                                             std::to_string(i) + (std::isnan(got) ? ", NaN" : "")};
    }
  }
  return std::nullopt;
}

}  // namespace

fs::path zoo_folder() {
  return fs::path(APO_SOURCE_FOLDER) / "tests" / "zoo" / "host";
}

fs::path zoo_source(const std::string& name) {
  return zoo_folder() / (name + ".cpp");
}

Expectation expectation_of(const fs::path& source) {
  const std::string text = read_file(source);
  return {.outcome = zoo_says(text, "expect"), .evidence = zoo_evidence(text), .needs = zoo_says(text, "needs")};
}

Compiled compile(const fs::path& source, const std::vector<std::string>& more_flags) {
  const fs::path folder = fs::path(APO_BINARY_FOLDER) / "test_candidates";
  std::vector<std::string> parts = base_flags();
  parts.insert(parts.end(), more_flags.begin(), more_flags.end());
  std::vector<std::string> argv = parts;
  parts.push_back(read_file(source));
  parts.push_back(kArgumentHeader);
  Compiled compiled{.object = folder / (sha256_of_parts(parts) + ".so")};
  if (fs::exists(compiled.object)) {
    compiled.ok = true;
    return compiled;
  }
  write_file_atomically(folder / "include" / "copy.args.h", kArgumentHeader);
  // Built beside its place and renamed, for tests that run at the same time.
  const std::string unfinished = compiled.object.string() + "." + std::to_string(getpid());
  argv.insert(argv.begin(), "g++");
  argv.insert(argv.end(), {"-I" + (folder / "include").string(), std::string("-I") + APO_SOURCE_FOLDER, "-o",
                           unfinished, source.string()});
  const ProcessResult result = run_process(argv);
  compiled.log = result.error;
  compiled.ok = result.ok();
  if (compiled.ok) {
    fs::rename(unfinished, compiled.object);
  }
  return compiled;
}

Compiled compile_launch(const std::string& body, const std::string& before) {
  const std::string source = "#include \"copy.args.h\"\n" + before +
                             "\nAPO_EXPORT uint32_t apo_abi(void) { return APO_ABI_VERSION; }\n"
                             "APO_EXPORT int apo_launch(const apo_call* call) {\n"
                             "  const auto* args = static_cast<const copy_args*>(call->arguments);\n" +
                             body + "\n}\n";
  const fs::path path = fs::path(APO_BINARY_FOLDER) / "test_candidates" / (sha256(source).substr(0, 16) + ".cpp");
  write_file_atomically(path, source);
  return compile(path);
}

WorkerOptions worker_options() {
  return {.program = APO_WORKER_PROGRAM,
          .memory_limit_bytes = std::int64_t{192} << 20,
          .deadline = kPatience,
          .start_deadline = kPatience};
}

WorkerOptions impatient_options() {
  WorkerOptions options = worker_options();
  options.deadline = std::chrono::milliseconds(300);
  return options;
}

SharedTensorsSpec copy_tensors(std::uint64_t layout_seed, int sets) {
  const std::int64_t bytes = kElements * static_cast<std::int64_t>(sizeof(float));
  return {.buffers = {{.name = "x", .bytes = bytes, .role = BufferRole::input, .element_bytes = 4},
                      {.name = "y", .bytes = bytes, .role = BufferRole::output, .element_bytes = 4}},
          .words = {kElements},
          .input_sets = sets,
          .layout_seed = layout_seed};
}

std::vector<float> fill_inputs(SharedTensors& shared_tensors, int set, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> x(kElements);
  for (float& value : x) {
    value = static_cast<float>(random.uniform(1, 2));
  }
  write_input(shared_tensors, set, "x", std::as_bytes(std::span(x)));
  return x;
}

std::optional<Failure> judge(const fs::path& object, const WorkerOptions& options) {
  Worker worker(options);
  const int group = worker.pid();
  SharedTensors shared_tensors(copy_tensors(7));
  const auto outcome = [&]() -> std::optional<Failure> {
    if (const auto loaded = worker.load(0, object, kPatience); !loaded) {
      return loaded.failure();
    }
    if (const auto attached = worker.attach(shared_tensors, kPatience); !attached) {
      return attached.failure();
    }
    for (int call = 0; call < 3; ++call) {
      const int set = call % 2;
      const std::vector<float> expected = fill_inputs(shared_tensors, set, static_cast<std::uint64_t>(100 + call));
      shared_tensors.poison_outputs();
      if (const auto sample = worker.call(0, set); !sample) {
        return sample.failure();
      }
      worker.freeze();
      if (const auto damage = shared_tensors.check_guards()) {
        return Failure{Outcome::incorrect, damage->sentence()};
      }
      if (const auto change = shared_tensors.check_inputs()) {
        return Failure{Outcome::incorrect, change->sentence()};
      }
      if (auto wrong = check_output(shared_tensors, expected, call)) {
        return wrong;
      }
    }
    return std::nullopt;
  }();
  worker.stop();
  EXPECT_EQ(group_members(group), std::vector<int>()) << "processes were left behind";
  return outcome;
}

std::vector<int> group_members(int group) {
  std::vector<int> members;
  for (const int pid : all_processes()) {
    const std::string line = process_file(pid, "stat");
    // "PID (NAME) STATE PPID PGRP ...": the name may hold anything but ends at the last parenthesis.
    const std::vector<std::string> fields = split_words(line.substr(std::min(line.rfind(')') + 1, line.size())));
    if (fields.size() > 2 && fields[0] != "Z" && parse_int(fields[2]) == group) {
      members.push_back(pid);
    }
  }
  return members;
}

}  // namespace apo::testing
