// harness/loop/fleet/slurm.h - workers that Slurm places: jobs of their own, or steps of the job that this process is
// in.
#pragma once

#include <optional>
#include <string>

#include "harness/loop/fleet/worker_commands.h"

namespace apo {

// The template of workers that Slurm places: 'partition=gpu gres=gpu:1 n=8 time=2:00:00' are options of srun, but for
// n, the number of workers. Each is a job of its own, so that it may begin when its device is free; when its time is
// up, it gives its candidate back and is started again, which is a new job. Within a job it is a step of that. Throws
// UserError.
std::string slurm_template(const std::string& options, const LocalWorkers& local);

// The job that this process is in, as far as it has room for more than one worker.
struct SlurmAllocation {
  std::string job;
  int workers = 0;    // one a task; on cuda one a GPU
  int cpus_each = 1;  // that a worker gets
  bool names_gpus = false;
};

// What sbatch or salloc has told this process about its job. nullopt: there is none, it has room for one worker alone,
// or this process is a task that srun has started, with a share of its own.
std::optional<SlurmAllocation> slurm_allocation(Target target);
// The template of its workers.
std::string allocation_template(const SlurmAllocation& allocation, const LocalWorkers& local);

}  // namespace apo
