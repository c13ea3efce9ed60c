// harness/implement/precompiled.h - compiles the standard headers of sources once that are built again and again: they
// are half of the time of a small kernel's build.
#pragma once

#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/core/system/files.h"
#include "harness/implement/compile.h"

namespace apo {

// Of one process, which removes them at its end. May be used from several threads.
class PrecompiledHeaders {
 public:
  // Returns the words with which GCC begins with the standard headers that `files` include, for the same object in less
  // time. None for the first builds with these flags and headers, where a file may change what a header says, and for
  // another compiler.
  Words words_for(const Toolchain& toolchain, const Words& flags, const std::vector<SourceFile>& files,
                  double timeout_s);
  // Of all of them; empty before the first is made.
  std::filesystem::path folder() const;

 private:
  struct Header {
    int asked = 0;
    Words words;  // empty until it is there
  };
  mutable std::mutex mutex_;
  std::map<std::string, Header> headers_;  // by flags and text
  int made_ = 0;
  std::optional<TemporaryFolder> folder_;
};

// The lines that include each header of the standard library, or of GCC for vectors, that the files include; "" where
// one of them has a line that may change what a header says.
std::string standard_headers(const std::vector<SourceFile>& files);

}  // namespace apo
