// harness/exchange/import_profile.cpp - takes what another tool's profile says of a process, every number checked.
#include "harness/core/applications/process_times_file.h"
#include "harness/core/error.h"
#include "harness/core/json/codec.h"
#include "harness/exchange/exchange.h"

namespace apo {

ApplicationProfile import_profile(const std::string& file, const std::filesystem::path& home) {
  std::vector<std::string> copies;
  for (std::int64_t direction = 0; direction < kDirections; ++direction) {
    copies.emplace_back(copy_name(direction));
  }
  const nlohmann::ordered_json report =
      convert(home, "import_profile.py", {{"file", file}, {"copies", copies}, {"gap_limits", kGapLimits}}).report;
  ApplicationProfile profile{
      .source = report.at("source"), .command = file, .device = report.at("device"), .notes = report.at("notes")};
  read_json(report.at("metrics"), profile.metrics);
  try {
    profile.processes.push_back(decode_times(report.at("process").dump()));
  } catch (const UserError& error) {
    throw UserError("'" + file + "' cannot be taken: " + error.what(), "export a shorter capture");
  }
  return profile;
}

}  // namespace apo
