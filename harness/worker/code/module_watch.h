// harness/worker/code/module_watch.h - the machine code that the driver has loaded, as CUPTI shows it.
//
// Watching makes every launch dearer: it is for workers that time nothing.
#pragma once

#include <string>
#include <vector>

#include "harness/worker/cupti/cupti.h"

namespace apo {

// One in a process: CUPTI has one subscriber.
class ModuleWatch {
 public:
  ModuleWatch() = default;
  ModuleWatch(const ModuleWatch&) = delete;
  ModuleWatch& operator=(const ModuleWatch&) = delete;
  ~ModuleWatch() { stop(); }

  // From here on every module that is loaded is kept. Loads CUPTI. A context has to be there.
  void start();
  void stop();
  // What was loaded before is no longer asked for.
  void forget();
  // The images loaded since then, each once, that hold code of one of `kernels`: the driver loads modules of its own.
  std::vector<std::string> images(const std::vector<std::string>& kernels) const;
  // One sentence; empty while it watches.
  const std::string& missing() const { return missing_; }

 private:
  const cupti::Library* cupti_ = nullptr;  // never unloaded
  cupti::Subscriber subscriber_ = nullptr;
  std::string missing_ = "nobody asked for it";
};

}  // namespace apo
