// harness/worker/code_watch.h - is the code of a worker what was built and loaded? Seen from its parent.
//
// A page of code that somebody wrote to is no longer the file's: the system has made a private copy of it, and says so
// even when the old bytes were put back. That costs one read of the page table instead of one of the code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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
  // In words, the first thing that is not as it was; the process stands still.
  std::optional<std::string> change(int pid) const;

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

  std::vector<Mapping> mappings_;
  std::vector<Page> pages_;
  bool made_code_ = false;
};

}  // namespace apo
