// reports/sections/device_section.cpp - the devices whose workers judged for the campaign, and what was lost on them.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/core/text.h"
#include "reports/sections/sections.h"

namespace apo::report {
namespace {

// Sums over all workers that held it, one after the other.
struct DeviceRecord {
  std::string model;
  int experiments = 0;
  int lost = 0;
  double busy_s = 0;
  std::vector<std::string> ends;  // other than as planned
};

std::map<std::string, DeviceRecord> devices_of(const ReportModel& model) {
  std::map<std::string, DeviceRecord> devices;
  for (const WorkerRow& worker : model.workers) {
    DeviceRecord& device = devices[worker.device.empty() ? "never known" : worker.device];
    device.model = worker.model;
    device.experiments += worker.experiments;
    device.lost += worker.lost;
    device.busy_s += worker.busy_s;
    if (worker.end && *worker.end != WorkerEnd::dismissed) {
      device.ends.push_back(fmt::format("worker {}: {}{}", worker.number, to_string(*worker.end),
                                        worker.note.empty() ? "" : ": " + worker.note));
    }
  }
  return devices;
}

long count_on(const ReportModel& model, const std::string& device, Verdict verdict) {
  return std::ranges::count_if(model.experiments, [&](const Experiment& experiment) {
    const auto judged = model.judged_on.find(experiment.id);
    return judged != model.judged_on.end() && judged->second == device && experiment.judgement->verdict == verdict;
  });
}

}  // namespace

void write_devices(const ReportModel& model, Writer& writer) {
  if (model.workers.empty()) {
    return;
  }
  writer.heading(2, "Devices");
  writer.paragraph(
      "Each experiment was judged by a worker on one device, both arms and all rounds. Effects of two devices are "
      "never mixed. Lost: candidates whose judgement did not finish there, because another one was accepted or "
      "the worker ended.");
  Table table{{"device", "model", "accepted", "reverted", "inconclusive", "lost", "busy"}, {}};
  std::vector<Line> ends;
  for (const auto& [name, device] : devices_of(model)) {
    table.rows.push_back({code(name), device.model, count_on(model, name, Verdict::accepted),
                          count_on(model, name, Verdict::reverted), count_on(model, name, Verdict::inconclusive),
                          device.lost, format_seconds(device.busy_s)});
    for (const std::string& end : device.ends) {
      ends.push_back({code(name), ", " + end});
    }
  }
  writer.table(table);
  if (!ends.empty()) {
    writer.list(ends);
  }
}

}  // namespace apo::report
