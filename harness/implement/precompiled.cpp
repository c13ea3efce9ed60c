// harness/implement/precompiled.cpp - which headers may come first, and when they are worth compiling.
#include "harness/implement/precompiled.h"

#include <algorithm>
#include <array>
#include <set>

#include "harness/core/hash.h"
#include "harness/core/text.h"

namespace apo {
namespace fs = std::filesystem;
namespace {

constexpr int kBuildsBefore = 3;  // compiling the headers takes as long as two builds save
constexpr int kMostKept = 8;      // of some 30 MB each
constexpr const char* kStandardHeader = "standard.h";

// Macros of reserved names and most pragmas hold for the headers behind them.
bool may_change_headers(const std::string& line) {
  static constexpr std::array kHarmless = {"#pragmaonce", "#pragmaomp", "#pragmaGCCivdep", "#pragmaGCCunroll",
                                           "#pragmaGCCdiagnostic"};
  const bool harmless = std::ranges::any_of(kHarmless, [&](const char* one) { return line.starts_with(one); });
  return line.starts_with("#define_") || line.starts_with("#undef") || line.find("_Pragma") != std::string::npos ||
         (line.starts_with("#pragma") && !harmless);
}

// "cmath" of "#include<cmath>", and GCC's own "immintrin.h"; "" for a header with a folder or another ending.
std::string standard_header(const std::string& line) {
  constexpr std::string_view kInclude = "#include<";
  const std::size_t end = line.find('>');
  if (!line.starts_with(kInclude) || end == std::string::npos) {
    return "";
  }
  const std::string name = line.substr(kInclude.size(), end - kInclude.size());
  const auto of_standard = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  const std::string stem = name.ends_with("mmintrin.h") ? name.substr(0, name.size() - 2) : name;
  return name != "cassert" && std::ranges::all_of(stem, of_standard) ? name : "";
}

}  // namespace

std::string standard_headers(const std::vector<SourceFile>& files) {
  std::set<std::string> names;
  for (const SourceFile& file : files) {
    for (const std::string& text : split(file.text, '\n')) {
      std::string line = text;
      std::erase_if(line, [](char c) { return c == ' ' || c == '\t' || c == '\r'; });
      if (may_change_headers(line)) {
        return "";
      }
      if (const std::string name = standard_header(line); !name.empty()) {
        names.insert(name);
      }
    }
  }
  std::string text;
  for (const std::string& name : names) {
    text += "#include <" + name + ">\n";
  }
  return text;
}

fs::path PrecompiledHeaders::folder() const {
  const std::lock_guard lock(mutex_);
  return folder_ ? folder_->path() : fs::path();
}

Words PrecompiledHeaders::words_for(const Toolchain& toolchain, const Words& flags,
                                    const std::vector<SourceFile>& files, double timeout_s) {
  const std::string text = toolchain.version.find("clang") == std::string::npos ? standard_headers(files) : "";
  if (text.empty()) {
    return {};
  }
  const std::string key = sha256_of_parts(joined(flags, {text}));
  fs::path folder;
  {
    const std::lock_guard lock(mutex_);
    Header& header = headers_[key];
    if (header.asked++ != kBuildsBefore || made_ == kMostKept) {
      return header.words;
    }
    ++made_;
    folder = (folder_ ? *folder_ : folder_.emplace("apo-headers")).path() / key;
  }
  fs::create_directories(folder);
  write_file_atomically(folder / kStandardHeader, text);
  const Words output = {"-x", "c++-header", kStandardHeader, "-o", kStandardHeader + std::string(".gch")};
  const bool made = run_step(joined(joined({toolchain.compiler}, flags), output), folder, timeout_s).ok;
  const std::lock_guard lock(mutex_);
  return headers_[key].words = made ? Words{"-include", (folder / kStandardHeader).string()} : Words{};
}

}  // namespace apo
