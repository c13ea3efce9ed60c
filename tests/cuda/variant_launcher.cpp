// tests/cuda/variant_launcher.cpp - launches device variants once each, in this process and with nothing between, so
// that another profiler can look at them: variant_launcher CACHE FILE[:WORKLOAD]... Their families are those of
// tests/zoo/profile/families.
//
// With APO_LAUNCHER_COUNT=short|default|long it counts these lists' metrics of each itself, and says where the time of
// each went ("steps: ...") and on the last line how long all that took. --list LIST prints the names of a list, --about
// the GPU, the driver and CUPTI's version. Exit code 77: there is no GPU.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <stdexcept>
#include <string>

#include "harness/core/error.h"
#include "harness/core/expression/expression.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "harness/families/known_families.h"
#include "harness/implement/builder.h"
#include "harness/implement/variant/metadata.h"
#include "harness/implement/variant/settings.h"
#include "harness/runtime/runtime.h"
#include "harness/worker/child/device.h"
#include "harness/worker/cupti/cupti.h"
#include "harness/worker/protocol/protocol.h"
#include "tests/cuda/metric_lists.h"

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

std::vector<std::string> metrics_of(const std::string& list) {
  if (list != "short" && list != "default" && list != "long") {
    throw std::runtime_error("no list '" + list + "': known are short, default and long");
  }
  return list == "short" ? testing::short_list() : list == "long" ? testing::long_list() : default_counters();
}

// Launches what is loaded; counts it instead where metrics are asked for. Seconds of that.
double launch_or_count(Device& device, const std::vector<std::string>& metrics, const std::string& file) {
  const auto begin = std::chrono::steady_clock::now();
  if (metrics.empty()) {
    require_value(device.run({}, 0), file);
  } else {
    const auto report = device.count({.metrics = metrics});
    require_value(report, file);
    if (!report->missing.empty() || report->launches.empty()) {
      throw std::runtime_error(file + ": nothing was counted: " + report->missing);
    }
    std::printf("steps: %s\n", testing::steps_text(*report).c_str());
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double launch(Device& device, const Builder& builder, const std::string& file, const std::string& workload_name,
              const std::vector<std::string>& metrics) {
  const Variant variant = load_variant(file);
  const Family* family = find_family(variant.family);
  if (family == nullptr) {
    throw std::runtime_error("there is no family " + variant.family);
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
  const InputSet inputs = make_inputs(*family, workload->axes, 1, family->regimes.front(), 1);
  SharedTensors shared_tensors(shared_tensors_spec(*family, workload->axes, 1, scratch, {}, 1, Target::cuda));
  share_inputs(shared_tensors, 0, *family, inputs);
  require(device.load(0, built.object_path, built.plan), file);
  require_value(device.attach(shared_tensors.layout(), FileDescriptor(dup(shared_tensors.fd()))), file);
  const double seconds = launch_or_count(device, metrics, file);
  std::printf("%s\n", variant.id().c_str());
  return seconds;
}

void print_environment(const Device& device) {
  std::string missing;
  const auto library = cupti::load_library(missing);
  std::printf("%s, driver %s, CUPTI %s\n", device.facts()->name.c_str(), device.facts()->driver.c_str(),
              library == nullptr ? missing.c_str() : std::to_string(library->version).c_str());
}

// In all, and of the first few variants.
void print_seconds(const std::vector<double>& seconds) {
  constexpr std::size_t kShown = 5;
  std::string each;
  for (std::size_t i = 0; i < std::min(kShown, seconds.size()); ++i) {
    each += (i == 0 ? "" : " + ") + format_seconds(seconds[i]);
  }
  std::printf("counted in %s: %s%s\n", format_seconds(std::accumulate(seconds.begin(), seconds.end(), 0.0)).c_str(),
              each.c_str(), seconds.size() > kShown ? " + ..." : "");
}

// Without a GPU.
int print_list(const std::string& list) {
  std::printf("%s\n", join(metrics_of(list), ",").c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string first = argc > 1 ? argv[1] : "";
  if (argc < 3 && first != "--about") {
    std::fprintf(stderr, "usage: variant_launcher CACHE FILE[:WORKLOAD]... | --list LIST | --about\n");
    return 1;
  }
  try {
    if (first == "--list") {
      return print_list(argv[2]);
    }
    SharedStatus status;
    std::string missing;
    // Watched: no gate, which a profiler that waits for each launch would never see opened.
    const auto device = make_cuda_device(0, true, status, missing);
    if (device == nullptr) {
      std::fprintf(stderr, "variant_launcher: %s\n", missing.c_str());
      return kNoGpu;
    }
    if (first == "--about") {
      print_environment(*device);
      return 0;
    }
    const char* const named = std::getenv("APO_HOME");
    const std::filesystem::path home = named != nullptr ? named : APO_SOURCE_FOLDER;
    for (const std::filesystem::path& file : files_below(home / "tests" / "zoo" / "profile" / "families")) {
      add_family_file(file.string(), {.cache = first, .home = home});
    }
    const char* list = std::getenv("APO_LAUNCHER_COUNT");
    const std::vector<std::string> metrics = list == nullptr ? std::vector<std::string>() : metrics_of(list);
    std::vector<double> seconds;
    const Builder builder({.cache = first, .home = home, .device = device->facts()});
    for (int i = 2; i < argc; ++i) {
      const std::vector<std::string> parts = split(argv[i], ':');
      seconds.push_back(launch(*device, builder, parts.front(), parts.size() > 1 ? parts[1] : "", metrics));
    }
    if (!metrics.empty()) {
      print_seconds(seconds);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "variant_launcher: %s\n", error.what());
    return 1;
  }
  return 0;
}
