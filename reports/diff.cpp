// reports/diff.cpp - see diff.h.
#include "reports/diff.h"

#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/core/system/process.h"

namespace apo::report {

std::string unified_diff(const NamedSource& before, const NamedSource& after) {
  if (before.text == after.text) {
    return "";
  }
  if (!find_program("diff")) {
    return "not shown: the program diff is not installed (package diffutils)\n";
  }
  const TemporaryFolder folder("apo-diff");
  write_file_atomically(folder.path() / "before", before.text);
  write_file_atomically(folder.path() / "after", after.text);
  const ProcessResult result =
      run_process({"diff", "-u", "--label", before.name, "--label", after.name, "before", "after"},
                  {.working_folder = folder.path().string()});
  APO_CHECK(result.exit_code == 1);  // 0: the same, 2: trouble
  return result.output;
}

}  // namespace apo::report
