// harness/implement/variant/headers.cpp - follows quoted includes depth first; resolves folders at the time of a build.
#include "harness/implement/variant/headers.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "harness/core/error.h"
#include "harness/core/pattern.h"
#include "harness/core/sources.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "harness/implement/includes.h"
#include "harness/implement/toolkit.h"
#include "harness/implement/variant/metadata_block.h"

namespace apo {
namespace fs = std::filesystem;
namespace {

struct Search {
  std::string family;
  std::vector<fs::path> roots;
  std::vector<fs::path> others;
  std::map<std::string, SourceFile> found;
  std::vector<std::string> open;  // paths of the files that are being read, each included by the one before
  std::size_t bytes = 0;
};

// All are laid beside the source, so that no name may lead out of its folder or be that of another file there, such as
// a result of the build.
bool is_header_name(const std::string& name) {
  static const Pattern kName(
      R"(([A-Za-z0-9_][A-Za-z0-9_.+-]{0,95}/){0,4}[A-Za-z0-9_][A-Za-z0-9_.+-]{0,95}\.[A-Za-z0-9_]{1,16})");
  static const Pattern kOfBuild(R"(.*\.(o|d|ld|log|json|cubin))");
  return kName.matches(name) && !kOfBuild.matches(name);
}

bool is_of_others(const Search& search, const std::string& name) {
  return std::ranges::any_of(search.others, [&](const fs::path& folder) { return !is_absent(folder / name); });
}

// What lies in a folder kernels/ of the author's is the author's; no build does without kernels/abi.h.
bool is_of_harness(const std::string& path, const std::string& name) {
  return name == "kernels/abi.h" || (name.starts_with("kernels/") && name.find("..") == std::string::npos &&
                                     is_absent(fs::path(path).parent_path() / name));
}

// A compiler looks there for a quoted name that lies nowhere else.
bool is_of_system(const std::string& name) {
  static const std::vector<fs::path> kFolders = [] {
    std::vector<fs::path> folders = compiler_header_folders("g++");
    for (const fs::path& toolkit : toolkit_folders()) {
      folders.push_back(toolkit / "include");
    }
    return folders;
  }();
  return std::ranges::any_of(kFolders, [&](const fs::path& folder) { return !is_absent(folder / name); });
}

void check_name(const std::string& path, const IncludeLine& line, const std::string& name) {
  if (!is_header_name(name) || fs::path(line.name).lexically_normal() != line.name) {
    block_error(path, line.number, fmt::format("\"{}\" cannot name a header of a variant", line.name),
                "it has to lie beside the file or in a folder below, and to be named with letters, digits, '_', '-', "
                "'.' and an "
                "extension that no result of a build has");
  }
}

struct Located {
  std::string name;  // as seen from the variant's own file
  fs::path file;
};

// `folder`: of the including file, as seen from the variant's own; both may be empty. nullopt for a header of the
// compiler or the toolkit.
std::optional<Located> locate(const Search& search, const std::string& path, const fs::path& folder,
                              const IncludeLine& line) {
  const std::string beside = (folder / line.name).lexically_normal().string();
  if (const fs::path file = (fs::path(path).parent_path() / line.name).lexically_normal(); !is_absent(file)) {
    check_name(path, line, beside);
    return Located{.name = beside, .file = file};
  }
  check_name(path, line, line.name);
  for (const char* shared : {search.family.c_str(), "common"}) {
    for (const fs::path& root : search.roots) {
      if (const fs::path file = (root / shared / line.name).lexically_normal(); !is_absent(file)) {
        return Located{.name = line.name, .file = file};
      }
    }
  }
  if (is_of_system(line.name)) {
    return std::nullopt;
  }
  block_error(path, line.number, fmt::format("there is no header \"{}\"", line.name),
              fmt::format("put it beside the file or into variants/{}/; a header of the compiler or the toolkit is "
                          "included as <{}>",
                          search.family, line.name));
}

std::string read_header(const Search& search, const fs::path& file, const std::string& path, const IncludeLine& line) {
  std::error_code error;
  const bool regular = fs::is_regular_file(file, error);
  const std::uintmax_t bytes = regular ? fs::file_size(file, error) : 0;
  if (error || !regular) {
    block_error(path, line.number, fmt::format("the header '{}' is no regular file", file.string()),
                "include a text file");
  }
  if (search.found.size() >= kMostHeaders || search.bytes + bytes > kMaxSourceBytes) {
    block_error(path, line.number,
                fmt::format("the variant has more than {} headers or {} of source", kMostHeaders,
                            format_bytes(static_cast<double>(kMaxSourceBytes))),
                "include fewer or smaller headers");
  }
  std::string text = read_file(file);
  if (!is_utf8(text) || text.find('\0') != std::string::npos) {
    block_error(path, line.number, fmt::format("the header '{}' is no UTF-8 text", file.string()),
                "convert the file, e.g. iconv -f latin1 -t utf8");
  }
  return text;
}

// `all` is the text of the variant's files together.
void check_strays(std::string_view source, const std::string& path, std::string_view all) {
  std::set<std::string> looked_up;
  for (const IncludeLine& line : include_lines(source)) {
    if (line.quoted && !fs::path(line.name).is_absolute()) {
      looked_up.insert("\"" + line.name + "\"");
    }
  }
  if (const auto stray = stray_include(source, all, looked_up)) {
    block_error(path, stray->line, fmt::format("{} cannot name a header of a variant", one_line(stray->what)),
                "include headers beside the file as \"NAME\", and those of the compiler, the toolkit or an apo:include "
                "folder as <NAME>");
  }
}

void check_all_strays(const Search& search, std::string_view source, const std::string& path) {
  std::string all(source);
  for (const auto& [name, header] : search.found) {
    all += "\n" + header.text;
  }
  check_strays(source, path, all);
  for (const auto& [name, header] : search.found) {
    check_strays(header.text, header.path, all);
  }
}

void follow(Search& search, std::string_view source, const std::string& path, const fs::path& folder) {
  search.open.push_back(path);
  for (const IncludeLine& line : include_lines(source)) {
    if (!line.quoted || line.name == search.family + ".args.h" || is_of_harness(path, line.name) ||
        is_of_others(search, line.name)) {
      continue;
    }
    const std::optional<Located> located = locate(search, path, folder, line);
    if (!located) {
      continue;
    }
    const auto& [name, file] = *located;
    if (std::find(search.open.begin(), search.open.end(), file.string()) != search.open.end()) {
      block_error(path, line.number, fmt::format("\"{}\" includes itself, directly or through others", line.name),
                  "take one of the include lines out");
    }
    if (const auto known = search.found.find(name); known != search.found.end()) {
      if (known->second.path != file.string() && known->second.text != read_header(search, file, path, line)) {
        block_error(path, line.number,
                    fmt::format("the name \"{}\" stands for two headers: '{}' and '{}'", name, known->second.path,
                                file.string()),
                    "rename one of the two");
      }
      continue;
    }
    const std::string text = read_header(search, file, path, line);
    search.bytes += text.size();
    search.found[name] = {.name = name, .text = text, .path = file.string()};
    follow(search, text, file.string(), fs::path(name).parent_path());
  }
  search.open.pop_back();
}

// ---------------------------------------------------------------- folders of other people's headers

constexpr const char* kCccl = "cccl";

bool is_folder(const fs::path& path) {
  std::error_code unreadable_is_none;
  return fs::is_directory(path, unreadable_is_none);
}

// CUDA 13 has CCCL in a folder of its own, CUDA 12 among its other headers.
fs::path cccl() {
  for (const fs::path& toolkit : toolkit_folders()) {
    for (const fs::path& folder : {toolkit / "include" / "cccl", toolkit / "include"}) {
      if (is_folder(folder / "cub")) {
        return folder;
      }
    }
  }
  return {};
}

}  // namespace

std::vector<SourceFile> find_headers(std::string_view source, const std::string& path, const std::string& family,
                                     const std::vector<fs::path>& roots, const std::vector<fs::path>& others) {
  Search search{.family = family, .roots = roots, .others = others, .found = {}, .open = {}, .bytes = source.size()};
  if (!is_python(source)) {  // whose '#' begins a comment
    follow(search, source, path, {});
    check_all_strays(search, source, path);
  }
  std::vector<SourceFile> headers;
  for (auto& [name, header] : search.found) {
    headers.push_back(std::move(header));
  }
  return headers;
}

void check_headers(const std::vector<SourceFile>& headers, const std::string& path, const std::string& family) {
  for (std::size_t i = 0; i < headers.size(); ++i) {
    const std::string& name = headers[i].name;
    if (!is_header_name(name) || name == family + ".args.h" || (i > 0 && !(headers[i - 1].name < name))) {
      throw UserError(fmt::format("{}: the header \"{}\" has no name that a variant's header may have", path, name),
                      "take the file from its source again: somebody changed it by hand");
    }
  }
}

fs::path include_folder(const std::string& named, const fs::path& path) {
  if (named == kCccl) {
    return cccl();
  }
  for (const fs::path& folder : {path.parent_path() / named, fs::current_path() / named}) {
    if (is_folder(folder)) {
      return fs::canonical(folder);
    }
  }
  return {};
}

std::vector<fs::path> IncludeFolders::all() const {
  std::vector<fs::path> folders = own;
  folders.insert(folders.end(), toolkit.begin(), toolkit.end());
  return folders;
}

IncludeFolders include_folders(const Variant& variant) {
  IncludeFolders folders;
  for (const std::string& named : variant.includes) {
    const fs::path folder = include_folder(named, variant.path);
    if (folder.empty() && folders.missing.empty()) {
      folders.missing = named == kCccl ? variant.id() +
                                             " includes CCCL, and there is no CUDA toolkit with it here: "
                                             "install cuda-cccl-13-0, or set CUDA_HOME"
                                       : "the include folder '" + named + "' of " + variant.id() + " is not there";
    } else if (!folder.empty()) {
      (named == kCccl ? folders.toolkit : folders.own).push_back(folder);
    }
  }
  return folders;
}

}  // namespace apo
