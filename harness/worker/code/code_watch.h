// harness/worker/code/code_watch.h - checks from the parent that a worker's code is what was built and loaded.
//
// A page of code that somebody wrote to is no longer the file's: the system has made a private copy of it, and says so
// even when the old bytes were put back. That costs one read of the page table instead of one of the code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace apo {

class CodeWatch {
 public:
  // What no thread of the process may write to: its code, its constants, its bound symbols, the system's clock. No
  // candidate has been in it yet. Where the system shows none of it, nothing is watched.
  void remember(int pid);
  // The driver of a GPU makes code of its own: only the pages of files are held to account from here on.
  void allow_made_code() { made_code_ = true; }
  // A candidate with host code that is about to be loaded. From here on the process may run code of it, of the
  // libraries that it names, and of those that these name: what it opens itself belongs to somebody else.
  void expect(const std::filesystem::path& object);
  // Whether there is code of a candidate in the process. A kernel of a GPU is none.
  bool has_host_code() const { return host_code_; }
  // In words, the first thing that is not as it was; the process stands still.
  std::optional<std::string> change(int pid);

 private:
  struct Mapping {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::string rights;  // "r-xp"
    std::string name;    // of its file, "[vdso]", or empty
  };
  // A page that was written to before any candidate came: relocated constants, or bound symbols.
  struct Page {
    std::uint64_t address = 0;
    std::vector<std::byte> bytes;
  };
  struct Process;

  std::optional<std::string> change_of(const Mapping& before, const Process& process) const;
  std::optional<std::string> foreign_code(const Process& process);
  bool belongs_to_the_driver(const std::string& name) const;

  std::vector<Mapping> mappings_;
  std::set<std::string> known_;     // files with code that were there, or are accounted for
  std::set<std::string> expected_;  // names of libraries that may come
  bool host_code_ = false;
  std::vector<Page> pages_;
  bool made_code_ = false;
};

}  // namespace apo
