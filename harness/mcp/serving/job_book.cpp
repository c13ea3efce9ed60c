// harness/mcp/serving/job_book.cpp - one queue in, one queue out.
#include "harness/mcp/serving/job_book.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "harness/core/error.h"

namespace apo::mcp {
namespace {

// The readable part of an error; empty where the action throws none.
std::string trouble_of(const std::function<void()>& action) {
  try {
    action();
    return "";
  } catch (const UserError& error) {
    return with_hint(error, "\n");
  } catch (const EnvironmentError& error) {
    return with_hint(error, "\n");
  } catch (const std::exception& error) {
    return std::string("internal error: ") + error.what();
  }
}

FileDescriptor make_wake() {
  FileDescriptor wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake) {
    throw EnvironmentError(std::string("cannot create an event descriptor: ") + std::strerror(errno));
  }
  return wake;
}

}  // namespace

JobBook::JobBook(std::filesystem::path journal)
    : path_(std::move(journal)), wake_(make_wake()), thread_([this] { run(); }) {}

JobBook::~JobBook() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void JobBook::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return ends_ || !waiting_.empty(); });
    if (ends_) {
      return;
    }
    const auto work = std::move(waiting_.front());
    waiting_.pop_front();
    busy_ = true;
    lock.unlock();
    Delivery delivery = work();
    lock.lock();
    busy_ = false;
    done_.push_back(std::move(delivery));
    const std::uint64_t one = 1;
    if (write(wake_.get(), &one, sizeof one) < 0) {
      continue;  // the counter is at its largest: it wakes anyway
    }
  }
}

void JobBook::submit(std::function<Delivery()> work) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(work));
  }
  changed_.notify_one();
}

void JobBook::deliver() {
  std::uint64_t count = 0;
  if (read(wake_.get(), &count, sizeof count) < 0 && errno != EAGAIN) {
    return;  // tried again when it wakes again
  }
  std::deque<Delivery> done;
  {
    const std::lock_guard lock(mutex_);
    done.swap(done_);
  }
  for (const Delivery& delivery : done) {
    delivery();
  }
}

bool JobBook::is_idle() {
  const std::lock_guard lock(mutex_);
  return !busy_ && waiting_.empty();
}

Journal& JobBook::writer() {
  if (!journal_) {
    journal_.emplace(Journal::open(path_, Access::read_write));
  }
  return *journal_;
}

// Whoever removes the file gets a new one with the next job.
void JobBook::close_unless_used() {
  if (running_.empty()) {
    journal_.reset();
  }
}

void JobBook::begin(JobRow job, Began then) {
  submit([this, job = std::move(job), then = std::move(then)] {
    std::int64_t id = 0;
    std::string trouble = trouble_of([&] {
      id = writer().begin_job(job);
      running_.insert(id);
    });
    close_unless_used();
    return [then, id, trouble = std::move(trouble)] { then(id, trouble); };
  });
}

void JobBook::finish(std::int64_t id, JobEnd end, Finished then) {
  submit([this, id, end = std::move(end), then = std::move(then)] {
    std::string trouble = trouble_of([&] { writer().finish_job(id, end); });
    running_.erase(id);
    close_unless_used();
    return [then, trouble = std::move(trouble)] { then(trouble); };
  });
}

void JobBook::load(std::int64_t id, Loaded then) {
  submit([this, id, then = std::move(then)] {
    Found found;
    std::string trouble = trouble_of([&] {
      std::optional<Journal> reader;
      if (!journal_) {
        reader.emplace(Journal::open(path_, Access::read_only));
      }
      Journal& journal = journal_ ? *journal_ : *reader;
      found.has_server = journal.job_has_server(id);  // first: a job that ends in between has its end then
      found.job = journal.job(id);
    });
    return [then, found = std::move(found), trouble = std::move(trouble)] { then(found, trouble); };
  });
}

}  // namespace apo::mcp
