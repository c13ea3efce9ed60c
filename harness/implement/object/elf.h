// harness/implement/object/elf.h - reads the machine code of a relocatable ELF64 object, whatever its names, and draws
// the order of its functions and constants in the shared object.
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

// Returns a GNU ld script that adds to the default one: functions in random order with random gaps (multiples of 64
// bytes, so that -falign-functions holds), constants likewise. Code addresses are worth percents (Mytkowicz et al.
// 2009); drawing them anew makes that a random effect instead of a fixed bias. The instructions do not change.
std::string layout_script(const ObjectFacts& object, std::uint64_t seed);

}  // namespace apo
