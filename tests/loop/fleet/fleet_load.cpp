// tests/loop/fleet/fleet_load.cpp - fleet_load WORKERS JUDGEMENTS SECONDS PERCENT JOURNAL: a driver with so many
// simulated workers, each of which answers after about so many seconds with an experiment of a recorded journal.
//
// Of each hundred tasks PERCENT end in a death, a hang, an answer that is not whole, or are given back. Prints a row of
// the table in docs/scale.md. Exit code 1 when an experiment is lost or doubled, or the journal is not whole.
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>

#include "harness/core/error.h"
#include "harness/core/stopwatch.h"
#include "harness/core/text.h"
#include "harness/loop/campaign_progress.h"
#include "harness/loop/fleet/placed_experiments.h"
#include "tests/loop/fleet/simulated_worker.h"
#include "tests/shipped_families.h"

namespace apo {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using namespace apo::testing;

// ---------------------------------------------------------------- a simulated worker

void run_worker(int number, double seconds, int percent, const std::string& journal) {
  std::mt19937_64 random(std::random_device{}());
  constexpr Act kFailures[] = {Act::die, Act::hang, Act::break_answer, Act::give_back};
  const auto next = [&]() -> NextAct {
    const bool fails = std::uniform_int_distribution(0, 99)(random) < percent;
    return {.act = fails ? kFailures[std::uniform_int_distribution(0, 3)(random)] : Act::revert,
            .after_s = seconds * std::uniform_real_distribution(0.5, 1.5)(random)};
  };
  SimulatedWorker(fmt::format("simulated {}", number), journal, next).run();
}

// ---------------------------------------------------------------- its driver

struct Load {
  int workers = 0;
  int judgements = 0;
  double seconds = 0;
  int percent = 0;
  std::string journal;
};

FleetOptions options_of(const Load& load) {
  FleetOptions options{
      .commands = {}, .program = identity_of_program("simulated"), .silence_s = 10, .restart_after_s = 0.5};
  options.most_failures = 1'000'000;
  const std::string self = fs::read_symlink("/proc/self/exe");
  for (int i = 0; i < load.workers; ++i) {
    options.commands.push_back(
        fmt::format("exec '{}' --worker {} {} {} '{}'", self, i + 1, load.seconds, load.percent, load.journal));
  }
  return options;
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

// What this process has read ("rchar:") or written ("wchar:"), pipes and files alike, in KiB.
double kilobytes(const std::string& key) {
  std::ifstream stream("/proc/self/io");
  std::string word;
  double bytes = 0;
  while (stream >> word >> bytes && word != key) {
  }
  return bytes / 1024;
}

double resident_megabytes() {
  std::ifstream stream("/proc/self/statm");
  double pages = 0;
  stream >> pages >> pages;
  return pages * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

// Of the second half, when all workers have started.
struct Steady {
  double seconds = 0;
  double cpu_s = 0;
  double megabytes = 0;  // that it added
  double read_kb = 0;
  double written_kb = 0;
};

// Every candidate once, whatever became of its workers; one whose workers were lost three times is placed again.
Steady judge_all(const CampaignFrame& frame, CampaignProgress& state, std::int64_t iteration, int judgements) {
  PlacedExperiments placed(frame, state, iteration);
  Steady half;
  auto start = Clock::now();
  int next = 0;
  int finished = 0;
  while (finished < judgements) {
    if (placed.can_take() && (next < judgements || placed.is_empty())) {
      placed.place({.configuration = {"copy/parallel", {{"KILOBYTES_PER_THREAD", ++next}}}, .techniques = {}});
    } else {
      finished += placed.wait() ? 1 : 0;
    }
    if (half.seconds == 0 && finished >= judgements / 2) {
      half = {.seconds = 1,
              .cpu_s = cpu_seconds(),
              .megabytes = resident_megabytes(),
              .read_kb = kilobytes("rchar:"),
              .written_kb = kilobytes("wchar:")};
      start = Clock::now();
    }
  }
  return {.seconds = seconds_since(start),
          .cpu_s = cpu_seconds() - half.cpu_s,
          .megabytes = resident_megabytes() - half.megabytes,
          .read_kb = kilobytes("rchar:") - half.read_kb,
          .written_kb = kilobytes("wchar:") - half.written_kb};
}

std::int64_t count(Journal& journal, PlacementState state) {
  std::int64_t found = 0;
  for (const WorkerRow& worker : journal.workers(1)) {
    found += state == PlacementState::answered ? worker.experiments : worker.lost;
  }
  return found;
}

int drive(const Load& load) {
  const TemporaryFolder folder("apo-load");
  Workspace workspace(make_paths((folder.path() / "journal.db").string()));
  SilentObserver observer;
  Journal journal = Journal::open(workspace.paths().journal, Access::read_write);
  journal.add_machine(workspace.machine());
  Campaign campaign{.policy = {.family = "copy", .workload_class = "small", .workloads = {"n4k"}},
                    .baseline = {"copy/simple", {}},
                    .machine = workspace.machine().id};
  journal.add_variant(workspace.catalogue().get("copy/simple"));
  campaign.id = journal.begin_campaign(campaign);
  CampaignFrame frame = make_frame(workspace, journal, observer, campaign, false);
  const std::int64_t iteration =
      journal.begin_iteration({.campaign = campaign.id, .index = 1, .incumbent = campaign.baseline});
  CampaignFleet fleet({.options = options_of(load)}, workspace.machine(), journal, observer, campaign.id);
  frame.fleet = &fleet;
  CampaignProgress state = make_state(frame);
  const Steady steady = judge_all(frame, state, iteration, load.judgements);
  const double judged = load.judgements - load.judgements / 2;
  fleet.dismiss();
  journal.finish_iteration(iteration);
  journal.finish_campaign(campaign.id, 0);
  const std::int64_t lost = count(journal, PlacementState::given_back);
  std::vector<std::string> findings = journal.check_integrity();
  std::ranges::move(journal.check_invariants(), std::back_inserter(findings));
  const std::size_t stored = journal.experiments(campaign.id).size();
  for (const std::string& finding : findings) {
    std::fprintf(stderr, "%s\n", finding.c_str());
  }
  std::printf(
      "%s\n",
      fmt::format("| {} | {} | {} | {:.0f} | {:.1f} | {:.0f} | {:.0f} | {:.0f} | {:.1f} | {} | {} |", load.workers,
                  load.judgements, lost, 3600 * judged / steady.seconds, 1000 * steady.cpu_s / judged, steady.megabytes,
                  steady.read_kb / judged, steady.written_kb / judged,
                  static_cast<double>(fs::file_size(workspace.paths().journal)) / 1024 / load.judgements,
                  load.judgements - static_cast<int>(stored), findings.size())
          .c_str());
  return findings.empty() && stored == static_cast<std::size_t>(load.judgements) ? 0 : 1;
}

int run_load(const std::vector<std::string>& words) {
  const bool worker = words.size() == 6 && words[1] == "--worker";
  if (worker) {
    run_worker(std::stoi(words[2]), std::stod(words[3]), std::stoi(words[4]), words[5]);
    return 0;
  }
  if (words.size() != 6) {
    std::fprintf(stderr, "fleet_load WORKERS JUDGEMENTS SECONDS PERCENT JOURNAL\n");
    return 2;
  }
  return drive({.workers = std::stoi(words[1]),
                .judgements = std::stoi(words[2]),
                .seconds = std::stod(words[3]),
                .percent = std::stoi(words[4]),
                .journal = fs::absolute(words[5])});
}

}  // namespace
}  // namespace apo

int main(int argc, char** argv) {
  return apo::run_load({argv, argv + argc});
}
