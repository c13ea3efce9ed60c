// harness/implement/variant/shared_object.cpp - reads the exported symbols and the needs of an ELF64 shared object.
#include "harness/implement/variant/shared_object.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "harness/core/error.h"
#include "harness/core/system/elf_object.h"
#include "harness/core/text.h"

namespace apo {
namespace {

#if defined(__x86_64__)
constexpr Elf64_Half kThisMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr Elf64_Half kThisMachine = EM_AARCH64;
#else
constexpr Elf64_Half kThisMachine = EM_NONE;
#endif

void check_head(std::string_view bytes, const std::string& path) {
  Elf64_Ehdr head{};
  std::memcpy(&head, bytes.data(), std::min(bytes.size(), sizeof head));
  const std::string build = "give the object that 'g++ -shared' or 'nvcc -shared' makes";
  if (!bytes.starts_with(ELFMAG)) {
    throw UserError("'" + path + "' is no shared object: it does not begin as an ELF file", build);
  }
  if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_machine != kThisMachine) {
    throw UserError(fmt::format("'{}' is for another machine (ELF class {}, machine {})", path,
                                int{head.e_ident[EI_CLASS]}, head.e_machine),
                    "build it for the CPU of this machine");
  }
  if (head.e_type != ET_DYN) {
    throw UserError(fmt::format("'{}' is no shared object but {}", path,
                                head.e_type == ET_REL ? "an object that is not linked yet" : "a program"),
                    build);
  }
}

struct Contents {
  std::vector<std::string> functions;  // without the prefix
  bool cuda = false;
};

// Symbols with the prefix "__tvm_ffi__" accompany a function: its metadata, a library's own tables.
bool is_function(const ElfObject& object, const Elf64_Sym& symbol) {
  const std::string name = object.name(symbol);
  return symbol.st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && name.starts_with(kFfiPrefix) &&
         is_identifier(name.substr(kFfiPrefix.size())) && name[kFfiPrefix.size()] != '_';
}

Contents read_contents(std::string_view bytes, const std::string& path) {
  check_head(bytes, path);
  Contents contents;
  try {
    const ElfObject object(bytes, ET_DYN);
    for (std::size_t i = 0; i < object.symbol_count(); ++i) {
      if (const Elf64_Sym symbol = object.symbol(i); is_function(object, symbol)) {
        contents.functions.push_back(object.name(symbol).substr(kFfiPrefix.size()));
      }
    }
    for (const Elf64_Shdr& section : object.sections()) {
      const std::string name = object.name(section);
      // The names of the libraries that it needs stand in .dynstr.
      contents.cuda |= name == ".nv_fatbin" || (name == ".dynstr" && object.contents(section).find(std::string_view(
                                                                         "\0libcuda", 8)) != std::string_view::npos);
    }
  } catch (const EnvironmentError&) {
    throw UserError("'" + path + "' is not a whole shared object",
                    "build it again: it may have been cut when it was copied");
  }
  std::sort(contents.functions.begin(), contents.functions.end());
  return contents;
}

}  // namespace

const SourceFile& object_of(const Variant& variant) {
  const auto found = std::find_if(variant.headers.begin(), variant.headers.end(),
                                  [&](const SourceFile& file) { return file.name == variant.object; });
  if (found == variant.headers.end()) {
    throw UserError(variant.path + ": the object '" + variant.object + "' is not among the files of " + variant.id(),
                    "register the variant again");
  }
  return *found;
}

std::string ffi_function(std::string_view bytes, const std::string& path, const std::string& function,
                         const std::string& family) {
  const std::vector<std::string> functions = read_contents(bytes, path).functions;
  const auto exported = [&](const std::string& name) {
    return std::find(functions.begin(), functions.end(), name) != functions.end();
  };
  if (functions.empty()) {
    throw UserError("'" + path + "' exports no function of the TVM-FFI ABI",
                    "TVM_FFI_DLL_EXPORT_TYPED_FUNC(NAME, function) exports one, as __tvm_ffi_NAME");
  }
  if (!function.empty()) {
    if (!exported(function)) {
      throw UserError(fmt::format("'{}' exports no __tvm_ffi_{}", path, function),
                      "it exports " + join(functions, ", "));
    }
    return function;
  }
  if (functions.size() > 1 && !exported(family)) {
    throw UserError(fmt::format("'{}' exports more than one function: {}", path, join(functions, ", ")),
                    "choose one: register a .cpp file (.cu for a GPU) beside it with the line '// apo:ffi " +
                        path.substr(path.rfind('/') + 1) + " " + functions.front() + "'");
  }
  return functions.size() > 1 ? family : functions.front();
}

std::string ffi_block(std::string_view bytes, const std::string& path, const std::string& family,
                      const std::string& name) {
  const std::string id = family.empty() ? "" : fmt::format("// apo:variant {}/{}\n", family, name);
  return fmt::format("{}// apo:target {}\n// apo:ffi {}.so {}\n", id, read_contents(bytes, path).cuda ? "cuda" : "host",
                     name, ffi_function(bytes, path, "", family));
}

}  // namespace apo
