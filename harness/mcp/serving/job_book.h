// harness/mcp/serving/job_book.h - the rows of jobs, written by a thread of their own, so that a journal which another
// process has locked delays nothing but jobs.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "harness/core/system/files.h"
#include "journal/journal.h"

namespace apo::mcp {

// Its functions return at once; what follows is called by deliver(), in the thread that calls that. `trouble` is empty
// where it worked, else one or two sentences.
class JobBook {
 public:
  explicit JobBook(std::filesystem::path journal);
  JobBook(const JobBook&) = delete;
  JobBook& operator=(const JobBook&) = delete;
  ~JobBook();  // waits for what is under way

  using Began = std::function<void(std::int64_t id, const std::string& trouble)>;
  void begin(JobRow job, Began then);
  using Finished = std::function<void(const std::string& trouble)>;
  void finish(std::int64_t id, JobEnd end, Finished then);
  struct Found {
    std::optional<JobRow> job;
    bool has_server = false;  // one that lives works on it
  };
  using Loaded = std::function<void(const Found& found, const std::string& trouble)>;
  void load(std::int64_t id, Loaded then);

  int wake_descriptor() const { return wake_.get(); }  // readable when there is something to deliver
  void deliver();
  bool is_idle();

 private:
  using Delivery = std::function<void()>;
  void run();
  void submit(std::function<Delivery()> work);
  Journal& writer();
  void close_unless_used();

  std::filesystem::path path_;
  FileDescriptor wake_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<Delivery()>> waiting_;
  std::deque<Delivery> done_;
  bool busy_ = false;
  bool ends_ = false;
  // Used by the thread alone. An open journal tells other processes that jobs run.
  std::optional<Journal> journal_;
  std::set<std::int64_t> running_;
  std::thread thread_;
};

}  // namespace apo::mcp
