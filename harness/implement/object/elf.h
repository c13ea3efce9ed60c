// harness/implement/object/elf.h - reads the machine code of relocatable ELF64 objects and of cubins, whatever its
// names, with the resources of each kernel; draws the order of functions and constants in a shared object.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace apo {

struct ObjectFacts {
  // sha256 over every section that is loaded (code, constants, initial data; not unwind tables), its relocations and
  // the exported functions. Blind to the names of internal functions and kernels, to the source's path and comments,
  // and to debug information. Of an object with kernels the host code alone. Two calls to different libm functions
  // differ in their relocations, so they hash differently.
  std::string code_hash;
  std::map<std::string, std::int64_t> resources;  // text_bytes, rodata_bytes, data_bytes
  std::vector<std::string> text_sections;         // names, in the object's order
  std::vector<std::string> rodata_sections;
};

// Throws EnvironmentError when `bytes` is not a whole relocatable ELF64 object of this machine.
ObjectFacts read_object(std::string_view bytes);

// Returns a GNU ld script that adds to the default one: functions in random order with random gaps (multiples of 64
// bytes, so that -falign-functions holds), constants likewise. Code addresses are worth percents (Mytkowicz et al.
// 2009); drawing them anew makes that a random effect instead of a fixed bias. The instructions do not change.
std::string layout_script(const ObjectFacts& object, std::uint64_t seed);

struct KernelFacts {
  std::string name;  // as the driver knows it
  std::int64_t registers = 0;
  std::int64_t local_bytes = 0;     // stack frame of a thread: arrays that did not fit registers, and spills
  std::int64_t shared_bytes = 0;    // static
  std::int64_t constant_bytes = 0;  // of the kernel's own bank, its parameters included
  std::int64_t text_bytes = 0;
};

struct CubinFacts {
  // sha256 over the machine code, constants and initial data, of kernels those that are launched. Blind to the names of
  // functions, to the source's path and comments, and to debug information.
  std::string code_hash;
  std::vector<KernelFacts> kernels;  // in the cubin's order
  // The maximum over kernels of registers, local_bytes, shared_bytes and constant_bytes; the sum of text_bytes and
  // writable_bytes (variables that outlive a launch, __constant__ ones included).
  std::map<std::string, std::int64_t> resources;
};

// `launched`: names of kernels; without one all of them are. Throws EnvironmentError when `bytes` is not a whole cubin.
CubinFacts read_cubin(std::string_view bytes, const std::vector<std::string>& launched = {});

}  // namespace apo
