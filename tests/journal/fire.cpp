// tests/journal/fire.cpp - see fire.h.
#include "tests/journal/fire.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <functional>
#include <utility>

#include "journal/facts/campaigns.h"
#include "journal/facts/checks.h"
#include "journal/facts/experiments.h"
#include "journal/facts/profiles.h"
#include "journal/facts/research/briefs.h"
#include "journal/facts/research/lessons.h"
#include "journal/facts/unfinished.h"
#include "tests/journal/samples.h"

namespace apo::test {
namespace {

constexpr int kIterations = 3;
constexpr int kRounds = 3;

// As recover() does at the start of every run.
void abandon_what_is_open(Journal& journal) {
  for (const Unfinished& what : all_unfinished(journal)) {
    if (what.kind != Unfinished::Kind::campaign) {
      mark_abandoned(journal, what, "the run that measured it was interrupted");
    }
  }
}

Campaign opened_campaign(Journal& journal) {
  Campaign campaign = a_campaign();
  if (const auto open = find_open_campaign(journal, "e88_backward", "n32", "cpu-1")) {
    return *open;
  }
  campaign.id = begin_campaign(journal, campaign);
  return campaign;
}

std::int64_t try_candidate(Journal& journal, const Campaign& campaign, std::int64_t iteration, int number,
                           Configuration& incumbent) {
  Experiment experiment = an_experiment(campaign.id, iteration);
  experiment.index = number;
  experiment.incumbent = incumbent;
  experiment.candidate.settings = {{"K", number}};
  const Verdict verdict = number % 3 == 0 ? Verdict::accepted : Verdict::reverted;
  experiment.judgement = a_judgement(verdict, 0.05);
  experiment.judgement->rounds = kRounds - 1;  // one of a_round()'s is void
  begin_with_evidence(journal, experiment);
  finish_experiment(journal, experiment, a_lesson(experiment));
  if (verdict == Verdict::accepted) {
    incumbent = experiment.candidate;
  }
  return experiment.id;
}

void run_campaign(Journal& journal, const std::function<void(std::int64_t)>& acknowledge) {
  const Campaign campaign = opened_campaign(journal);
  Configuration incumbent = campaign.baseline;
  int number = 0;
  for (const Experiment& known : experiments_of(journal, campaign.id, Detail::summary)) {
    number = known.index;
    incumbent = known.judgement && known.judgement->verdict == Verdict::accepted ? known.candidate : incumbent;
  }
  for (int index = static_cast<int>(iterations_of(journal, campaign.id).size()) + 1; index <= kIterations; ++index) {
    const std::int64_t iteration =
        begin_iteration(journal, {.campaign = campaign.id, .index = index, .incumbent = incumbent});
    add_profile(journal, {.configuration = incumbent, .workload = "w", .metrics = {{"time", 1, "ns", {}, {}, 1}}},
                {.machine = "cpu-1", .iteration = iteration});
    add_brief(journal, iteration,
              {.bottlenecks = {{"bound", "evidence", 2}}, .ranked = {{.configuration = incumbent}}});
    for (int candidate = 0; candidate < 2; ++candidate) {
      acknowledge(try_candidate(journal, campaign, iteration, ++number, incumbent));
    }
    finish_iteration(journal, iteration);
  }
  add_certification(
      journal,
      {.campaign = campaign.id, .incumbent = incumbent, .baseline = campaign.baseline, .clock = ClockCoupling{}},
      {a_round(0, 5), a_round(2, 6)}, {{.workload = "w"}, {.workload = "w"}});
  finish_campaign(journal, campaign.id, 5);
}

[[noreturn]] void write_until_killed(const std::filesystem::path& path, int pipe_end) {
  try {
    Journal journal = Journal::open(path, Access::read_write);
    abandon_what_is_open(journal);
    prepare(journal);
    for (;;) {
      run_campaign(journal, [&](std::int64_t id) {
        if (write(pipe_end, &id, sizeof id) != sizeof id) {
          _exit(1);
        }
      });
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "the writer of '%s' stopped: %s\n", path.c_str(), error.what());
    _exit(2);
  }
}

void look_through(Journal& journal, const std::vector<std::int64_t>& finished, FireCounts& counts) {
  for (const auto& findings : {journal.check_integrity(), journal.check_invariants()}) {
    counts.findings.insert(counts.findings.end(), findings.begin(), findings.end());
  }
  for (const std::int64_t id : finished) {
    const Experiment experiment = load_experiment(journal, id);  // throws when it is gone
    if (!experiment.judgement || experiment.rounds.size() != kRounds || experiment.gates.size() != 2 ||
        experiment.candidate_build.key.empty() || lessons_of(journal, {.experiment = id}).size() != 1) {
      counts.findings.push_back("experiment " + std::to_string(id) + " was finished and is not whole");
    }
  }
  int experiments = 0;
  int iterations = 0;
  for (const Unfinished& open : all_unfinished(journal)) {
    experiments += open.kind == Unfinished::Kind::experiment ? 1 : 0;
    iterations += open.kind == Unfinished::Kind::iteration ? 1 : 0;
  }
  counts.in_an_experiment += experiments;
  counts.in_an_iteration += iterations - experiments;
  if (experiments > 1 || iterations > 1) {
    counts.findings.push_back("more than one experiment or iteration is open");
  }
}

}  // namespace

void write_campaign(const std::filesystem::path& path) {
  Journal journal = Journal::open(path, Access::read_write);
  prepare(journal);
  run_campaign(journal, [](std::int64_t) {});
}

Writer::Writer(const std::filesystem::path& path) {
  int ends[2];
  if (pipe(ends) != 0) {
    throw std::runtime_error("no pipe");
  }
  process = fork();
  if (process == 0) {
    close(ends[0]);
    write_until_killed(path, ends[1]);
  }
  close(ends[1]);
  told_ = FileDescriptor(ends[0]);
}

std::optional<std::int64_t> Writer::next_finished() {
  std::int64_t id = 0;
  return read(told_.get(), &id, sizeof id) == sizeof id ? std::optional(id) : std::nullopt;
}

bool Writer::end() {
  int status = 0;
  if (const pid_t ended = std::exchange(process, -1); ended > 0) {
    kill(ended, SIGKILL);
    waitpid(ended, &status, 0);
  }
  return WIFSIGNALED(status);
}

void fire_once(const std::filesystem::path& path, std::mt19937& random, int longest_us,
               std::vector<std::int64_t>& finished, FireCounts& counts) {
  Writer writer(path);
  usleep(static_cast<useconds_t>(std::uniform_int_distribution<int>(0, longest_us)(random)));
  ++counts.kills;
  if (!writer.end()) {
    counts.findings.emplace_back("the writer ended by itself");
  }
  while (const auto id = writer.next_finished()) {
    finished.push_back(*id);
    ++counts.finished;
  }
  if (!std::filesystem::exists(path)) {
    ++counts.before_the_file;
    return;
  }
  try {
    Journal journal = Journal::open(path, Access::read_write);  // the dead writer's lock is free
    look_through(journal, finished, counts);
  } catch (const std::exception& error) {
    counts.findings.emplace_back(error.what());
  }
}

}  // namespace apo::test
