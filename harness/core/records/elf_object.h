// harness/core/records/elf_object.h - a bounds-checked reader of section headers, symbols and relocations (System V
// ABI, <elf.h>).
#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/error.h"

namespace apo {

// Views into `bytes`, which has to outlive it. Every access outside them throws EnvironmentError.
class ElfObject {
 public:
  ElfObject(std::string_view bytes, unsigned type) : bytes_(bytes) {
    const auto header = at<Elf64_Ehdr>(0);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_type != type || header.e_shnum == 0) {
      malformed();
    }
    for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
      sections_.push_back(at<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr)));
    }
    names_ = contents(section(header.e_shstrndx));
    for (const Elf64_Shdr& header_of_symbols : sections_) {
      if (header_of_symbols.sh_type == SHT_SYMTAB) {
        symbols_ = contents(header_of_symbols);
        symbol_names_ = contents(section(header_of_symbols.sh_link));
      }
    }
  }

  const std::vector<Elf64_Shdr>& sections() const { return sections_; }
  const Elf64_Shdr& section(std::uint64_t index) const {
    if (index >= sections_.size()) {
      malformed();
    }
    return sections_[index];
  }
  std::string name(const Elf64_Shdr& header) const { return text_at(names_, header.sh_name); }
  std::string_view contents(const Elf64_Shdr& header) const {
    if (header.sh_type == SHT_NOBITS) {
      return {};
    }
    if (header.sh_offset > bytes_.size() || header.sh_size > bytes_.size() - header.sh_offset) {
      malformed();
    }
    return bytes_.substr(header.sh_offset, header.sh_size);
  }
  std::size_t symbol_count() const { return symbols_.size() / sizeof(Elf64_Sym); }
  Elf64_Sym symbol(std::uint64_t index) const {
    if (index >= symbol_count()) {
      malformed();
    }
    return read<Elf64_Sym>(symbols_, index * sizeof(Elf64_Sym));
  }
  std::string name(const Elf64_Sym& symbol) const { return text_at(symbol_names_, symbol.st_name); }
  std::vector<Elf64_Rela> relocations_of(std::size_t target) const {
    std::vector<Elf64_Rela> relocations;
    for (const Elf64_Shdr& header : sections_) {
      if (header.sh_type == SHT_RELA && header.sh_info == target) {
        const std::string_view table = contents(header);
        for (std::size_t i = 0; i + sizeof(Elf64_Rela) <= table.size(); i += sizeof(Elf64_Rela)) {
          relocations.push_back(read<Elf64_Rela>(table, i));
        }
      }
    }
    return relocations;
  }

 private:
  [[noreturn]] static void malformed() {
    throw EnvironmentError("the compiler's output is not a whole ELF64 object",
                           "check the compiler and the free space of the disk");
  }
  template <class Record>
  static Record read(std::string_view table, std::uint64_t offset) {
    if (offset > table.size() || sizeof(Record) > table.size() - offset) {
      malformed();
    }
    Record record;
    std::memcpy(&record, table.data() + offset, sizeof record);
    return record;
  }
  template <class Record>
  Record at(std::uint64_t offset) const {
    return read<Record>(bytes_, offset);
  }
  static std::string text_at(std::string_view table, std::uint64_t offset) {
    const std::size_t end = offset < table.size() ? table.find('\0', offset) : std::string_view::npos;
    if (end == std::string_view::npos) {
      malformed();
    }
    return std::string(table.substr(offset, end - offset));
  }

  std::string_view bytes_;
  std::vector<Elf64_Shdr> sections_;
  std::string_view names_;
  std::string_view symbols_;
  std::string_view symbol_names_;
};

}  // namespace apo
