// harness/implement/elf.cpp - a bounds-checked reader of section headers, symbols and relocations (System V ABI,
// <elf.h>).
#include "harness/implement/elf.h"

#include <elf.h>

#include <cstring>

#include "harness/core/error.h"
#include "harness/core/hash.h"

namespace apo {
namespace {

class Object {
 public:
  explicit Object(std::string_view bytes) : bytes_(bytes) {
    const auto header = at<Elf64_Ehdr>(0);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_type != ET_REL || header.e_shnum == 0) {
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

// Loaded into memory and not an unwind table or a note.
bool is_loaded(const Object& object, const Elf64_Shdr& header) {
  return (header.sh_flags & SHF_ALLOC) != 0 && header.sh_type != SHT_NOTE && object.name(header) != ".eh_frame";
}

std::string place(const Elf64_Sym& symbol, std::int64_t addend) {
  return std::to_string(symbol.st_shndx) + "+" + std::to_string(static_cast<std::int64_t>(symbol.st_value) + addend);
}

// Where a relocation points: an undefined symbol by its name, everything inside the object by its position.
std::string target_of(const Object& object, const Elf64_Rela& relocation) {
  const Elf64_Sym symbol = object.symbol(ELF64_R_SYM(relocation.r_info));
  if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx == SHN_COMMON) {
    return object.name(symbol) + "+" + std::to_string(relocation.r_addend);
  }
  return place(symbol, relocation.r_addend);
}

void add_section(const Object& object, std::size_t index, std::vector<std::string>& parts) {
  const Elf64_Shdr& header = object.section(index);
  constexpr std::uint64_t kMeaning = SHF_WRITE | SHF_ALLOC | SHF_EXECINSTR | SHF_MERGE | SHF_STRINGS | SHF_TLS;
  parts.push_back("section " + std::to_string(index) + " " + std::to_string(header.sh_flags & kMeaning) + " " +
                  std::to_string(header.sh_addralign) + " " + std::to_string(header.sh_size));
  parts.emplace_back(object.contents(header));
  for (const Elf64_Rela& relocation : object.relocations_of(index)) {
    parts.push_back(std::to_string(relocation.r_offset) + " " + std::to_string(ELF64_R_TYPE(relocation.r_info)) + " " +
                    target_of(object, relocation));
  }
}

void add_exports(const Object& object, std::vector<std::string>& parts) {
  for (std::size_t i = 0; i < object.symbol_count(); ++i) {
    const Elf64_Sym symbol = object.symbol(i);
    const bool exported = ELF64_ST_BIND(symbol.st_info) != STB_LOCAL && symbol.st_shndx != SHN_UNDEF &&
                          ELF64_ST_VISIBILITY(symbol.st_other) == STV_DEFAULT;
    if (exported) {
      parts.push_back("export " + object.name(symbol) + " " + place(symbol, 0));
    }
  }
}

const char* kind_of(const Elf64_Shdr& header) {
  if ((header.sh_flags & SHF_EXECINSTR) != 0) {
    return "text_bytes";
  }
  return (header.sh_flags & SHF_WRITE) != 0 ? "data_bytes" : "rodata_bytes";
}

}  // namespace

ObjectFacts read_object(std::string_view bytes) {
  const Object object(bytes);
  ObjectFacts facts;
  facts.resources = {{"text_bytes", 0}, {"rodata_bytes", 0}, {"data_bytes", 0}};
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < object.sections().size(); ++i) {
    const Elf64_Shdr& header = object.section(i);
    if (!is_loaded(object, header)) {
      continue;
    }
    add_section(object, i, parts);
    facts.resources[kind_of(header)] += static_cast<std::int64_t>(header.sh_size);
    const std::string name = object.name(header);
    if (header.sh_size > 0 && name.starts_with(".text")) {
      facts.text_sections.push_back(name);
    } else if (header.sh_size > 0 && name.starts_with(".rodata")) {
      facts.rodata_sections.push_back(name);
    }
  }
  add_exports(object, parts);
  facts.code_hash = sha256_of_parts(parts);
  return facts;
}

}  // namespace apo
