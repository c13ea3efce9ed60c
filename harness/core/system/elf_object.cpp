// harness/core/system/elf_object.cpp - libelf's calls, and one error for everything that is not there.
#include "harness/core/system/elf_object.h"

#include <gelf.h>

#include "harness/core/error.h"

namespace apo {
namespace {

// libelf returns a null pointer or zero for what lies outside of the bytes.
template <class Found>
Found whole(Found found) {
  if (!found) {
    throw EnvironmentError("the compiler's output is not a whole ELF64 object",
                           "check the compiler and the free space of the disk");
  }
  return found;
}

Elf* open_in_memory(std::string_view bytes) {
  elf_version(EV_CURRENT);
  return whole(elf_memory(const_cast<char*>(bytes.data()), bytes.size()));  // only reading
}

}  // namespace

void ElfObject::End::operator()(Elf* elf) const {
  elf_end(elf);
}

ElfObject::ElfObject(std::string_view bytes, unsigned type) : bytes_(bytes), elf_(open_in_memory(bytes)) {
  const Elf64_Word symbols = type == ET_DYN ? SHT_DYNSYM : SHT_SYMTAB;  // a shared object may be stripped of the others
  const Elf64_Ehdr* header = whole(elf64_getehdr(elf_.get()));          // null for ELF32, too
  std::size_t count = 0;
  whole(header->e_ident[EI_DATA] == ELFDATA2LSB && header->e_type == type && elf_getshdrnum(elf_.get(), &count) == 0 &&
        count > 0 && elf_getshdrstrndx(elf_.get(), &names_) == 0);
  for (std::size_t i = 0; i < count; ++i) {
    sections_.push_back(*whole(elf64_getshdr(elf_getscn(elf_.get(), i))));
    symbols_ = sections_.back().sh_type == symbols ? i : symbols_;
  }
}

const Elf64_Shdr& ElfObject::section(std::uint64_t index) const {
  whole(index < sections_.size());
  return sections_[index];
}

std::string ElfObject::text_at(std::size_t table, std::uint64_t offset) const {
  return whole(elf_strptr(elf_.get(), table, offset));
}

std::string ElfObject::name(const Elf64_Shdr& header) const {
  return text_at(names_, header.sh_name);
}

std::string ElfObject::name(const Elf64_Sym& symbol) const {
  return text_at(section(symbols_).sh_link, symbol.st_name);
}

std::string_view ElfObject::contents(const Elf64_Shdr& header) const {
  if (header.sh_type == SHT_NOBITS) {
    return {};
  }
  whole(header.sh_offset <= bytes_.size() && header.sh_size <= bytes_.size() - header.sh_offset);
  return bytes_.substr(header.sh_offset, header.sh_size);
}

std::size_t ElfObject::symbol_count() const {
  return symbols_ == 0 ? 0 : section(symbols_).sh_size / sizeof(Elf64_Sym);
}

Elf64_Sym ElfObject::symbol(std::uint64_t index) const {
  whole(index < symbol_count());
  Elf64_Sym symbol;
  whole(gelf_getsym(elf_getdata(elf_getscn(elf_.get(), symbols_), nullptr), static_cast<int>(index), &symbol));
  return symbol;
}

std::vector<std::string> ElfObject::needed() const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < sections_.size(); ++i) {
    if (sections_[i].sh_type != SHT_DYNAMIC) {
      continue;
    }
    Elf_Data* const table = elf_getdata(elf_getscn(elf_.get(), i), nullptr);
    const std::size_t count = sections_[i].sh_size / sizeof(Elf64_Dyn);
    for (int k = 0; k < static_cast<int>(count); ++k) {
      Elf64_Dyn entry{};
      whole(gelf_getdyn(table, k, &entry));
      if (entry.d_tag == DT_NEEDED) {
        names.push_back(text_at(sections_[i].sh_link, entry.d_un.d_val));
      }
    }
  }
  return names;
}

std::vector<Elf64_Rela> ElfObject::relocations_of(std::size_t target) const {
  std::vector<Elf64_Rela> relocations;
  for (std::size_t i = 0; i < sections_.size(); ++i) {
    const Elf64_Shdr& header = sections_[i];
    const bool with_addend = header.sh_type == SHT_RELA;
    if ((!with_addend && header.sh_type != SHT_REL) || header.sh_info != target) {
      continue;
    }
    Elf_Data* const table = elf_getdata(elf_getscn(elf_.get(), i), nullptr);
    const std::size_t count = header.sh_size / (with_addend ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel));
    for (int k = 0; k < static_cast<int>(count); ++k) {
      Elf64_Rela one{};
      Elf64_Rel plain{};
      if (with_addend) {
        whole(gelf_getrela(table, k, &one));
      } else {
        whole(gelf_getrel(table, k, &plain));
        one = {.r_offset = plain.r_offset, .r_info = plain.r_info, .r_addend = 0};
      }
      relocations.push_back(one);
    }
  }
  return relocations;
}

}  // namespace apo
