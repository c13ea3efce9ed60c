// harness/worker/code/code_watch.h - checks from the parent that a worker's code is what was built and loaded.
//
// The system makes a private copy of a code page that somebody writes to, and reports it even after the old bytes were
// put back. So a check reads the page table, not the code.
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
  // Remembers the pages that no thread of the process may write to: its code, its constants, its bound symbols and the
  // system's clock. Call it before a candidate is loaded. Where the system shows none of these, nothing is watched.
  void remember(int pid);
  // Announces a candidate with host code that is about to be loaded. From then on the process may run code of the
  // candidate, of the libraries that it names, and of those that these name, but not of libraries that it opens itself.
  void expect(const std::filesystem::path& object);
  // True when the process holds code of a candidate. A kernel of a GPU does not count.
  bool has_host_code() const { return host_code_; }
  // Describes the first change. The process must be stopped.
  std::optional<std::string> change(int pid);

 private:
  struct Mapping {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::string rights;  // "r-xp"
    std::string name;    // of its file, "[vdso]", or empty
  };
  // A page that was written before any candidate came: relocated constants, or bound symbols.
  struct Page {
    std::uint64_t address = 0;
    std::vector<std::byte> bytes;
  };
  struct Process;

  std::optional<std::string> change_of(const Mapping& before, const Process& process) const;
  std::optional<std::string> foreign_code(const Process& process);

  std::vector<Mapping> mappings_;
  std::set<std::string> known_;     // files with code that were there, or are accounted for
  std::set<std::string> expected_;  // names of libraries that may come
  bool host_code_ = false;
  std::vector<Page> pages_;
};

struct LinkNames {
  std::string own;                   // DT_SONAME; the file's name where it has none
  std::vector<std::string> needed;   // DT_NEEDED
  std::vector<std::string> folders;  // DT_RUNPATH and DT_RPATH, where these are looked for first
};

// Reads an ELF64 file of this machine. Returns only the file's name for any other or damaged file; never throws for
// that.
LinkNames read_link_names(const std::filesystem::path& file);

}  // namespace apo
