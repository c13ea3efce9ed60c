// harness/implement/object/elf.h - reads the machine code of a relocatable ELF64 object, whatever its names.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace apo {

struct ObjectFacts {
  // sha256 over every section that is loaded (code, constants, initial data; not unwind tables), its relocations and
  // the exported functions. Blind to the names of internal functions, to the source's path and comments, and to debug
  // information. Two calls to different libm functions differ in their relocations, so they hash differently.
  std::string code_hash;
  std::map<std::string, std::int64_t> resources;  // text_bytes, rodata_bytes, data_bytes
  std::vector<std::string> text_sections;         // names, in the object's order
  std::vector<std::string> rodata_sections;
};

// Throws EnvironmentError when `bytes` is not a whole relocatable ELF64 object of this machine.
// `apart`: names of sections that are no part of the code.
ObjectFacts read_object(std::string_view bytes, const std::vector<std::string>& apart = {});

// Returns whether the object exports this symbol. Throws as read_object() does.
bool defines_symbol(std::string_view bytes, std::string_view name);

}  // namespace apo
