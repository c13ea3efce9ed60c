// harness/worker/cupti/range_profiler.cpp - loads the range profiler, and says in words what its errors mean.
#include "harness/worker/cupti/range_profiler.h"

#include <dlfcn.h>

#include <array>
#include <filesystem>
#include <utility>

namespace apo::cupti {
namespace {

// CUPTI loads libnvperf_host.so by its bare name and does not look beside itself; once it is in the process by its
// path, the bare name finds it.
std::string load_nvperf(const Library& library) {
  Dl_info where{};
  if (dladdr(reinterpret_cast<void*>(library.get_version), &where) == 0 || where.dli_fname == nullptr) {
    return "";
  }
  std::error_code error;
  const std::filesystem::path given = where.dli_fname;
  for (const std::filesystem::path& cupti : {given, std::filesystem::weakly_canonical(given, error)}) {
    const std::filesystem::path nvperf = cupti.parent_path() / "libnvperf_host.so";
    if (dlopen(nvperf.c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr) {
      return nvperf.string();
    }
  }
  return "";
}

// What a person can do about an error of CUPTI; empty for those that only CUPTI understands. The numbers are those of
// cupti_result.h.
std::string advice(Result result) {
  constexpr std::array<std::pair<Result, const char*>, 14> kAdvice = {
      {{8, "the GPU has too little free memory for the profiler"},
       {15, "libnvperf_host.so does not load; it belongs beside libcupti, and both come with the CUDA Toolkit"},
       {14, "the driver and this CUPTI do not go together; take the CUPTI of a toolkit that the driver supports"},
       {kHardwareBusy, "another process profiles this GPU"},
       {33, "this is a virtual GPU (vGPU), whose counters cannot be read"},
       {35,
        "only an administrator may read counters here; run as root, or have the driver loaded with "
        "NVreg_RestrictProfilingToAdminUsers=0"},
       {38, "this GPU is too new for an old interface of CUPTI"},
       {kMultipleSubscribers, "another profiler watches this process"},
       {40, "the host of this virtual GPU does not allow profiling"},
       {41, "confidential computing is on, which forbids profiling"},
       {42, "this is a mining GPU (CMP), whose counters cannot be read"},
       {43, "this is a MIG slice, whose counters cannot be read"},
       {44, "SLI is on, which forbids profiling"},
       {45, "WSL gives no access to the counters; allow it in the NVIDIA control panel of Windows"}}};
  for (const auto& [known, text] : kAdvice) {
    if (known == result) {
      return text;
    }
  }
  return "";
}

}  // namespace

std::unique_ptr<const Profiler> load_profiler(const Library& library, std::string& missing) {
  auto profiler = load_functions<Profiler>(library, missing);
  if (profiler != nullptr) {
    profiler->nvperf = load_nvperf(library);
  }
  return profiler;
}

std::string explain_trouble(const Library& library, Result result, const std::string& during) {
  const std::string words = advice(result);
  return (words.empty() ? "" : words + " (") + during + ": " + describe(library, result) + (words.empty() ? "" : ")");
}

std::string unsupported_reason(const Library& library, const Profiler& profiler, int device, int api) {
  DeviceSupported asked{.device = device, .api = api};
  if (const Result result = profiler.device_supported(&asked); result != kSuccess) {
    return explain_trouble(library, result, "asking whether this GPU can be profiled");
  }
  if (asked.supported == kLevelSupported) {
    return "";
  }
  for (const auto& [level, what] :
       {std::pair{asked.architecture, "its architecture is older than compute capability 7"},
        std::pair{asked.sli, "SLI is on"},
        std::pair{asked.virtual_gpu, "it is a virtual GPU whose host does not allow it"},
        std::pair{asked.confidential_compute, "confidential computing is on"},
        std::pair{asked.mining, "it is a mining GPU (CMP)"}, std::pair{asked.wsl, "this WSL does not support it"}}) {
    if (level != kLevelSupported) {
      return std::string("CUPTI cannot profile this GPU: ") + what;
    }
  }
  return "CUPTI cannot profile this GPU, and does not say why";
}

std::string chip_of(const Library& library, const Profiler& profiler, int index, std::string& missing) {
  GetChipName asked{.device_index = static_cast<std::size_t>(index)};
  const auto result = profiler.chip_name(&asked);
  if (result != kSuccess || asked.chip == nullptr) {
    missing = explain_trouble(library, result, "asking for the chip");
    return "";
  }
  return asked.chip;
}

}  // namespace apo::cupti
