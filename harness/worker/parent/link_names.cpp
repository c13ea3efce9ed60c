// harness/worker/parent/link_names.cpp - reads the dynamic section piece by piece: some libraries have half a gigabyte.
#include "harness/worker/parent/link_names.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>

#include "harness/core/system/files.h"

namespace apo {
namespace {

constexpr std::uint64_t kMostEntries = 4096;

class ElfFile {
 public:
  explicit ElfFile(const std::filesystem::path& path) : file_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    const auto header = read<Elf64_Ehdr>(0);
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64) {
      return;
    }
    for (std::uint64_t i = 0; i < header->e_phnum; ++i) {
      if (const auto segment = read<Elf64_Phdr>(header->e_phoff + i * sizeof(Elf64_Phdr))) {
        segments_.push_back(*segment);
      }
    }
  }

  std::vector<Elf64_Dyn> dynamic() const {
    std::vector<Elf64_Dyn> entries;
    for (const Elf64_Phdr& segment : segments_) {
      const std::uint64_t count = std::min(segment.p_filesz / sizeof(Elf64_Dyn), kMostEntries);
      for (std::uint64_t i = 0; segment.p_type == PT_DYNAMIC && i < count; ++i) {
        const auto entry = read<Elf64_Dyn>(segment.p_offset + i * sizeof(Elf64_Dyn));
        if (!entry || entry->d_tag == DT_NULL) {
          break;
        }
        entries.push_back(*entry);
      }
    }
    return entries;
  }

  // The text that lies at an address of the loaded object.
  std::string text_at(std::uint64_t address) const {
    for (const Elf64_Phdr& segment : segments_) {
      if (segment.p_type == PT_LOAD && address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz) {
        std::array<char, 256> text{};
        const auto got = pread(file_.get(), text.data(), text.size() - 1,
                               static_cast<off_t>(segment.p_offset + (address - segment.p_vaddr)));
        return got > 0 ? text.data() : "";
      }
    }
    return "";
  }

 private:
  template <class Record>
  std::optional<Record> read(std::uint64_t offset) const {
    Record record;
    return pread(file_.get(), &record, sizeof record, static_cast<off_t>(offset)) == ssize_t{sizeof record}
               ? std::optional(record)
               : std::nullopt;
  }

  FileDescriptor file_;
  std::vector<Elf64_Phdr> segments_;
};

}  // namespace

LinkNames read_link_names(const std::filesystem::path& file) {
  const ElfFile elf(file);
  const std::vector<Elf64_Dyn> entries = elf.dynamic();
  std::uint64_t names = 0;
  for (const Elf64_Dyn& entry : entries) {
    names = entry.d_tag == DT_STRTAB ? entry.d_un.d_ptr : names;
  }
  LinkNames result{.own = file.filename().string(), .needed = {}};
  for (const Elf64_Dyn& entry : entries) {
    const std::string name =
        entry.d_tag == DT_SONAME || entry.d_tag == DT_NEEDED ? elf.text_at(names + entry.d_un.d_val) : "";
    if (entry.d_tag == DT_SONAME && !name.empty()) {
      result.own = name;
    } else if (entry.d_tag == DT_NEEDED && !name.empty()) {
      result.needed.push_back(name);
    }
  }
  return result;
}

}  // namespace apo
