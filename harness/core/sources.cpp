// harness/core/sources.cpp - the manifest, and Myers' shortest edit script in the unified format.
#include "harness/core/sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>

#include "harness/core/error.h"
#include "harness/core/hash.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"

namespace apo {
namespace {

constexpr std::size_t kContext = 3;  // equal lines around a change
constexpr int kMostEdits = 2000;     // beyond that nothing is kept: the texts have little in common

using Lines = std::vector<std::string>;

Lines lines_of(const std::string& text) {
  Lines lines = split(text, '\n');
  if (lines.back().empty()) {
    lines.pop_back();
  }
  return lines;
}

// A line of both texts (' '), of the first ('-') or of the second ('+').
struct Edit {
  char kind;
  const std::string* line;
};

// The furthest line of `before` that a path with d edits reaches on each diagonal, before each d; see Myers, "An O(ND)
// difference algorithm and its variations" (1986). Empty when more than kMostEdits are needed.
std::vector<std::vector<int>> edit_paths(const Lines& before, const Lines& after) {
  const int n = static_cast<int>(before.size());
  const int m = static_cast<int>(after.size());
  const int most = std::min(n + m, kMostEdits);
  std::vector<int> reach(2 * static_cast<std::size_t>(most) + 3, 0);
  const auto at = [&](int diagonal) -> int& { return reach[static_cast<std::size_t>(diagonal + most + 1)]; };
  std::vector<std::vector<int>> paths;
  for (int d = 0; d <= most; ++d) {
    paths.emplace_back(reach.begin() + (most - d), reach.begin() + (most + d + 3));
    for (int k = -d; k <= d; k += 2) {
      int a = k == -d || (k != d && at(k - 1) < at(k + 1)) ? at(k + 1) : at(k - 1) + 1;
      while (a < n && a - k < m && before[static_cast<std::size_t>(a)] == after[static_cast<std::size_t>(a - k)]) {
        ++a;
      }
      at(k) = a;
      if (a >= n && a - k >= m) {
        return paths;
      }
    }
  }
  return {};
}

std::vector<Edit> edits(const Lines& before, const Lines& after) {
  std::vector<Edit> result;
  auto a = before.size();
  auto b = after.size();
  const auto back_to = [&](std::size_t to_a, std::size_t to_b) {
    for (; a > to_a && b > to_b; --a, --b) {
      result.push_back({' ', &before[a - 1]});
    }
    for (; b > to_b; --b) {
      result.push_back({'+', &after[b - 1]});
    }
    for (; a > to_a; --a) {
      result.push_back({'-', &before[a - 1]});
    }
  };
  const std::vector<std::vector<int>> paths = edit_paths(before, after);
  for (int d = static_cast<int>(paths.size()) - 1; d > 0; --d) {
    const auto at = [&](int diagonal) {
      return paths[static_cast<std::size_t>(d)][static_cast<std::size_t>(diagonal + d + 1)];
    };
    const int k = static_cast<int>(a) - static_cast<int>(b);
    const int from = k == -d || (k != d && at(k - 1) < at(k + 1)) ? k + 1 : k - 1;
    back_to(static_cast<std::size_t>(at(from)), static_cast<std::size_t>(at(from) - from));
  }
  if (paths.empty()) {  // too many: the whole text was replaced
    back_to(before.size(), 0);
  }
  back_to(0, 0);
  std::reverse(result.begin(), result.end());
  return result;
}

std::string range(std::size_t line, std::size_t count) {
  return count == 1 ? std::to_string(line + 1) : fmt::format("{},{}", count == 0 ? line : line + 1, count);
}

// The part of the edits from `first` up to `end`, which begins at these lines of the two texts.
std::string hunk(const std::vector<Edit>& all, std::size_t first, std::size_t end, std::size_t a, std::size_t b) {
  std::string text;
  std::size_t in_a = 0;
  std::size_t in_b = 0;
  for (std::size_t i = first; i < end; ++i) {
    in_a += all[i].kind == '+' ? 0U : 1U;
    in_b += all[i].kind == '-' ? 0U : 1U;
    text += std::string(1, all[i].kind) + *all[i].line + "\n";
  }
  return fmt::format("@@ -{} +{} @@\n{}", range(a, in_a), range(b, in_b), text);
}

std::string diff_of(const SourceFile* before, const SourceFile* after) {
  const Lines a = before != nullptr ? lines_of(readable_text(*before)) : Lines();
  const Lines b = after != nullptr ? lines_of(readable_text(*after)) : Lines();
  if (a == b && before != nullptr && after != nullptr) {
    return "";
  }
  std::string text = fmt::format("--- {}\n+++ {}\n", before != nullptr ? before->name : "/dev/null",
                                 after != nullptr ? after->name : "/dev/null");
  const std::vector<Edit> all = edits(a, b);
  std::size_t line_a = 0;  // of all[i]
  std::size_t line_b = 0;
  for (std::size_t i = 0; i < all.size();) {
    // Up to kContext equal lines before the next change, and the hunk's end: a gap that is longer than two contexts.
    std::size_t changed = i;
    while (changed < all.size() && all[changed].kind == ' ') {
      ++changed;
    }
    const std::size_t skipped = changed < all.size() ? std::max(changed - i, kContext) - kContext : all.size() - i;
    i += skipped;
    line_a += skipped;
    line_b += skipped;
    std::size_t end = i;
    for (std::size_t j = changed; j < all.size() && j - std::max(end, changed) <= 2 * kContext; ++j) {
      end = all[j].kind != ' ' ? j + 1 : end;
    }
    if (changed == all.size()) {
      break;
    }
    end = std::min(end + kContext, all.size());
    text += hunk(all, i, end, line_a, line_b);
    for (; i < end; ++i) {
      line_a += all[i].kind == '+' ? 0U : 1U;
      line_b += all[i].kind == '-' ? 0U : 1U;
    }
  }
  return text;
}

bool is_plain_name(std::string_view name) {
  return !name.empty() && name.front() != '-' && name.front() != '.' &&
         std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.'; });
}

}  // namespace

std::string source_manifest(const Variant& variant) {
  std::string text = sha256(variant.source) + "  -\n";
  for (const SourceFile& header : variant.headers) {
    text += sha256(header.text) + "  " + header.name + "\n";
  }
  if (!variant.contract.empty()) {
    text += sha256(variant.contract) + "  " + kContractName + "\n";
  }
  return text;
}

bool is_one_file(const Variant& variant) {
  return variant.headers.empty() && variant.contract.empty();
}

std::string source_identity(const Variant& variant) {
  return sha256(is_one_file(variant) ? variant.source : source_manifest(variant));
}

void check_source_size(std::size_t bytes, const std::string& name) {
  if (bytes == 0 || bytes > kLongestCandidate) {
    throw UserError(fmt::format("{} is {}", name, bytes == 0 ? "empty" : "longer than 1 MiB"));
  }
}

std::string candidate_text(const std::string& file) {
  const std::string name = "'" + file + "'";
  std::error_code error;  // ignored: reading the file fails later with the reason
  if (const auto bytes = std::filesystem::file_size(file, error); !error) {
    check_source_size(bytes, name);
  }
  std::string text = read_file(file);
  check_source_size(text.size(), name);
  return text;
}

bool is_source_extension(std::string_view extension) {
  return extension == ".cpp" || extension == ".cu" || extension == ".py";
}

std::string guessed_extension(std::string_view source) {
  const auto has = [&](std::string_view word) { return source.find(word) != std::string_view::npos; };
  return has("__global__") || has("cudaStream_t") ? ".cu" : has("@triton.jit") ? ".py" : ".cpp";
}

std::string source_extension(const Variant& variant) {
  return is_python(variant.source) ? ".py" : variant.target == Target::cuda ? ".cu" : ".cpp";
}

std::string source_name(const Variant& variant) {
  const std::string extension = source_extension(variant);
  const std::filesystem::path path = variant.path;
  const std::string name = path.filename().string();
  return path.extension() == extension && is_plain_name(name) ? name : variant.name + extension;
}

std::string first_block_line(std::string_view source, std::string_view sign) {
  for (std::size_t at = 0; at < source.size();) {
    const std::size_t end = std::min(source.find('\n', at), source.size());
    const std::string line = trim(source.substr(at, end - at));
    at = end + 1;
    if (!line.empty() && !line.starts_with(sign)) {
      break;
    }
    if (const std::string comment = trim(line.substr(std::min(line.size(), sign.size())));
        comment.starts_with("apo:")) {
      return comment;
    }
  }
  return "";
}

bool is_python(std::string_view source) {
  return !first_block_line(source, "#").empty();
}

bool is_device_variant(const Variant& variant) {
  return variant.target == Target::cuda && !variant.launches.empty();
}

bool is_triton(const Variant& variant) {
  return is_python(variant.source);
}

bool is_recorded(const Variant& variant) {
  return variant.object.ends_with(kRecordExtension);
}

bool is_binary(std::string_view text) {
  return text.find('\0') != std::string_view::npos;
}

std::string readable_text(const SourceFile& file) {
  return is_binary(file.text) ? fmt::format("(binary, {} bytes, sha256 {})\n", file.text.size(), sha256(file.text))
                              : file.text;
}

std::vector<SourceFile> all_sources(const Variant& variant) {
  std::vector<SourceFile> files = {{.name = source_name(variant), .text = variant.source, .path = variant.path}};
  files.insert(files.end(), variant.headers.begin(), variant.headers.end());
  return files;
}

std::string unified_diff(const std::vector<SourceFile>& before, const std::vector<SourceFile>& after) {
  std::string text;
  std::map<std::string, std::pair<const SourceFile*, const SourceFile*>> headers;
  for (const SourceFile& file : before) {
    headers[&file == &before.front() ? "" : file.name].first = &file;
  }
  for (const SourceFile& file : after) {
    headers[&file == &after.front() ? "" : file.name].second = &file;
  }
  for (const auto& [name, pair] : headers) {  // "" first
    text += diff_of(pair.first, pair.second);
  }
  return text;
}

}  // namespace apo
