// harness/worker/code/link_names.cpp - reads the dynamic section piece by piece: some libraries have half a gigabyte.
#include "harness/worker/code/link_names.h"

#include <fcntl.h>
#include <gelf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>

#include "harness/core/system/files.h"

namespace apo {
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
  LinkNames result{.own = file.filename().string(), .needed = {}};
  for (const GElf_Dyn& entry : entries) {
    const bool is_name = entry.d_tag == DT_SONAME || entry.d_tag == DT_NEEDED;
    const std::string name = is_name ? text_at(elf.get(), segments, names + entry.d_un.d_val) : "";
    if (entry.d_tag == DT_SONAME && !name.empty()) {
      result.own = name;
    } else if (entry.d_tag == DT_NEEDED && !name.empty()) {
      result.needed.push_back(name);
    }
  }
  return result;
}

}  // namespace apo
