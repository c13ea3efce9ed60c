// harness/worker/code/code_watch.cpp - reads /proc/PID/maps, pagemap and mem.
#include "harness/worker/code/code_watch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "harness/core/system/files.h"
#include "harness/core/text.h"

namespace apo {

namespace {

constexpr std::uint64_t kPresent = std::uint64_t{1} << 63;
constexpr std::uint64_t kSwapped = std::uint64_t{1} << 62;
constexpr std::uint64_t kOfFile = std::uint64_t{1} << 61;

std::uint64_t page_bytes() {
  static const auto kBytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return kBytes;
}

bool executable(const std::string& rights) {
  return rights.size() == 4 && rights[2] == 'x';
}

// Private, readable, not writable.
bool constant(const std::string& rights) {
  return rights.size() == 4 && rights[0] == 'r' && rights[1] == '-' && rights[3] == 'p';
}

bool of_file(const std::string& name) {
  return name.starts_with("/") && !name.starts_with("/memfd:") && !name.ends_with(" (deleted)");
}

std::string short_name(const std::string& name) {
  return name.empty() ? "memory of no file" : std::filesystem::path(name).filename().string();
}

}  // namespace

// The system's view of a process, read at once.
struct CodeWatch::Process {
  explicit Process(int pid)
      : memory(open(fmt::format("/proc/{}/mem", pid).c_str(), O_RDONLY | O_CLOEXEC)),
        page_table(open(fmt::format("/proc/{}/pagemap", pid).c_str(), O_RDONLY | O_CLOEXEC)) {
    std::ifstream maps(fmt::format("/proc/{}/maps", pid));
    for (std::string line; std::getline(maps, line);) {
      // "BEGIN-END RIGHTS OFFSET DEVICE INODE   NAME", the name with any blanks that it has.
      Mapping mapping;
      std::istringstream words(line);
      std::string ignored;
      char dash = 0;
      words >> std::hex >> mapping.begin >> dash >> mapping.end >> mapping.rights >> ignored >> ignored >> ignored;
      std::getline(words >> std::ws, mapping.name);
      mappings.push_back(std::move(mapping));
    }
  }

  bool shown() const { return memory && page_table && !mappings.empty(); }

  // Begins of the pages of [begin, end) that are no longer, or never were, those of a file.
  std::vector<std::uint64_t> private_pages(std::uint64_t begin, std::uint64_t end) const {
    std::vector<std::uint64_t> entries((end - begin) / page_bytes());
    const auto got = pread(page_table.get(), entries.data(), entries.size() * sizeof(std::uint64_t),
                           static_cast<off_t>(begin / page_bytes() * sizeof(std::uint64_t)));
    entries.resize(got > 0 ? static_cast<std::size_t>(got) / sizeof(std::uint64_t) : 0);
    std::vector<std::uint64_t> found;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      // A page that the system is moving to other memory shows as swapped; one of a file stays one.
      const bool there = (entries[i] & (kPresent | kSwapped)) != 0;
      if (there && (entries[i] & kOfFile) == 0) {
        found.push_back(begin + i * page_bytes());
      }
    }
    return found;
  }

  std::vector<std::byte> read(std::uint64_t begin, std::uint64_t bytes) const {
    std::vector<std::byte> result(bytes);
    const auto got = pread(memory.get(), result.data(), result.size(), static_cast<off_t>(begin));
    result.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return result;
  }

  FileDescriptor memory;
  FileDescriptor page_table;
  std::vector<Mapping> mappings;
};

void CodeWatch::remember(int pid) {
  const Process process(pid);
  if (!process.shown()) {
    return;
  }
  for (const Mapping& mapping : process.mappings) {
    if (executable(mapping.rights)) {
      known_.insert(mapping.name);
    }
    if (!constant(mapping.rights) || !(of_file(mapping.name) || mapping.name == "[vdso]")) {
      continue;
    }
    mappings_.push_back(mapping);
    // The system's own page is of no file, so that its bytes are kept.
    for (const std::uint64_t page : process.private_pages(mapping.begin, mapping.end)) {
      pages_.push_back({.address = page, .bytes = process.read(page, page_bytes())});
    }
  }
}

void CodeWatch::expect(const std::filesystem::path& object) {
  host_code_ = true;
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(object, error);
  known_.insert((error ? object : real).string());
  const LinkNames names = read_link_names(object);
  expected_.insert(names.needed.begin(), names.needed.end());
}

// A library that nobody named. Each one that somebody did may name others, so that all are looked at until none is new.
std::optional<std::string> CodeWatch::foreign_code(const Process& process) {
  std::map<std::string, LinkNames> unknown;
  for (const Mapping& now : process.mappings) {
    if (executable(now.rights) && of_file(now.name) && !known_.contains(now.name)) {
      unknown.try_emplace(now.name, read_link_names(now.name));
    }
  }
  for (bool more = true; more;) {
    more = false;
    for (auto one = unknown.begin(); one != unknown.end();) {
      const LinkNames& names = one->second;
      if (!expected_.contains(names.own) && !expected_.contains(short_name(one->first))) {
        ++one;
        continue;
      }
      expected_.insert(names.needed.begin(), names.needed.end());
      known_.insert(one->first);
      one = unknown.erase(one);
      more = true;
    }
  }
  if (unknown.empty()) {
    return std::nullopt;
  }
  return "runs code of " + short_name(unknown.begin()->first) + ", a library that it does not name";
}

std::optional<std::string> CodeWatch::change_of(const Mapping& before, const Process& process) const {
  std::uint64_t covered = before.begin;
  for (const Mapping& now : process.mappings) {
    if (now.end <= covered || now.begin >= before.end) {
      continue;
    }
    if (now.begin > covered || now.rights != before.rights || now.name != before.name) {
      break;
    }
    covered = now.end;
  }
  if (covered < before.end) {
    return "put something else in the place of " + short_name(before.name);
  }
  for (const std::uint64_t page : process.private_pages(before.begin, before.end)) {
    const auto kept = std::ranges::lower_bound(pages_, page, {}, &Page::address);
    if (kept == pages_.end() || kept->address != page) {
      return "wrote to the code or constants of " + short_name(before.name);
    }
    if (process.read(page, page_bytes()) != kept->bytes) {
      return "changed constants or bound symbols of " + short_name(before.name);
    }
  }
  return std::nullopt;
}

std::optional<std::string> CodeWatch::change(int pid) {
  if (mappings_.empty()) {
    return std::nullopt;
  }
  const Process process(pid);
  for (const Mapping& before : mappings_) {
    if (auto found = change_of(before, process)) {
      return found;
    }
  }
  for (const Mapping& now : process.mappings) {
    if (!executable(now.rights) || now.name == "[vdso]" || now.name == "[vsyscall]") {
      continue;
    }
    const bool file = of_file(now.name);
    if (!file) {
      return "made code of its own: " + short_name(now.name) + " may be executed";
    }
    if (file && now.rights[3] == 'p' && !process.private_pages(now.begin, now.end).empty()) {
      return "changed the code of " + short_name(now.name) + " after it was loaded";
    }
  }
  return host_code_ ? foreign_code(process) : std::nullopt;
}

namespace {

constexpr std::uint64_t kMostEntries = 4096;
constexpr std::uint64_t kLongestName = 255;

std::vector<GElf_Phdr> segments_of(Elf* elf) {
  std::vector<GElf_Phdr> segments;
  std::size_t count = 0;
  GElf_Phdr segment;
  elf_getphdrnum(elf, &count);  // leaves 0 where there are none
  for (int i = 0; i < static_cast<int>(count) && gelf_getphdr(elf, i, &segment) != nullptr; ++i) {
    segments.push_back(segment);
  }
  return segments;
}

std::vector<GElf_Dyn> dynamic_entries(Elf* elf, const std::vector<GElf_Phdr>& segments) {
  std::vector<GElf_Dyn> entries;
  for (const GElf_Phdr& segment : segments) {
    if (segment.p_type != PT_DYNAMIC) {
      continue;
    }
    const std::uint64_t bytes = std::min<std::uint64_t>(segment.p_filesz, kMostEntries * sizeof(Elf64_Dyn));
    Elf_Data* const table = elf_getdata_rawchunk(elf, static_cast<std::int64_t>(segment.p_offset), bytes, ELF_T_DYN);
    GElf_Dyn entry;
    for (int i = 0; gelf_getdyn(table, i, &entry) != nullptr && entry.d_tag != DT_NULL; ++i) {
      entries.push_back(entry);
    }
  }
  return entries;
}

// The text that lies at an address of the loaded object.
std::string text_at(Elf* elf, const std::vector<GElf_Phdr>& segments, std::uint64_t address) {
  for (const GElf_Phdr& segment : segments) {
    const std::uint64_t within = address - segment.p_vaddr;
    if (segment.p_type != PT_LOAD || address < segment.p_vaddr || within >= segment.p_filesz) {
      continue;
    }
    const Elf_Data* const text = elf_getdata_rawchunk(elf, static_cast<std::int64_t>(segment.p_offset + within),
                                                      std::min(kLongestName, segment.p_filesz - within), ELF_T_BYTE);
    const char* const begin = text != nullptr ? static_cast<const char*>(text->d_buf) : "";
    return {begin, strnlen(begin, text != nullptr ? text->d_size : 0)};
  }
  return "";
}

}  // namespace

LinkNames read_link_names(const std::filesystem::path& file) {
  elf_version(EV_CURRENT);
  const FileDescriptor descriptor(open(file.c_str(), O_RDONLY | O_CLOEXEC));
  const std::unique_ptr<Elf, decltype(&elf_end)> elf(elf_begin(descriptor.get(), ELF_C_READ, nullptr), &elf_end);
  const std::vector<GElf_Phdr> segments = segments_of(elf.get());
  const std::vector<GElf_Dyn> entries = dynamic_entries(elf.get(), segments);
  std::uint64_t names = 0;
  for (const GElf_Dyn& entry : entries) {
    names = entry.d_tag == DT_STRTAB ? entry.d_un.d_ptr : names;
  }
  LinkNames result{.own = file.filename().string(), .needed = {}, .folders = {}};
  for (const GElf_Dyn& entry : entries) {
    const bool are_folders = entry.d_tag == DT_RUNPATH || entry.d_tag == DT_RPATH;
    const bool is_name = entry.d_tag == DT_SONAME || entry.d_tag == DT_NEEDED || are_folders;
    const std::string name = is_name ? text_at(elf.get(), segments, names + entry.d_un.d_val) : "";
    if (entry.d_tag == DT_SONAME && !name.empty()) {
      result.own = name;
    } else if (entry.d_tag == DT_NEEDED && !name.empty()) {
      result.needed.push_back(name);
    } else if (are_folders) {
      result.folders = split(name, ':');
    }
  }
  return result;
}

}  // namespace apo
