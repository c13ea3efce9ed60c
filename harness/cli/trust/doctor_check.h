// harness/cli/trust/doctor_check.h - one row of the output of `apo doctor`.
#pragma once

#include <string>
#include <vector>

#include "harness/cli/command.h"
#include "harness/core/error.h"
#include "harness/loop/workspace/workspace.h"

namespace apo {

// `broken` stops target host; `limited` works with reduced capability.
enum class CheckState { works, limited, broken };

struct Check {
  std::string name;
  CheckState state = CheckState::works;
  std::string finding;
  std::string fix;  // empty when there is nothing to do
};

inline Check limited(const std::string& name, const std::string& finding, const std::string& fix) {
  return {.name = name, .state = CheckState::limited, .finding = finding, .fix = fix};
}
inline Check broken(const std::string& name, const std::string& finding, const std::string& fix) {
  return {.name = name, .state = CheckState::broken, .finding = finding, .fix = fix};
}

// Turns an exception of a check into its finding.
template <class Function>
Check guarded(const std::string& name, const Function& check) {
  try {
    return check();
  } catch (const UserError& error) {
    return broken(name, error.what(), error.hint());
  } catch (const EnvironmentError& error) {
    return broken(name, error.what(), error.hint());
  }
}

// Checks the software that target cuda needs, in the order in which it is needed.
std::vector<Check> check_gpu_software();
// Reads one counter, because the driver may keep counters from users. Needs a working GPU.
Check check_gpu_counters(Workspace& workspace);

}  // namespace apo
