// tests/cuda/cuda_runtime_fixture.h - a runtime with real builds and real workers on a GPU, for the variants and the
// zoo of `copy`.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "harness/core/error.h"
#include "harness/core/expression/expression.h"
#include "harness/core/system/files.h"
#include "harness/evaluate/correctness/correctness.h"
#include "harness/implement/builder.h"
#include "harness/implement/cubin_builder.h"
#include "harness/implement/object/elf.h"
#include "harness/implement/toolkit.h"
#include "harness/implement/variant/catalogue.h"
#include "harness/implement/variant/metadata.h"
#include "harness/implement/variant/settings.h"
#include "harness/runtime/recorded_build.h"
#include "tests/shipped_families.h"
#include "tests/worker/write_input.h"

namespace apo::testing {

// APO_WORKER and APO_HOME in the environment name another worker and another checkout than those of the build, so that
// these tests can be carried.
inline WorkerOptions cuda_worker() {
  const char* program = std::getenv("APO_WORKER");
  return {.program = program != nullptr ? program : APO_WORKER_PROGRAM, .target = Target::cuda};
}

inline std::filesystem::path checkout() {
  const char* home = std::getenv("APO_HOME");
  return home != nullptr ? home : APO_SOURCE_FOLDER;
}

// A variant of `copy` for sm_80 with these lines in its block ("launch k grid=1 block=32"), and its code. With one such
// line the code begins in line 7.
inline std::string copy_source(const std::vector<std::string>& lines, const std::string& code,
                               const std::string& name = "device") {
  std::string source =
      "// apo:variant copy/" + name + "\n// apo:target cuda sm_80\n// apo:technique t\n// apo:idea i\n";
  for (const std::string& line : lines) {
    source += "// apo:" + line + "\n";
  }
  return source + "#include \"copy.args.h\"\n" + code;
}

// An input x and an output y of so many floats, in that many sets.
inline SharedTensorsSpec copy_tensors(std::int64_t floats, int sets = 1) {
  return {.buffers = {{.name = "x", .bytes = 4 * floats, .role = BufferRole::input, .element_bytes = 4},
                      {.name = "y", .bytes = 4 * floats, .role = BufferRole::output, .element_bytes = 4}},
          .words = {floats},
          .input_sets = sets,
          .alignment = 256};
}

// A worker on the GPU, and variants of `copy` that are loaded into its slots. Throws EnvironmentError where there is
// none.
class CopyOnGpu {
 public:
  explicit CopyOnGpu(const SharedTensorsSpec& spec, const WorkerOptions& options = cuda_worker())
      : floats_(spec.words.front()), worker_(options), builder_(folder_.path(), worker_.device(), 60), tensors_(spec) {}
  Build build(const std::vector<std::string>& lines, const std::string& code) const {
    Build built =
        builder_.build(*find_family("copy"), parse_variant(copy_source(lines, code), "a.cu"), {{"n", floats_}}, {});
    EXPECT_EQ(built.outcome, Outcome::valid) << built.evidence << built.log;
    return built;
  }
  // Into the first slots.
  Result<Done> load(const Build& built, int slots = 1) {
    for (int slot = 0; slot < slots; ++slot) {
      if (auto loaded = worker_.load(slot, built.object_path, built.plan); !loaded) {
        return loaded;
      }
    }
    return worker_.attach(tensors_);
  }
  Worker& worker() { return worker_; }
  SharedTensors& tensors() { return tensors_; }
  std::filesystem::path folder() const { return folder_.path(); }

 private:
  std::int64_t floats_;
  TemporaryFolder folder_;
  Worker worker_;
  CudaBuilder builder_;
  SharedTensors tensors_;
};

class CudaRuntime {
 public:
  // Throws EnvironmentError where there is no usable GPU.
  CudaRuntime() : family_(*find_family("copy")) {
    device_ = Worker(cuda_worker()).device();
    catalogue_.load({checkout() / "tests" / "zoo" / "cuda", checkout() / "variants"});
    builder_ = std::make_unique<Builder>(
        BuildOptions{.cache = folder_.path() / "cache", .home = checkout(), .device = device_});
    runtime_.family = &family_;
    runtime_.build = [this](const Configuration& configuration, const Axes& axes, bool) {
      return builder_->build(family_, catalogue_.get(configuration.variant), axes, configuration.settings);
    };
    runtime_.unsupported = [](const Configuration&, const Axes&) { return std::string(); };
    runtime_.scratch = [this](const Configuration& configuration, const Axes& axes) {
      return scratch_bytes(catalogue_.get(configuration.variant), axes, configuration.settings,
                           device_symbols(*device_));
    };
    runtime_.code_of = [](std::string_view image) { return read_cubin(image).code_hash; };
    runtime_.worker = cuda_worker();
    runtime_.compute_sanitizer = find_toolkit_program("compute-sanitizer");
    record_libraries(runtime_, device_->name);
  }

  Runtime& runtime() { return runtime_; }
  const Family& family() const { return family_; }
  const Variant& variant(const std::string& id) const { return catalogue_.get(id); }

  // Adds a variant from its text; its name has to be new.
  void add(const std::string& source) {
    const std::filesystem::path file = folder_.path() / "added.cu";
    write_file_atomically(file, source);
    catalogue_.add(file);
  }
  void add_file(const std::filesystem::path& file) { catalogue_.add(file, family_.name); }
  std::filesystem::path folder() const { return folder_.path(); }
  CheckCase ragged() const {
    const Workload& workload = *find_workload(family_, "n1001");
    return {.workload = workload.name, .axes = workload.axes, .regimes = family_.regimes};
  }
  Build build(const std::string& id) const { return runtime_.build({id, {}}, ragged().axes, false); }

 private:
  const Family& family_;
  TemporaryFolder folder_{"apo-cuda-runtime"};
  std::optional<DeviceFacts> device_;
  Catalogue catalogue_;
  std::unique_ptr<Builder> builder_;
  Runtime runtime_;
};

// Skips its tests where there is no usable GPU.
class CudaTest : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      cuda_ = std::make_unique<CudaRuntime>();
    } catch (const EnvironmentError& error) {
      GTEST_SKIP() << error.what();
    }
  }
  // An honest build that checks this one case.
  CheckResult check(const std::string& id, WorkerOptions options = cuda_worker()) {
    const Build built = cuda_->build(id);
    return built.outcome != Outcome::valid
               ? CheckResult{.outcome = built.outcome, .evidence = built.evidence + built.log}
               : check_build(cuda_->runtime(), {id, {}}, built, cuda_->ragged(), 5, options);
  }
  SharedTensors shared_tensors() const {
    return SharedTensors(shared_tensors_spec(cuda_->family(), cuda_->ragged().axes, 1, {}, {}, 1, Target::cuda));
  }

  std::unique_ptr<CudaRuntime> cuda_;
};

}  // namespace apo::testing
