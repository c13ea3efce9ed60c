// apo:variant    copy/host_finishes_in_the_gap
// apo:target     host
// apo:idea       Wakes a thread and returns: the work is done while the worker tells its parent that the call is over.
// zoo: how compare warm n4k; against copy/host_slow; expect not_accepted; guard windows; exploit 9
#include <condition_variable>
#include <mutex>
#include <thread>

#include "slow_copy.h"

namespace {

// One thread that works behind the calls; those that come meanwhile are of the same tensors and need no work.
class Later {
 public:
  Later() {
    std::thread([this] { work(); }).detach();
  }
  void post(const copy_args& args) {
    {
      const std::lock_guard lock(mutex_);
      args_ = args;
      posted_ = true;
    }
    wake_.notify_one();
  }

 private:
  void work() {
    while (true) {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return posted_; });
      posted_ = false;
      const copy_args args = args_;
      lock.unlock();
      copy_slowly(args);
    }
  }
  std::mutex mutex_;
  std::condition_variable wake_;
  copy_args args_{};
  bool posted_ = false;
};

}  // namespace

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  static Later later;
  later.post(args);
  return 0;
}
