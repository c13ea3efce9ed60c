// harness/implement/variant/args_header.h - the argument header of a variant, generated from its family's contract.
#pragma once

#include <string>
#include <vector>

#include "harness/core/records/records.h"

namespace apo {

// "<family>.args.h": a struct of pointers (inputs, derived inputs, outputs, scratch) and then every axis as int64_t,
// followed by one constant k<AXIS> for each specialised axis and one constant for each tunable. It depends on nothing
// else, so that workloads that share their specialised axes share their build.
std::string args_header(const Family& family, const Variant& variant, const Axes& axes, const Settings& settings);
// The same for use outside this program: the values of the constants come from the compiler's command line, as
// -DAPO_k<AXIS>=... and -DAPO_<TUNABLE>=...
std::string exported_args_header(const Family& family, const Variant& variant);

// A field of the argument struct, which is also a parameter of a plain function.
struct ArgumentField {
  std::string type;
  std::string name;
  std::string comment;
  bool scalar = false;  // takes eight bytes in a struct, for any type
};
// In the order of the struct.
std::vector<ArgumentField> argument_fields(const Family& family, const Variant& variant);
// What an element of a tensor is in each language; `dlpack` is DLPack's code of the kind, beside its bits.
struct ElementNames {
  DType dtype;
  const char* host;
  const char* cuda;
  int dlpack;
};
const ElementNames& element_names(DType dtype);
std::string element_type(DType dtype, Target target);  // in C++
// Names of the constants: k<AXIS> of each specialised axis, then the tunables.
std::vector<std::string> constant_names(const Family& family, const Variant& variant);
std::string args_header_name(const Family& family);

}  // namespace apo
