// harness/loop/fleet/slurm.cpp - reads the variables of a job, and writes commands of srun.
#include "harness/loop/fleet/slurm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "harness/core/error.h"
#include "harness/core/text.h"

namespace apo {
namespace {

constexpr std::int64_t kFirstSpecialStep = 0xfffffff0;  // from here on: the batch script, the shell of salloc

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// 0 where it is missing or no number.
int number(const char* name) {
  return static_cast<int>(parse_int(variable(name)).value_or(0));
}

// The numbers of "4(x2),2", one a node.
std::vector<int> of_nodes(const std::string& text) {
  std::vector<int> numbers;
  for (const std::string& part : split(text, ',')) {
    const std::size_t bracket = part.find("(x");
    const auto times = bracket == std::string::npos ? std::optional<std::int64_t>(1)
                                                    : parse_int(part.substr(bracket + 2, part.find(')') - bracket - 2));
    const auto value = parse_int(part.substr(0, bracket));
    if (value && times && *times <= 100'000) {
      numbers.insert(numbers.end(), static_cast<std::size_t>(std::max<std::int64_t>(0, *times)),
                     static_cast<int>(*value));
    }
  }
  return numbers;
}

// --gpus has a type before the number where one was asked for: "a100:4".
int gpus_of_job() {
  const std::string asked = variable("SLURM_GPUS");
  if (const auto all = parse_int(asked.substr(asked.rfind(':') + 1))) {
    return static_cast<int>(*all);
  }
  return number("SLURM_GPUS_ON_NODE") * std::max(1, number("SLURM_JOB_NUM_NODES"));
}

// Tasks where they were asked for, else a worker for each pair of CPUs of a node.
void divide(SlurmAllocation& allocation, int tasks) {
  const std::vector<int> cpus = of_nodes(variable("SLURM_JOB_CPUS_PER_NODE"));
  const int fewest = cpus.empty() ? 1 : *std::ranges::min_element(cpus);
  if (tasks > 0) {
    int all = 0;
    for (const int of_node : cpus) {
      all += of_node;
    }
    allocation.workers = tasks;
    allocation.cpus_each = std::clamp(all / tasks, 1, std::max(1, fewest));
  } else {
    allocation.cpus_each = std::clamp(fewest, 1, 2);
    for (const int of_node : cpus) {
      allocation.workers += std::max(1, of_node / allocation.cpus_each);
    }
  }
  if (const int asked = number("SLURM_CPUS_PER_TASK"); asked > 0 && !allocation.names_gpus) {
    allocation.cpus_each = asked;
  }
}

std::string counted_template(int count, const std::string& options, const LocalWorkers& local) {
  return fmt::format("{}*exec srun --quiet --ntasks=1{} {} worker --serve --target {}", count, options,
                     shell_word(local.program), to_string(local.target));
}

}  // namespace

std::string slurm_template(const std::string& options, const LocalWorkers& local) {
  std::string given = variable("SLURM_JOB_ID").empty() ? "" : " --exact";  // as many at once as the job has room for
  int count = 1;
  for (const std::string& word : split_words(options)) {
    const std::size_t equals = word.find('=');
    if (equals == 0 || equals == std::string::npos) {
      throw UserError(fmt::format("'{}' in --slurm is no option", word),
                      "write for example --slurm 'partition=gpu gres=gpu:1 n=8 time=2:00:00'");
    }
    if (word.starts_with("n=")) {
      count = worker_count(word.substr(equals + 1), word);
    } else {
      given += " " + shell_word("--" + word);
    }
  }
  return counted_template(count, given, local);
}

std::optional<SlurmAllocation> slurm_allocation(Target target) {
  SlurmAllocation allocation{.job = variable("SLURM_JOB_ID")};
  const auto step = parse_int(variable("SLURM_STEP_ID"));
  if (allocation.job.empty() || (step && *step < kFirstSpecialStep)) {
    return std::nullopt;
  }
  const int gpus = target == Target::cuda ? gpus_of_job() : 0;
  allocation.names_gpus = gpus > 0;
  divide(allocation, gpus > 0 ? gpus : number("SLURM_NTASKS"));
  return allocation.workers > 1 ? std::optional(allocation) : std::nullopt;
}

// Memory is the job's: a step that asked for its own would take all of a node's from the next.
std::string allocation_template(const SlurmAllocation& allocation, const LocalWorkers& local) {
  return counted_template(allocation.workers,
                          fmt::format(" --exact --mem=0 --cpus-per-task={}{}", allocation.cpus_each,
                                      allocation.names_gpus ? " --gres=gpu:1" : ""),
                          local);
}

}  // namespace apo
