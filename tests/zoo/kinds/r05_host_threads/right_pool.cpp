// apo:variant  runs/right_pool
// apo:target   host
// apo:idea     Threads that stay between calls wait for work at a condition variable.
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace {

class Pool {
 public:
  Pool() {
    for (int t = 0; t < kThreads; ++t)
      threads_.emplace_back([this, t] { serve(t); });
  }
  ~Pool() {
    {
      const std::lock_guard lock(mutex_);
      end_ = true;
    }
    wake_.notify_all();
    for (std::thread& one : threads_)
      one.join();
  }
  void run(const std::function<void(int)>& work) {
    std::unique_lock lock(mutex_);
    work_ = &work;
    left_ = kThreads;
    ++round_;
    wake_.notify_all();
    done_.wait(lock, [this] { return left_ == 0; });
  }
  static constexpr int kThreads = 3;

 private:
  void serve(int t) {
    int seen = 0;
    for (std::unique_lock lock(mutex_);;) {
      wake_.wait(lock, [&] { return end_ || round_ != seen; });
      if (end_)
        return;
      seen = round_;
      lock.unlock();
      (*work_)(t);
      lock.lock();
      if (--left_ == 0)
        done_.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  const std::function<void(int)>* work_ = nullptr;
  int left_ = 0, round_ = 0;
  bool end_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace

void runs(const float* x, float* y, int64_t n, int64_t runs) {
  static Pool pool;
  pool.run([=](int t) {
    for (int64_t s = runs * t / Pool::kThreads; s < runs * (t + 1) / Pool::kThreads; ++s) {
      y[s] = 0;
      for (int64_t i = (s * n + runs - 1) / runs; i < ((s + 1) * n + runs - 1) / runs; ++i)
        y[s] += x[i];
    }
  });
}
