// journal/journal.h - the file with the memory of every attempt: opens, locks, groups and checks its rows.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harness/core/records/judgement.h"

namespace apo {

// `temporary`: to be written by one process that deletes it soon; nothing of it waits for the disk.
enum class Access : std::uint8_t { read_write, read_only, temporary };

// The version of the schema that this program writes.
int newest_journal_schema();

class Transaction;

// The functions of journal/facts write its rows and read them, by subject; nothing is ever changed. Each that writes is
// one transaction, on disk when it returns. Times that are empty become now.
// NaN comes back as NaN, and -0.0 as 0.0. Calls in the wrong order (an unknown source, a second judgement) throw
// std::logic_error; what a person can mend throws UserError.
class Journal {
 public:
  // read_write creates folder and file and brings an older file up to date; several processes may write at a time.
  // Throws UserError naming the file and the fix: not ours, of another version, damaged, read-only, or a folder.
  static Journal open(const std::filesystem::path& path, Access access);
  Journal(Journal&& other) noexcept;
  Journal& operator=(Journal&& other) noexcept;
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  ~Journal();

  const std::filesystem::path& path() const;
  // Findings of SQLite's own check, of the foreign keys and of the content addresses; empty when whole.
  std::vector<std::string> check_integrity();
  // Lists the violated invariants between rows (invariants.cpp has all). The journal has to be whole.
  std::vector<std::string> check_invariants();

  // Every round, with whose it is: "experiment 12"; of two commands "comparison c3".
  void visit_rounds(const std::function<void(const std::string& owner, const Round& round)>& visit);

  // Groups calls into one transaction: all or nothing, and no other process writes in between. Destroyed uncommitted it
  // undoes them.
  class Batch {
   public:
    explicit Batch(Journal& journal);
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;
    ~Batch();
    void commit();

   private:
    std::unique_ptr<Transaction> transaction_;
  };

  // A copy in as few bytes as it can have, to be sent elsewhere.
  void write_compact_copy(const std::filesystem::path& path);

  struct Implementation;  // journal/implementation.h, for the other files of this folder
  Implementation& implementation() { return *self_; }

 private:
  explicit Journal(std::unique_ptr<Implementation> self);
  std::unique_ptr<Implementation> self_;
};

struct Compacted {
  std::int64_t rounds = 0;        // that lost their timed calls, counted once a workload
  std::int64_t sampled_rows = 0;  // sampled instructions that became one row with others of their line and state
  std::int64_t bytes_before = 0;  // of the file
  std::int64_t bytes_after = 0;
};
// Drops the timed calls of every round, whose effect and medians stay, and adds the PC samples of one line and state
// together. Then writes the file anew without unused pages. Nobody else may have it open: throws UserError.
Compacted compact(Journal& journal);

}  // namespace apo
