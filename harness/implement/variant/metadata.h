// harness/implement/variant/metadata.h - the metadata block of a variant: its only description, checked before any
// compiler runs.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/implement/variant/metadata_block.h"

namespace apo {

// The identity of a file whose block does not name one.
struct FileIdentity {
  std::string family;
  std::string name;
  Target target = Target::host;
};

// Name and target of the file's own name, simple.cpp or simple.cu; `family`, else that of the folder that holds it, or
// that holds the folder of its name in which it lies. What it cannot tell is empty.
FileIdentity identity_of(const std::filesystem::path& path, const std::string& family = "");

// Reads the block at the top of `source`; `path` names the file in errors and becomes Variant::path.
// The lines, all optional:
//   variant FAMILY/NAME
//   target host | cuda [sm_80]
//   technique WORD                  may repeat
//   idea TEXT
//   parent [FAMILY/]NAME            the variant it grew from, of the same family
//   predict 1.5x..1.8x over parent|NAME: REASON    (NAME becomes FAMILY/NAME)
//   requires EXPRESSION             over axes, tunables and, on cuda, SMS, SHARED_MAX, MAX_THREADS; may repeat
//   tune NAME 1,2,4                 the first value is the default
//   toggle NAME TECHNIQUE          a macro, 0 (the default) or 1, that applies a technique of the catalogue; may repeat
//   scratch NAME BYTES-EXPRESSION [when=E]        E over tunables: there is no such buffer where it is 0
//   link LIBRARY                    cublas, cublasLt or cudart, for host code on cuda
//   include FOLDER | cccl           of other people's headers (headers.h); may repeat
//   flags -std=c++17 --maxrregcount={TUNABLE} [when=E] of the compiler, a short list of them; may repeat
//   function NAME [PARAMETER=E ...] [setup=NAME]       the plain function that is called (plain_call.h)
//   ffi OBJECT.so [NAME]            a shared object beside the file, whose function __tvm_ffi_NAME is called
//   record CALL.record              the file beside it that 'apo record' wrote: its operations are launched
//   launch KERNEL grid=E[,E[,E]] block=E[,E[,E]] [shared=E] [cluster=E] [l2_persist=E] [cooperative=E] [when=E]
// Throws UserError with path:line, the mistake and its fix.
Variant parse_variant(std::string_view source, const std::string& path, const std::vector<SourceFile>& headers,
                      const FileIdentity& otherwise);
// The same for a variant whose identity stands in its block or in `path`.
Variant parse_variant(std::string_view source, const std::string& path, const std::vector<SourceFile>& headers = {});

// The same from a regular file of at most kMaxSourceBytes, with the headers that it includes (headers.h), or from a
// shared object of at most kMaxObjectBytes, whose block is then written for it (shared_object.h); Variant::path is
// absolute. `roots` are the folders of all variants. `family` is that of a file whose block names none. A `source`
// takes the place of the file's text, and there need be no file.
Variant load_variant(const std::string& path, const std::vector<std::filesystem::path>& roots = {},
                     const std::string& family = "", const std::string& source = "");

// Names that clash, expressions that do not parse, launches that do not fit the form of the variant, a prediction over
// a parent that is not named. Throws UserError naming path:line.
void check_metadata(const Variant& variant, const Family& family, const std::vector<BlockLine>& block,
                    const std::string& path);

// Returns whether the code of the variant, or an attribute of a launch, names the tunable: without one all its values
// make the same program.
bool is_read(const Variant& variant, const std::string& tunable);

}  // namespace apo
