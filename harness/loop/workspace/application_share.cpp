// harness/loop/workspace/application_share.cpp - finds the campaign's kernels in the newest application profile.
#include "harness/loop/workspace/application_share.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/profile/application/application_summary.h"
#include "harness/research/diagnosis/diagnosis.h"

namespace apo {
namespace {

constexpr std::size_t kNamed = 5;

std::string longest_names(const ApplicationSummary& summary) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(kNamed, summary.work.size()); ++i) {
    names.push_back(summary.work[i].work.name);
  }
  return join(names, ", ");
}

}  // namespace

double application_share(Journal& journal, const std::string& pattern, Observer& observer) {
  if (pattern.empty()) {
    return 1;
  }
  const auto application = journal.newest_application();
  if (!application) {
    throw UserError(
        "the campaign names kernels of an application, '" + pattern + "', and the journal has no profile of one",
        "make one with 'apo profile -- COMMAND' or 'apo import FILE', or drop application_kernels");
  }
  const std::string profile = fmt::format("application profile {}", application->id);
  const double share = share_of(application->summary, NamePattern(pattern));
  if (!(share > 0)) {
    throw UserError("nothing in " + profile + " (" + application->command + ") is called '" + pattern + "'",
                    "its longest: " + longest_names(application->summary));
  }
  observer.say("kernels '" + pattern + "' take " + format_g(100 * share, 3) + " % of the time of '" +
               application->command + "' (" + profile + "): it gets at most " +
               format_ratio(amdahl(share, std::numeric_limits<double>::infinity())) + " as fast");
  return share;
}

}  // namespace apo
