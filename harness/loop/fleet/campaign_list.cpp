// harness/loop/fleet/campaign_list.cpp - starts campaigns as workers are free, and reads what their processes print.
#include "harness/loop/fleet/campaign_list.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>

#include <algorithm>
#include <list>
#include <map>
#include <set>

#include "harness/core/error.h"
#include "harness/core/system/machine.h"
#include "harness/core/system/process.h"
#include "harness/core/system/spawn.h"
#include "harness/core/text.h"

namespace apo {
namespace {

// What a driver measures by itself, it measures on the device of its first worker, which waits meanwhile. While this
// lives, processes start on these CPUs.
class OnCpusOf {
 public:
  explicit OnCpusOf(const LocalDevice& device) : before_(device.cpus.empty() ? std::vector<int>() : usable_cpus()) {
    if (!before_.empty() && !allow_cpus(device.cpus)) {
      throw EnvironmentError("the system does not let this process keep to some of its CPUs",
                             "run the campaigns without --workers");
    }
  }
  ~OnCpusOf() {
    if (!before_.empty()) {
      allow_cpus(before_);
    }
  }
  OnCpusOf(const OnCpusOf&) = delete;
  OnCpusOf& operator=(const OnCpusOf&) = delete;

 private:
  std::vector<int> before_;  // empty: nothing changed
};

SpawnOptions with_gpu_of(const LocalDevice& device) {
  SpawnOptions options;
  if (!device.gpu.empty()) {
    options.environment = {"CUDA_VISIBLE_DEVICES=" + device.gpu};
  }
  return options;
}

constexpr std::string_view kFailure = "apo: ";

// A campaign's process, which ends with this object.
class RunningCampaign {
 public:
  RunningCampaign(const ListedCampaign& campaign, std::vector<std::size_t> workers,
                  const std::vector<std::string>& words, const LocalDevice& device)
      : campaign_(campaign), workers_(std::move(workers)), process_(words.front(), words, with_gpu_of(device)) {
    process_.in().reset();
  }

  const ListedCampaign& campaign() const { return campaign_; }
  const std::vector<std::size_t>& workers() const { return workers_; }
  bool is_over() { return !process_.out() && !process_.err(); }

  void watch(std::vector<pollfd>& descriptors) {
    for (const FileDescriptor* pipe : {&process_.out(), &process_.err()}) {
      if (*pipe) {
        descriptors.push_back({pipe->get(), POLLIN, 0});
      }
    }
  }

  // Says the lines of its progress that are whole.
  void read(Observer& observer) {
    if (process_.out() && !drain(process_.out(), end_.output)) {
      process_.out().reset();
    }
    if (process_.err() && !drain(process_.err(), unsaid_)) {
      process_.err().reset();
      unsaid_ += unsaid_.empty() || unsaid_.ends_with('\n') ? "" : "\n";
    }
    std::size_t begin = 0;
    for (std::size_t at = unsaid_.find('\n'); at != std::string::npos; at = unsaid_.find('\n', begin)) {
      say(unsaid_.substr(begin, at - begin), observer);
      begin = at + 1;
    }
    unsaid_.erase(0, begin);
  }

  // What this program says of its failure counts more than the hints below it.
  void say(const std::string& line, Observer& observer) {
    const bool is_failure = line.starts_with(kFailure);
    if (is_failure || !failed_) {
      end_.why = trim(is_failure ? line.substr(kFailure.size()) : line);
    }
    failed_ = failed_ || is_failure;
    observer.say(fmt::format("{}: {}", campaign_.file, line));
  }

  ListedEnd end() {
    const int status = process_.end(false);
    if (WIFEXITED(status)) {
      end_.exit_code = WEXITSTATUS(status);
    } else {
      end_.why = "ended by " + signal_name(WTERMSIG(status));
    }
    return end_;
  }

 private:
  ListedCampaign campaign_;
  std::vector<std::size_t> workers_;
  SpawnedProcess process_;
  std::string unsaid_;
  bool failed_ = false;
  ListedEnd end_;
};

class ListRun {
 public:
  ListRun(const CampaignList& list, ListProgress& progress, Observer& observer)
      : list_(list), progress_(progress), observer_(observer) {
    for (std::size_t i = 0; i < list.workers.commands.size(); ++i) {
      free_.insert(i);
    }
  }

  void run() {
    for (const ListedCampaign& campaign : list_.campaigns) {
      if (const auto exit_code = progress_.ended(campaign.file)) {
        list_.on_end(campaign, {.exit_code = exit_code, .output = "", .why = "", .before = true});
      } else {
        waiting_.push_back(campaign);
      }
    }
    for (start(); !running_.empty(); start()) {
      read();
      end_those_that_are_over();
    }
  }

 private:
  // Campaigns that wait, and for none of their kind.
  std::vector<ListedCampaign> able() const {
    std::set<std::string> taken;
    for (const RunningCampaign& one : running_) {
      taken.insert(one.campaign().key);
    }
    std::vector<ListedCampaign> able;
    std::ranges::copy_if(waiting_, std::back_inserter(able),
                         [&](const ListedCampaign& one) { return taken.insert(one.key).second; });
    return able;
  }

  void start() {
    for (std::vector<ListedCampaign> next = able(); !next.empty(); next = able()) {
      const std::size_t share = share_of_workers(free_.size(), next.size(), list_.fewest_workers);
      const bool turn = list_.workers.commands.empty() ? running_.empty() : share > 0;
      if (!turn) {
        return;
      }
      start(next.front(), share);
    }
  }

  void start(const ListedCampaign& campaign, std::size_t share) {
    std::erase_if(waiting_, [&](const ListedCampaign& one) { return one.file == campaign.file; });
    if (const auto open = open_.find(campaign.key); open != open_.end()) {
      list_.on_end(campaign,
                   {.exit_code = std::nullopt,
                    .output = "",
                    .why = fmt::format("not begun: {} has failed, whose campaign it might go on with", open->second)});
      return;
    }
    std::vector<std::size_t> workers;
    std::vector<std::string> commands;
    for (; workers.size() < share; free_.erase(free_.begin())) {
      workers.push_back(*free_.begin());
      commands.push_back(list_.workers.commands[workers.back()]);
    }
    const LocalDevice device = workers.empty() ? LocalDevice() : list_.workers.devices[workers.front()];
    const OnCpusOf there(device);
    observer_.say(workers.empty() ? campaign.file + ": begins"
                                  : fmt::format("{}: begins with {} of {} workers", campaign.file, workers.size(),
                                                list_.workers.commands.size()));
    running_.emplace_back(campaign, workers, list_.words(campaign.file, commands), device);
  }

  void read() {
    std::vector<pollfd> descriptors;
    for (RunningCampaign& one : running_) {
      one.watch(descriptors);
    }
    poll(descriptors.data(), descriptors.size(), -1);  // EINTR: the next look
    for (RunningCampaign& one : running_) {
      one.read(observer_);
    }
  }

  void end_those_that_are_over() {
    std::erase_if(running_, [&](RunningCampaign& one) {
      if (!one.is_over()) {
        return false;
      }
      const ListedEnd end = one.end();
      if (end.exit_code && list_.has_ended(*end.exit_code)) {
        progress_.end(one.campaign().file, *end.exit_code);
      } else {
        open_.emplace(one.campaign().key, one.campaign().file);
      }
      free_.insert(one.workers().begin(), one.workers().end());
      list_.on_end(one.campaign(), end);
      return true;
    });
  }

  const CampaignList& list_;
  ListProgress& progress_;
  Observer& observer_;
  std::vector<ListedCampaign> waiting_;
  std::list<RunningCampaign> running_;
  std::set<std::size_t> free_;               // workers, by their place
  std::map<std::string, std::string> open_;  // files of campaigns that have failed, by key
};

}  // namespace

std::size_t share_of_workers(std::size_t free, std::size_t waiting, std::size_t fewest) {
  const std::size_t share = std::max(free / std::max<std::size_t>(1, waiting), fewest);
  return share <= free ? share : 0;
}

void run_campaign_list(const CampaignList& list, ListProgress& progress, Observer& observer) {
  ListRun(list, progress, observer).run();
}

}  // namespace apo
