// apo:variant    copy/host_honest_thread_pool
// apo:target     host
// apo:idea       Honest: threads that wait between calls, and are done with their part when the call returns.
// zoo: expect valid
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

#include "copy_abi.h"

namespace {

// One thread that copies the second half.
class Pool {
 public:
  Pool() : thread_([this] { work(); }) { thread_.detach(); }
  void copy(const copy_args& args) {
    const int64_t half = args.n / 2;
    {
      const std::lock_guard lock(mutex_);
      args_ = &args;
      begin_ = half;
    }
    wake_.notify_one();
    std::memcpy(args.y, args.x, sizeof(float) * static_cast<size_t>(half));
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return args_ == nullptr; });
  }

 private:
  void work() {
    while (true) {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return args_ != nullptr; });
      std::memcpy(args_->y + begin_, args_->x + begin_, sizeof(float) * static_cast<size_t>(args_->n - begin_));
      args_ = nullptr;
      lock.unlock();
      done_.notify_one();
    }
  }
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  const copy_args* args_ = nullptr;
  int64_t begin_ = 0;
  std::thread thread_;
};

}  // namespace

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  static Pool pool;
  pool.copy(args);
  return 0;
}
