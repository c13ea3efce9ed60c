// harness/loop/fleet/device_name.cpp - asks the system for its name and for the CPUs of this process.
#include "harness/loop/fleet/device_name.h"

#include <sys/utsname.h>

#include <vector>

#include "harness/core/system/machine.h"
#include "harness/core/text.h"

namespace apo {

std::string device_name(const Machine& machine) {
  if (machine.target == Target::cuda) {
    return machine.id;
  }
  utsname names{};
  const std::string host = uname(&names) == 0 ? names.nodename : "host";
  std::vector<std::string> cpus;
  for (const int cpu : usable_cpus()) {
    cpus.push_back(std::to_string(cpu));
  }
  return host + " cpus " + join(cpus, ",");
}

}  // namespace apo
