// harness/evaluate/worker_yard.h - workers between two uses: a fresh one for whoever needs the next, and those that
// end.
#pragma once

#include <future>
#include <memory>
#include <mutex>
#include <vector>

#include "harness/core/files.h"
#include "harness/worker/worker.h"

namespace apo {

// Starting a process on a GPU takes a quarter of a second, ending it a tenth. May be used from several threads; those
// that made the workers have to outlive them.
class WorkerYard {
 public:
  WorkerYard() = default;
  ~WorkerYard() { clear(); }
  WorkerYard(const WorkerYard&) = delete;
  WorkerYard& operator=(const WorkerYard&) = delete;

  // One into which nothing has been loaded yet, made with the options of the lab.
  void keep(std::unique_ptr<Worker> fresh);
  // It, once; nullptr when there is none.
  std::unique_ptr<Worker> take();
  // Ends it beside the caller's next steps, and then lets go of the folder that it writes to, if any.
  void end(std::unique_ptr<Worker> worker, std::unique_ptr<TemporaryFolder> folder = nullptr);
  // Returns when nothing is left of any of them: what is timed next has the machine to itself.
  void clear();

 private:
  std::mutex mutex_;
  std::unique_ptr<Worker> fresh_;
  std::vector<std::future<void>> ending_;
};

}  // namespace apo
