// tests/loop/fleet/fleet_load.cpp - fleet_load WORKERS JUDGEMENTS SECONDS PERCENT JOURNAL: a driver with so many
// simulated workers, each of which answers after about so many seconds with an experiment of a recorded journal.
//
// Of each hundred tasks PERCENT end in a death, a hang, an answer that is not whole, or are given back. Prints a row of
// the table in docs/scale.md. Exit code 1 when an experiment is lost or doubled, or the journal is not whole.
#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>

#include "harness/core/error.h"
#include "harness/core/stopwatch.h"
#include "harness/core/system/machine.h"
#include "harness/core/text.h"
#include "harness/loop/campaign_progress.h"
#include "harness/loop/fleet/placed_experiments.h"
#include "tests/shipped_families.h"

namespace apo {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr const char* kVersion = "simulated";
constexpr double kSilence_s = 60;  // longer than the driver's patience

// ---------------------------------------------------------------- a simulated worker

// The newest judgement of the journal that was timed and not accepted.
Experiment recorded_experiment(const std::string& path) {
  Journal journal = Journal::open(path, Access::read_only);
  const std::vector<std::int64_t> judged = journal.judged_originals();
  for (auto id = judged.rbegin(); id != judged.rend(); ++id) {
    Experiment experiment = journal.load_experiment(*id);
    if (!experiment.rounds.empty() && has_effect(experiment) && experiment.judgement->verdict == Verdict::reverted) {
      return experiment;
    }
  }
  throw UserError("no timed judgement in " + path);
}

class SimulatedWorker {
 public:
  SimulatedWorker(int number, double seconds, int percent, const std::string& journal)
      : number_(number), seconds_(seconds), percent_(percent), recorded_(recorded_experiment(journal)) {
    catalogue_.load({fs::path(APO_SOURCE_FOLDER) / "variants"});
    random_.seed(std::random_device{}());
  }

  void run() {
    say(to_message(Hello{.program = identity_of_program(kVersion),
                         .machine = machine_,
                         .device = fmt::format("simulated {}", number_),
                         .time_s = std::time(nullptr)}));
    for (std::string line; listen(kHeartbeatEvery_s, line);) {
      const Message message = line.empty() ? Message() : Message::parse(line);
      if (message.is_object() && message.at("type") == "task") {
        perform(task_of(message));
      } else {
        say({{"type", "heartbeat"}});
      }
    }
  }

 private:
  static void say(const Message& message) {
    const std::string line = message.dump() + "\n";
    std::fwrite(line.data(), 1, line.size(), stdout);
    std::fflush(stdout);
  }

  // A line of the input, "" when there was none in that time; false at its end.
  static bool listen(double seconds, std::string& line) {
    pollfd input{0, POLLIN, 0};
    line.clear();
    return poll(&input, 1, static_cast<int>(1000 * seconds)) == 0 || static_cast<bool>(std::getline(std::cin, line));
  }

  void wait(double seconds) {
    std::string line;
    for (; seconds > 0; seconds -= kHeartbeatEvery_s) {
      if (!listen(std::min(seconds, kHeartbeatEvery_s), line)) {
        std::exit(0);
      }
      say({{"type", "heartbeat"}});
    }
  }

  void perform(const Task& task) {
    wait(seconds_ * std::uniform_real_distribution(0.5, 1.5)(random_));
    switch (std::uniform_int_distribution(0, 99)(random_) < percent_ ? std::uniform_int_distribution(1, 4)(random_)
                                                                     : 0) {
      case 1:
        std::_Exit(9);
      case 2:
        for (std::string line; listen(kSilence_s, line);) {
        }
        std::_Exit(0);
      case 3:
        return say({{"type", "answer"}, {"id", task.id}, {"sha256", "0"}, {"journal", "AAAA"}});
      case 4:
        say({{"type", "given_back"}, {"id", 0}, {"reason", ""}, {"what", "preempted"}});
        std::_Exit(0);
      default:
        say(answer_message(task.id, answer_journal(answer_to(task))));
    }
  }

  JudgedTask answer_to(const Task& task) const {
    JudgedTask judged{.machine = machine_, .roofs = {}, .sentinels = {}, .sources = {}, .experiment = recorded_};
    Experiment& experiment = judged.experiment;
    experiment.family = task.policy.family;
    experiment.workload_class = task.policy.workload_class;
    experiment.workloads = task.policy.workloads;
    experiment.candidate = task.candidate.configuration;
    experiment.incumbent = task.incumbent.configuration;
    experiment.candidate_source_hash = task.candidate.source_hash;
    experiment.incumbent_source_hash = task.incumbent.source_hash;
    experiment.index = task.index;
    judged.sources = {catalogue_.get(experiment.candidate.variant), catalogue_.get(experiment.incumbent.variant)};
    return judged;
  }

  int number_;
  double seconds_;
  int percent_;
  Experiment recorded_;
  Catalogue catalogue_;
  Machine machine_ = describe_host();
  std::mt19937_64 random_;
};

// ---------------------------------------------------------------- its driver

struct Load {
  int workers = 0;
  int judgements = 0;
  double seconds = 0;
  int percent = 0;
  std::string journal;
};

FleetOptions options_of(const Load& load) {
  FleetOptions options{.commands = {}, .version = kVersion, .silence_s = 10, .restart_after_s = 0.5};
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
      half = {.seconds = 1, .cpu_s = cpu_seconds(), .megabytes = resident_megabytes()};
      start = Clock::now();
    }
  }
  return {.seconds = seconds_since(start),
          .cpu_s = cpu_seconds() - half.cpu_s,
          .megabytes = resident_megabytes() - half.megabytes};
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
      fmt::format("| {} | {} | {} | {:.0f} | {:.1f} | {:.0f} | {:.1f} | {} | {} |", load.workers, load.judgements, lost,
                  3600 * judged / steady.seconds, 1000 * steady.cpu_s / judged, steady.megabytes,
                  static_cast<double>(fs::file_size(workspace.paths().journal)) / 1024 / load.judgements,
                  load.judgements - static_cast<int>(stored), findings.size())
          .c_str());
  return findings.empty() && stored == static_cast<std::size_t>(load.judgements) ? 0 : 1;
}

int run_load(const std::vector<std::string>& words) {
  const bool worker = words.size() == 6 && words[1] == "--worker";
  if (worker) {
    SimulatedWorker(std::stoi(words[2]), std::stod(words[3]), std::stoi(words[4]), words[5]).run();
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
