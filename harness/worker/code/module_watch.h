// harness/worker/code/module_watch.h - the machine code that the driver has loaded, as CUPTI shows it.
//
// Watching slows every launch, so it is only for workers that time nothing.
#pragma once

#include <string>
#include <vector>

#include "harness/worker/cupti/cupti.h"

namespace apo {

// Only one may exist in a process: CUPTI has one subscriber.
class ModuleWatch {
 public:
  ModuleWatch() = default;
  ModuleWatch(const ModuleWatch&) = delete;
  ModuleWatch& operator=(const ModuleWatch&) = delete;
  ~ModuleWatch() { stop(); }

  // Keeps every module that is loaded from here on. Loads CUPTI. Needs a context.
  void start();
  void stop();
  // Drops the images that were loaded so far.
  void forget();
  // Returns the images loaded since then that hold code of one of `kernels`, each once; the driver loads modules of its
  // own.
  std::vector<std::string> images(const std::vector<std::string>& kernels) const;
  // The reason why it does not watch, as one sentence; empty while it watches.
  const std::string& missing() const { return missing_; }

 private:
  const cupti::Library* cupti_ = nullptr;  // never unloaded
  cupti::Subscriber subscriber_ = nullptr;
  std::string missing_ = "nobody asked for it";
};

}  // namespace apo
