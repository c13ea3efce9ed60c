// harness/applications/recorded_family.h - makes a family of what a program launched: tensors from the types of a
// kernel's parameters, and the files of the family and of its first variants.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/applications/kernel_signature.h"
#include "harness/core/recording/recorded_call.h"
#include "harness/core/system/files.h"
#include "kernels/family.h"

namespace apo {

// Memory that the call reads or writes, as the parameters name it.
struct RecordedTensor {
  std::string name;
  DType dtype = DType::f32;
  std::int64_t elements = 0;
  bool is_written = false;  // then it holds its recorded contents again before every call
  int memory = 0;           // of ProgramCall::call
  std::int64_t offset = 0;
  std::string bytes;   // when the call began
  std::string result;  // when it had ended
};

struct RecordedFamily {
  std::string name;
  std::string program;
  std::vector<RecordedTensor> tensors;       // read ones first
  std::optional<KernelSignature> signature;  // of a call that is one kernel
  RecordedCall call;                         // on the tensors as its arguments
};

struct RecordedOptions {
  std::string name;
  std::string declaration;                       // of the kernel; empty: its symbol tells
  std::map<std::string, std::int64_t> elements;  // of tensors that the recording cannot bound
};

// The call on tensors as its arguments: addresses within one are its, and memory that no other address names goes.
RecordedCall on_tensors(RecordedCall call, const std::vector<RecordedTensor>& tensors);

// Bytes that the call changed and that are in none of the tensors: nothing compares them.
std::int64_t uncompared_bytes(const ProgramCall& call, const std::vector<RecordedTensor>& tensors);

// Throws UserError where parameters do not fit the launch, or the call works on no memory with a type.
RecordedFamily recorded_family(const ProgramCall& call, const RecordedOptions& options);

// The family's file: its reference is `answer` with the folder `record` as its last word, which replays the call.
std::string family_text(const RecordedFamily& family, const std::string& answer, const std::string& record);
// The recorded operations as a variant, whose object is the encoded call in the file `object` beside it.
std::string recorded_variant_text(const RecordedFamily& family, const std::string& object);
// A variant to write in: a kernel with the recorded parameters, launched as the recorded one was. `source`: the text
// that has the kernel; empty: a body to fill. "" for a call of several operations.
std::string first_variant_text(const RecordedFamily& family, const std::string& source);

}  // namespace apo
