// harness/applications/campaign_application.cpp - the journal's dispatch with the incumbent, and with the baseline
// in its place.
#include "harness/applications/campaign_application.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "harness/applications/comparisons.h"
#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/loop/export/dispatch.h"
#include "harness/loop/export/dispatch_document.h"
#include "harness/loop/export/refusal.h"

namespace apo {
namespace fs = std::filesystem;
namespace {

bool is_of_campaign(const DispatchRow& row, const Policy& policy) {
  return row.measured && row.workload_class == policy.workload_class;
}

// The baseline is the table's fallback, so that it serves what no other row does.
Dispatch without_incumbent(Dispatch dispatch, const Policy& policy) {
  for (DispatchTable& table : dispatch.tables) {
    for (DispatchDevice& device : table.devices) {
      if (table.family->name == policy.family) {
        std::erase_if(device.rows, [&](const DispatchRow& row) { return is_of_campaign(row, policy); });
      }
    }
  }
  return dispatch;
}

bool serves_incumbent(const Dispatch& dispatch, const Policy& policy) {
  return std::ranges::any_of(dispatch.tables, [&](const DispatchTable& table) {
    return table.family->name == policy.family && std::ranges::any_of(table.devices, [&](const DispatchDevice& device) {
             return std::ranges::any_of(device.rows,
                                        [&](const DispatchRow& row) { return is_of_campaign(row, policy); });
           });
  });
}

std::string write_dispatch(const Dispatch& dispatch, const fs::path& folder) {
  std::vector<NamedText> files = dispatch_files(dispatch, true);
  for (NamedText& file : files) {
    file.path = folder / file.path;
  }
  write_files_atomically(files);
  return folder.string();
}

// A baseline that an application refused before would vouch for its own faults.
Configuration standard_of(const CampaignFrame& frame) {
  return before_refusals(frame.journal, {.family = frame.policy.family,
                                         .workload_class = frame.policy.workload_class,
                                         .machine = frame.workspace.machine().id,
                                         .configuration = frame.baseline,
                                         .campaign = frame.campaign});
}

}  // namespace

CampaignApplication judge_campaign_by_application(const CampaignFrame& frame, const Configuration& incumbent) {
  const Policy& policy = frame.policy;
  if (!policy.application || incumbent == frame.baseline) {
    return {};
  }
  try {
    const Configuration standard = standard_of(frame);
    const Dispatch dispatch = load_dispatch(frame.journal, frame.workspace.catalogue(),
                                            {.device = frame.workspace.machine().id, .fallbacks = {standard.label()}});
    if (!serves_incumbent(dispatch, policy)) {
      return {.missing = "no dispatch can have the incumbent: 'apo export --dispatch' says why"};
    }
    const fs::path folder = frame.workspace.paths().reports / fmt::format("campaign-{}", frame.campaign);
    ProgramComparison asked{.kind = ComparisonKind::application,
                            .campaign = frame.campaign,
                            .a = write_dispatch(without_incumbent(dispatch, policy), folder / "dispatch-of-baseline"),
                            .b = write_dispatch(dispatch, folder / "dispatch-of-incumbent"),
                            .application = *policy.application};
    frame.observer.say("application: " + incumbent.label() + " against " + standard.label());
    CampaignApplication judged{.comparison = compare_programs(frame.workspace, &frame.journal, std::move(asked),
                                                              frame.workspace.machine().target, frame.observer)};
    frame.observer.say("application: " + judged.comparison->judgement->sentence);
    return judged;
  } catch (const UserError& error) {
    // The accepts stand on their own gates; what keeps the application from being run is told beside them.
    return {.missing = with_hint(error)};
  }
}

}  // namespace apo
