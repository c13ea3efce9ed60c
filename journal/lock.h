// journal/lock.h - who works on what: locks on <journal>.lock, which the system frees when their holder dies.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "harness/core/system/files.h"

namespace apo {

// Work that only one process may do at a time.
enum class Task : std::uint8_t {
  campaign,
  experiment,
  job
};  // with all that belongs to it; one outside campaigns; a call

// What a writer has taken.
class WriterLock {
 public:
  explicit WriterLock(const std::filesystem::path& journal);
  // Until this lock ends. False when another process has it.
  bool take(Task what, std::int64_t id);

 private:
  FileDescriptor file_;
};

// "process 4711" that has taken it and lives; std::nullopt when nobody has.
std::optional<std::string> who_works_on(const std::filesystem::path& journal, Task what, std::int64_t id);

}  // namespace apo
