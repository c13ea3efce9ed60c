// harness/core/system/elf_object.h - reads sections, symbols and relocations of an ELF64 object within its bounds.
#pragma once

#include <elf.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace apo {

// Holds views into `bytes`, which has to outlive it. Anything outside of them throws EnvironmentError.
class ElfObject {
 public:
  ElfObject(std::string_view bytes, unsigned type);

  const std::vector<Elf64_Shdr>& sections() const { return sections_; }
  const Elf64_Shdr& section(std::uint64_t index) const;
  std::string name(const Elf64_Shdr& header) const;
  std::string_view contents(const Elf64_Shdr& header) const;
  std::size_t symbol_count() const;
  Elf64_Sym symbol(std::uint64_t index) const;
  std::string name(const Elf64_Sym& symbol) const;
  std::vector<std::string> needed() const;  // the libraries that a shared object is loaded with
  // Relocations of SHT_REL get an addend of 0.
  std::vector<Elf64_Rela> relocations_of(std::size_t target) const;

 private:
  std::string text_at(std::size_t table, std::uint64_t offset) const;

  std::string_view bytes_;
  std::vector<Elf64_Shdr> sections_;
  std::size_t names_ = 0;    // sections
  std::size_t symbols_ = 0;  // 0: it has none
};

}  // namespace apo
