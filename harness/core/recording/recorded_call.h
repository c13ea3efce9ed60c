// harness/core/recording/recorded_call.h - what one call put on the GPU, so that it can be launched without its host
// code: kernels, fills and copies in their order, modules, and memory of the call's own.
//
// An address among the parameters is kept as a place: so many bytes into a tensor of the call, or into memory of its
// own. A replay puts the addresses there that the places have then.
//
// A record is written in a process with foreign code. It holds the bytes of its modules and its memory: it has no words
// for a file, for another record, or for memory that is not the call's. Decoding checks every number against them, and
// fits_tensors() against the tensors before a replay puts an address anywhere.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/json/fields.h"
#include "harness/core/records/device_facts.h"

namespace apo {

inline constexpr std::int64_t kMostRecordedMemory = std::int64_t{4} << 30;  // bytes of a call's own memory
inline constexpr std::int64_t kMostFromHost = std::int64_t{64} << 20;       // bytes that a call copies from the host

// Where an address points to.
struct RecordedPlace {
  int parameter = 0;        // the byte of the kernel's parameters at which the address lies
  int argument = -1;        // the number of the tensor or scratch buffer in the call's argument struct, or
  int memory = -1;          // of the call's own memory
  std::int64_t offset = 0;  // bytes from its begin
  bool in_map = false;      // a CUtensorMap begins at `parameter`; the address is the one that it was made of
  bool operator==(const RecordedPlace&) const = default;
};
APO_FIELDS(RecordedPlace, parameter, argument, memory, offset, in_map)
template <>
inline constexpr bool kIsRow<RecordedPlace> = true;

struct RecordedKernel {
  int module = -1;
  std::string name;
  std::array<std::int64_t, 3> grid = {1, 1, 1};
  std::array<std::int64_t, 3> block = {1, 1, 1};
  std::array<std::int64_t, 3> cluster = {1, 1, 1};
  std::int64_t shared_bytes = 0;       // dynamic, of the launch
  std::int64_t most_shared_bytes = 0;  // that the function may have
  int carveout = -1;                   // of shared memory, in percent; -1: the driver's choice
  bool non_portable_cluster = false;
  bool cooperative = false;
  bool overlaps = false;   // programmatic stream serialization: it may begin before the one before it has ended
  std::string parameters;  // base64
  std::vector<RecordedPlace> places;
  bool operator==(const RecordedKernel&) const = default;
};
APO_FIELDS(RecordedKernel, module, name, grid, block, cluster, shared_bytes, most_shared_bytes, carveout,
           non_portable_cluster, cooperative, overlaps, parameters, places)

// A kernel, a fill, or a copy, on the GPU or from the host; `bytes` is 0 for a kernel.
struct RecordedOperation {
  std::optional<RecordedKernel> kernel;
  std::int64_t bytes = 0;             // of a fill or copy
  RecordedPlace to;                   // likewise
  std::optional<RecordedPlace> from;  // of a copy on the GPU
  std::string from_host = {};         // the bytes of a copy from the host: every call copies the same
  std::uint32_t value = 0;            // of a fill
  int width = 1;                      // bytes of that value: 1, 2 or 4
  bool operator==(const RecordedOperation&) const = default;
};
// What comes from the host is not text.
template <RecordOf<RecordedOperation> Operation, class Visitor>
void visit_fields(Operation& operation, const Visitor& visit) {
  visit("kernel", operation.kernel);
  visit("bytes", operation.bytes);
  visit("to", operation.to);
  visit("from", operation.from);
  visit("value", operation.value);
  visit("width", operation.width);
}

// "softmax", "a fill".
std::string name_of(const RecordedOperation& operation);

// Every place that it works on, in their order.
template <class Visitor>
void visit_places(RecordedOperation& operation, const Visitor& visit) {
  if (operation.kernel) {
    for (RecordedPlace& place : operation.kernel->places) {
      visit(place);
    }
    return;
  }
  visit(operation.to);
  if (operation.from) {
    visit(*operation.from);
  }
}

// A stretch of bytes that every call finds as they were when the recorded one began: a variable of a module, or memory
// of the call's own.
struct RecordedVariable {
  std::string name;
  std::string bytes;
  bool operator==(const RecordedVariable&) const = default;
};
struct RecordedModule {
  std::string image;  // a cubin
  std::vector<RecordedVariable> variables;
  bool operator==(const RecordedModule&) const = default;
};
inline constexpr unsigned char kScratchByte = 0xFF;
struct RecordedMemory {
  std::int64_t bytes = 0;
  std::string contents;     // empty: zeros, of scratch kScratchByte
  bool is_scratch = false;  // it was allocated within the call
  bool operator==(const RecordedMemory&) const = default;
};

struct RecordedCall {
  std::vector<RecordedOperation> operations;
  std::vector<RecordedModule> modules;
  std::vector<RecordedMemory> memory;
  std::string device;           // the model of the GPU, "NVIDIA H200"
  std::int64_t unsearched = 0;  // bytes of memory in which no addresses were looked for: of more than 1 GiB
  std::int64_t unsettled = 0;   // inverted bytes: of parameters that differ from call to call, of addresses in memory
  bool operator==(const RecordedCall&) const = default;
};

// Begins the evidence of a call that no replay could repeat.
inline constexpr std::string_view kNotRecorded = "cannot be recorded: ";

// Whether a symbol is that name, or has it as its identifier: "softmax" in "_Z7softmaxPKfPfi".
bool is_symbol_of(std::string_view symbol, const std::string& name);

// How a worker launches it.
LaunchPlan plan_of(const RecordedCall& call);

// Returns in what the operations of a call differ from those of the call before, "" where they don't. Bytes of kernels'
// parameters may: host code leaves gaps of its structs as they were, stale addresses among them. They are inverted in
// `call`, and no places any more, so that a kernel that does read them computes something else (settled_call.cpp).
std::string settle(RecordedCall& call, const RecordedCall& before);

// Calls of one function in a row, until two of them launch the same. Bytes of parameters that differ have to do so
// twice in a row: what a function allocates once and keeps, such as a workspace, differs between its first two calls
// alone.
class Settling {
 public:
  // Settles the call on the one before. Returns "", or why it cannot be recorded yet.
  std::string add(RecordedCall& call);
  // The next call has none before it.
  void forget() { *this = {}; }

 private:
  std::optional<RecordedCall> before_;
  bool differed_ = false;  // bytes of parameters, between the last two calls
};

// Whether all that the operation does with tensors of the call stays within them: `bytes` has their sizes, scratch
// included, in the order of the argument struct. A kernel may be given the end of one.
bool fits_tensors(const RecordedOperation& operation, const std::vector<std::int64_t>& bytes);

// Memory of the call's own that it returned: that of an argument, by its number.
struct ReturnedMemory {
  int argument = 0;
  std::uint64_t at = 0;
  std::uint64_t bytes = 0;
};
// It is the argument's from here on, and what is left of the call's own memory, which lies `at` these addresses, is
// numbered anew. False where no operation works on one of them.
bool give_results(RecordedCall& call, const std::vector<std::uint64_t>& at, const std::vector<ReturnedMemory>& results);

std::string encode(const RecordedCall& call);
// nullopt where the text is none of encode(), names what is not there, or has a number that no call has.
std::optional<RecordedCall> decode_recorded_call(std::string_view bytes);

// Memory that a program named in the range, by an NVTX mark: "apo:output y bf16[4096] 0x7f2a00000000".
struct NamedMemory {
  std::string name;
  std::string dtype;  // as the mark has it
  std::int64_t elements = 0;
  bool is_output = false;
  int memory = 0;  // of the call
  std::int64_t offset = 0;
  bool operator==(const NamedMemory&) const = default;
};
APO_FIELDS(NamedMemory, name, dtype, elements, is_output, memory, offset)

// What a program launched, as it was seen in its process.
struct ProgramCall {
  std::string program;  // its command line
  std::string refusal;  // why there is no call, one sentence; empty: there is one
  // Of each memory, the stretches of bytes [begin, end) that the call changed, in order and apart.
  std::vector<std::vector<std::array<std::int64_t, 2>>> written = {};
  // Of each memory what these held afterwards, one behind the other.
  std::vector<std::string> results = {};
  std::vector<NamedMemory> named = {};  // in the order of the marks
  RecordedCall call = {};
  bool operator==(const ProgramCall&) const = default;
};

std::string encode(const ProgramCall& call);
// nullopt where it is none of encode(), or contradicts itself: the program may have written anything there.
std::optional<ProgramCall> decode_program_call(std::string_view bytes);

}  // namespace apo
