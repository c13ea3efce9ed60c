// harness/worker/cupti/sass_api.cpp - finds the functions of CUPTI's SASS metrics.
#include "harness/worker/cupti/sass_api.h"

namespace apo::cupti {

std::unique_ptr<const Sass> load_sass(const Library& library, std::string& missing) {
  auto sass = std::make_unique<Sass>();
  void* const at = library.handle;
  std::string reason;
  if (!find_function(at, sass->properties, "cuptiSassMetricsGetProperties", reason) ||
      !find_function(at, sass->set_config, "cuptiSassMetricsSetConfig", reason) ||
      !find_function(at, sass->unset_config, "cuptiSassMetricsUnsetConfig", reason) ||
      !find_function(at, sass->enable, "cuptiSassMetricsEnable", reason) ||
      !find_function(at, sass->disable, "cuptiSassMetricsDisable", reason) ||
      !find_function(at, sass->data, "cuptiSassMetricsGetDataProperties", reason) ||
      !find_function(at, sass->flush, "cuptiSassMetricsFlushData", reason)) {
    missing = "'" + library.path + "' does not count instructions one by one: " + reason;
    return nullptr;
  }
  return sass;
}

}  // namespace apo::cupti
