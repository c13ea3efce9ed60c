// tests/cuda/variant_launcher.cpp - launches device variants once each, in this process and with nothing between, so
// that another profiler can look at them: variant_launcher FAMILY_LIBRARY CACHE FILE[:WORKLOAD]...
//
// Exit code 77: there is no GPU.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/evaluate/lab.h"
#include "harness/implement/build.h"
#include "harness/implement/expression.h"
#include "harness/implement/metadata.h"
#include "harness/implement/settings.h"
#include "harness/worker/cuda_device.h"
#include "harness/worker/protocol.h"

namespace {

using namespace apo;

constexpr int kNoGpu = 77;

template <class T>
void require(const T& failure, const std::string& what) {
  if (failure) {
    throw std::runtime_error(what + ": " + failure->evidence);
  }
}

template <class T>
void require_value(const Result<T>& result, const std::string& what) {
  if (!result) {
    throw std::runtime_error(what + ": " + result.failure().evidence);
  }
}

void launch(Device& device, const Builder& builder, const std::string& file, const std::string& workload_name) {
  const Variant variant = load_variant(file);
  const Family* family = find_family(variant.family);
  if (family == nullptr) {
    throw std::runtime_error("the library has no family " + variant.family);
  }
  const Workload* workload = workload_name.empty() ? &family->workloads.front() : find_workload(*family, workload_name);
  if (workload == nullptr) {
    throw std::runtime_error(variant.family + " has no workload " + workload_name);
  }
  const Build built = builder.build(*family, variant, workload->axes, {});
  if (built.outcome != Outcome::valid) {
    throw std::runtime_error(file + ": " + built.evidence);
  }
  const auto scratch = scratch_bytes(variant, workload->axes, {}, device_symbols(*device.facts()));
  Arena arena(arena_spec(*family, workload->axes, 1, scratch, {}, 1, Target::cuda));
  write_inputs(arena, 0, make_inputs(*family, workload->axes, 1, family->regimes.front(), 1));
  require(device.load(0, built.object_path, built.plan), file);
  require_value(device.attach(arena.layout(), FileDescriptor(dup(arena.fd()))), file);
  require_value(device.run({}, 0), file);
  std::printf("%s\n", variant.id().c_str());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: variant_launcher FAMILY_LIBRARY CACHE FILE[:WORKLOAD]...\n");
    return 1;
  }
  try {
    load_family_library(argv[1]);
    SharedStatus status;
    std::string missing;
    // Watched: no gate, which a profiler that waits for each launch would never see opened.
    const auto device = make_cuda_device(0, true, status, missing);
    if (device == nullptr) {
      std::fprintf(stderr, "variant_launcher: %s\n", missing.c_str());
      return kNoGpu;
    }
    const char* home = std::getenv("APO_HOME");
    const Builder builder(
        {.cache = argv[2], .home = home != nullptr ? home : APO_SOURCE_FOLDER, .device = device->facts()});
    for (int i = 3; i < argc; ++i) {
      const std::vector<std::string> parts = split(argv[i], ':');
      launch(*device, builder, parts.front(), parts.size() > 1 ? parts[1] : "");
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "variant_launcher: %s\n", error.what());
    return 1;
  }
  return 0;
}
