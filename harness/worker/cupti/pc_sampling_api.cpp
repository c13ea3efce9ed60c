// harness/worker/cupti/pc_sampling_api.cpp - finds the functions of CUPTI's PC sampling.
#include "harness/worker/cupti/pc_sampling_api.h"

namespace apo::cupti {

std::unique_ptr<const Sampling> load_sampling(const Library& library, std::string& missing) {
  auto sampling = std::make_unique<Sampling>();
  void* const at = library.handle;
  std::string reason;
  if (!find_function(at, sampling->enable, "cuptiPCSamplingEnable", reason) ||
      !find_function(at, sampling->disable, "cuptiPCSamplingDisable", reason) ||
      !find_function(at, sampling->start, "cuptiPCSamplingStart", reason) ||
      !find_function(at, sampling->stop, "cuptiPCSamplingStop", reason) ||
      !find_function(at, sampling->set, "cuptiPCSamplingSetConfigurationAttribute", reason) ||
      !find_function(at, sampling->get, "cuptiPCSamplingGetData", reason) ||
      !find_function(at, sampling->count_reasons, "cuptiPCSamplingGetNumStallReasons", reason) ||
      !find_function(at, sampling->reasons, "cuptiPCSamplingGetStallReasons", reason)) {
    missing = "'" + library.path + "' has no PC sampling: " + reason;
    return nullptr;
  }
  return sampling;
}

}  // namespace apo::cupti
