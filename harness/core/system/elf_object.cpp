// harness/core/system/elf_object.cpp - copies headers and entries out of the bytes, and one error for everything that
// is not there.
#include "harness/core/system/elf_object.h"

#include <cstring>

#include "harness/core/error.h"

namespace apo {
namespace {

void need(bool is_there) {
  if (!is_there) {
    throw EnvironmentError("the compiler's output is not a whole ELF64 object",
                           "check the compiler and the free space of the disk");
  }
}

std::string_view part(std::string_view bytes, std::uint64_t offset, std::uint64_t size) {
  need(offset <= bytes.size() && size <= bytes.size() - offset);
  return bytes.substr(offset, size);
}

// Entry `index` of a table. An ELF file may lie at any address, its entries too.
template <class Entry>
Entry entry_of(std::string_view table, std::uint64_t index) {
  need(index < table.size() / sizeof(Entry));
  Entry entry;
  std::memcpy(&entry, table.data() + index * sizeof(Entry), sizeof(Entry));
  return entry;
}

}  // namespace

ElfObject::ElfObject(std::string_view bytes, unsigned type) : bytes_(bytes) {
  const auto header = entry_of<Elf64_Ehdr>(bytes, 0);
  need(std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64 &&
       header.e_ident[EI_DATA] == ELFDATA2LSB && header.e_type == type && header.e_shoff > 0 &&
       header.e_shentsize == sizeof(Elf64_Shdr));
  const auto first = entry_of<Elf64_Shdr>(part(bytes, header.e_shoff, sizeof(Elf64_Shdr)), 0);
  const std::uint64_t count = header.e_shnum != 0 ? header.e_shnum : first.sh_size;  // where there are very many
  names_ = header.e_shstrndx != SHN_XINDEX ? header.e_shstrndx : first.sh_link;
  need(count > 0 && count <= bytes.size() / sizeof(Elf64_Shdr));
  const std::string_view table = part(bytes, header.e_shoff, count * sizeof(Elf64_Shdr));
  const Elf64_Word symbols = type == ET_DYN ? SHT_DYNSYM : SHT_SYMTAB;  // a shared object may be stripped of the others
  for (std::size_t i = 0; i < count; ++i) {
    sections_.push_back(entry_of<Elf64_Shdr>(table, i));
    symbols_ = sections_.back().sh_type == symbols ? i : symbols_;
  }
}

const Elf64_Shdr& ElfObject::section(std::uint64_t index) const {
  need(index < sections_.size());
  return sections_[index];
}

std::string ElfObject::text_at(std::size_t table, std::uint64_t offset) const {
  need(section(table).sh_type == SHT_STRTAB);
  const std::string_view texts = contents(section(table));
  const std::size_t end = texts.find('\0', offset);
  need(end != std::string_view::npos);
  return std::string(texts.substr(offset, end - offset));
}

std::string ElfObject::name(const Elf64_Shdr& header) const {
  return text_at(names_, header.sh_name);
}

std::string ElfObject::name(const Elf64_Sym& symbol) const {
  return text_at(section(symbols_).sh_link, symbol.st_name);
}

std::string_view ElfObject::contents(const Elf64_Shdr& header) const {
  return header.sh_type == SHT_NOBITS ? std::string_view() : part(bytes_, header.sh_offset, header.sh_size);
}

std::size_t ElfObject::symbol_count() const {
  return symbols_ == 0 ? 0 : section(symbols_).sh_size / sizeof(Elf64_Sym);
}

Elf64_Sym ElfObject::symbol(std::uint64_t index) const {
  need(symbols_ != 0);
  return entry_of<Elf64_Sym>(contents(section(symbols_)), index);
}

std::vector<std::string> ElfObject::needed() const {
  std::vector<std::string> names;
  for (const Elf64_Shdr& header : sections_) {
    const std::string_view table = header.sh_type == SHT_DYNAMIC ? contents(header) : std::string_view();
    for (std::size_t i = 0; i < table.size() / sizeof(Elf64_Dyn); ++i) {
      const auto entry = entry_of<Elf64_Dyn>(table, i);
      if (entry.d_tag == DT_NEEDED) {
        names.push_back(text_at(header.sh_link, entry.d_un.d_val));
      }
    }
  }
  return names;
}

std::vector<Elf64_Rela> ElfObject::relocations_of(std::size_t target) const {
  std::vector<Elf64_Rela> relocations;
  for (const Elf64_Shdr& header : sections_) {
    const bool with_addend = header.sh_type == SHT_RELA;
    if ((!with_addend && header.sh_type != SHT_REL) || header.sh_info != target) {
      continue;
    }
    const std::string_view table = contents(header);
    for (std::size_t i = 0; i < table.size() / (with_addend ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel)); ++i) {
      if (with_addend) {
        relocations.push_back(entry_of<Elf64_Rela>(table, i));
      } else {
        const auto plain = entry_of<Elf64_Rel>(table, i);
        relocations.push_back({.r_offset = plain.r_offset, .r_info = plain.r_info, .r_addend = 0});
      }
    }
  }
  return relocations;
}

}  // namespace apo
