// harness/applications/recorded_family.cpp - types, places of addresses, and stretches that the call changed.
#include "harness/applications/recorded_family.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "harness/core/base64.h"
#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/profile/application/application_summary.h"

namespace apo {
namespace {

const RecordedKernel* only_kernel(const RecordedCall& call) {
  return call.operations.size() == 1 && call.operations.front().kernel ? &*call.operations.front().kernel : nullptr;
}

// The symbol of C code and of Triton says nothing about parameters: nullopt.
std::optional<KernelSignature> signature_of(const RecordedKernel& kernel) {
  const std::string readable = demangled(kernel.name);
  return readable == kernel.name ? std::nullopt : std::optional(kernel_signature(readable));
}

// A tensor begins wherever an address of it was given.
struct Begin {
  KernelParameter parameter;
  bool is_mutable = false;  // some kernel takes it by a pointer that is not const
  bool has_views = false;   // other kernels were given addresses within it
};
using Begins = std::map<std::pair<int, std::int64_t>, Begin>;  // by memory and byte

void add_begins(Begins& begins, const RecordedKernel& kernel, const KernelSignature& signature) {
  for (const KernelParameter& parameter : signature.parameters) {
    const auto place = std::ranges::find(kernel.places, parameter.offset, &RecordedPlace::parameter);
    if (parameter.is_pointer && place != kernel.places.end() && place->memory >= 0 && !place->in_map) {
      Begin& begin = begins.try_emplace({place->memory, place->offset}, Begin{.parameter = parameter}).first->second;
      begin.is_mutable = begin.is_mutable || !parameter.is_const;
    }
  }
}

bool is_range(const ProgramCall& call) {
  return call.call.operations.size() > 1;
}

// One kernel of a range may write a whole tensor, and another one be given a part of it.
void join_views(Begins& begins) {
  for (auto begin = begins.begin(); begin != begins.end();) {
    const auto next = std::next(begin);
    if (next != begins.end() && next->first.first == begin->first.first &&
        next->second.parameter.dtype == begin->second.parameter.dtype) {
      begin->second.has_views = true;
      begins.erase(next);
    } else {
      begin = next;
    }
  }
}

void check_fits(const RecordedKernel& kernel, const KernelSignature& signature) {
  const auto bytes = std::ssize(bytes_of_base64(kernel.parameters).value_or(""));
  for (const KernelParameter& parameter : signature.parameters) {
    const std::int64_t size = bytes_of(parameter);
    if (parameter.offset + size > bytes) {
      throw UserError(fmt::format("the launch of {} has {} bytes of parameters, and '{}' lies behind them",
                                  signature.name, bytes, parameter.name),
                      kDeclare);
    }
  }
}

// Up to the last byte of [offset, end) that the call changed; `offset` where it changed none.
std::int64_t written_until(const ProgramCall& call, int memory, std::int64_t offset, std::int64_t end) {
  std::int64_t written = offset;
  for (const auto& [first, last] : call.written.at(static_cast<std::size_t>(memory))) {
    written = last > offset && first < end ? std::min(last, end) : written;
  }
  return written;
}

// Up to the next tensor, or to the last byte of it that was written. In a range what one kernel takes as const another
// one may write, by an address whose type is not known.
std::int64_t bytes_from(const ProgramCall& call, const Begins& begins, Begins::const_iterator begin, bool& is_written) {
  const auto [memory, offset] = begin->first;
  const auto index = static_cast<std::size_t>(memory);
  const auto next = std::next(begin);
  const std::int64_t end =
      next != begins.end() && next->first.first == memory ? next->first.second : call.call.memory.at(index).bytes;
  const std::int64_t written = written_until(call, memory, offset, end);
  is_written = written > offset && (begin->second.is_mutable || is_range(call));
  return (is_written && !begin->second.has_views ? written : end) - offset;
}

std::string bytes_at(const RecordedMemory& memory, std::int64_t offset, std::int64_t bytes) {
  return memory.contents.empty()
             ? std::string(static_cast<std::size_t>(bytes), '\0')
             : memory.contents.substr(static_cast<std::size_t>(offset), static_cast<std::size_t>(bytes));
}

std::vector<RecordedTensor> tensors_of(const ProgramCall& call, const Begins& begins, const RecordedOptions& options) {
  std::vector<RecordedTensor> tensors;
  std::set<std::string> names;
  for (auto begin = begins.begin(); begin != begins.end(); ++begin) {
    const KernelParameter& parameter = begin->second.parameter;
    RecordedTensor tensor{.name = !names.contains(parameter.name) ? parameter.name : fmt::format("t{}", tensors.size()),
                          .dtype = parameter.dtype,
                          .memory = begin->first.first,
                          .offset = begin->first.second};
    const std::int64_t width = dtype_bytes(tensor.dtype);
    const RecordedMemory& memory = call.call.memory.at(static_cast<std::size_t>(tensor.memory));
    tensor.elements = (bytes_from(call, begins, begin, tensor.is_written) + width - 1) / width;
    if (const auto given = options.elements.find(tensor.name); given != options.elements.end()) {
      tensor.elements = given->second;
    }
    tensor.elements = std::min(tensor.elements, (memory.bytes - tensor.offset) / width);
    if (tensor.elements < 1 && is_range(call)) {
      continue;  // the end of memory, which another kernel's tensor has
    }
    if (tensor.elements < 1) {
      throw UserError(fmt::format("'{}' has no element: its address is the end of its memory", tensor.name), kDeclare);
    }
    names.insert(parameter.name);
    tensor.bytes = bytes_at(memory, tensor.offset, tensor.elements * width);
    tensors.push_back(std::move(tensor));
  }
  std::ranges::stable_sort(tensors, {}, &RecordedTensor::is_written);
  return tensors;
}

// As the program's marks say. What is named twice is one tensor.
std::vector<RecordedTensor> named_tensors(const ProgramCall& call) {
  constexpr const char* kMark = "name each stretch of memory once, as 'apo:input x bf16[4096] ADDRESS'";
  std::vector<RecordedTensor> tensors;
  for (const NamedMemory& named : call.named) {
    const std::optional<DType> dtype = find_dtype(named.dtype);
    const RecordedMemory& memory = call.call.memory.at(static_cast<std::size_t>(named.memory));
    if (!dtype || named.elements > (memory.bytes - named.offset) / dtype_bytes(*dtype)) {
      throw UserError(fmt::format("the mark of '{}' says {}[{}], and its memory has {} bytes from there on", named.name,
                                  named.dtype, named.elements, memory.bytes - named.offset),
                      kMark);
    }
    const std::int64_t bytes = named.elements * dtype_bytes(*dtype);
    const std::int64_t end = named.offset + bytes;
    RecordedTensor tensor{
        .name = named.name,
        .dtype = *dtype,
        .elements = named.elements,
        .is_written = named.is_output || written_until(call, named.memory, named.offset, end) > named.offset,
        .memory = named.memory,
        .offset = named.offset,
        .bytes = bytes_at(memory, named.offset, bytes)};
    const auto other = std::ranges::find_if(tensors, [&](const RecordedTensor& one) {
      return one.name == tensor.name || (one.memory == tensor.memory && one.offset < end &&
                                         tensor.offset < one.offset + one.elements * dtype_bytes(one.dtype));
    });
    if (other == tensors.end()) {
      tensors.push_back(std::move(tensor));
    } else if (other->offset == tensor.offset && other->elements == tensor.elements && other->dtype == tensor.dtype) {
      other->is_written = other->is_written || tensor.is_written;
    } else {
      throw UserError(fmt::format("the marks of '{}' and '{}' overlap", other->name, tensor.name), kMark);
    }
  }
  std::ranges::stable_sort(tensors, {}, &RecordedTensor::is_written);
  return tensors;
}

// What the tensor held when the call had ended.
std::string result_of(const ProgramCall& call, const RecordedTensor& tensor) {
  std::string result = tensor.bytes;
  const auto memory = static_cast<std::size_t>(tensor.memory);
  std::int64_t at = 0;  // in the results
  for (const auto& [begin, end] : call.written.at(memory)) {
    const std::int64_t first = std::max(begin, tensor.offset);
    const std::int64_t last = std::min(end, tensor.offset + std::ssize(result));
    if (first < last) {
      call.results.at(memory).copy(result.data() + (first - tensor.offset), static_cast<std::size_t>(last - first),
                                   static_cast<std::size_t>(at + first - begin));
    }
    at += end - begin;
  }
  return result;
}

std::int64_t end_of(const RecordedTensor& tensor) {
  return tensor.offset + tensor.elements * dtype_bytes(tensor.dtype);
}

// Bytes of a stretch at which a tensor begins or ends.
void add_cuts(std::set<std::int64_t>& cuts, const RecordedPlace& place, std::int64_t bytes,
              const std::vector<RecordedTensor>& tensors) {
  for (const RecordedTensor& tensor : tensors) {
    for (const std::int64_t edge : {tensor.offset, end_of(tensor)}) {
      const std::int64_t cut = edge - place.offset;
      if (tensor.memory == place.memory && cut > 0 && cut < bytes) {
        cuts.insert(cut);
      }
    }
  }
}

// A fill or copy in pieces, each of which lies in one tensor or in none: a replay has the tensors apart.
std::vector<RecordedOperation> pieces_of(const RecordedOperation& operation,
                                         const std::vector<RecordedTensor>& tensors) {
  std::set<std::int64_t> edges;
  add_cuts(edges, operation.to, operation.bytes, tensors);
  if (operation.from) {
    add_cuts(edges, *operation.from, operation.bytes, tensors);
  }
  std::set<std::int64_t> cuts = edges;
  cuts.insert({0, operation.bytes});
  for (const std::int64_t edge : edges) {  // a value that an edge divides is filled byte by byte
    for (std::int64_t byte = 0; edge % operation.width != 0 && byte <= operation.width; ++byte) {
      cuts.insert(edge - edge % operation.width + byte);
    }
  }
  std::vector<RecordedOperation> pieces;
  for (auto cut = cuts.begin(); std::next(cut) != cuts.end(); ++cut) {
    RecordedOperation piece = operation;
    piece.bytes = *std::next(cut) - *cut;
    piece.to.offset += *cut;
    if (piece.from) {
      piece.from->offset += *cut;
    }
    if (!piece.from_host.empty()) {
      piece.from_host =
          operation.from_host.substr(static_cast<std::size_t>(*cut), static_cast<std::size_t>(piece.bytes));
    }
    if (piece.bytes < operation.width) {
      piece.value = operation.value >> (8 * (*cut % operation.width)) & 0xFF;
      piece.width = 1;
    }
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

}  // namespace

RecordedCall on_tensors(RecordedCall call, const std::vector<RecordedTensor>& tensors) {
  std::vector<int> left(call.memory.size(), -1);
  std::vector<RecordedMemory> kept;
  const auto move = [&](RecordedPlace& place) {
    const auto of = std::ranges::find_if(tensors, [&](const RecordedTensor& tensor) {
      const std::int64_t end = end_of(tensor);
      return tensor.memory == place.memory && place.offset >= tensor.offset &&
             (place.offset < end ||
              (place.offset == end && end == call.memory[static_cast<std::size_t>(place.memory)].bytes));
    });
    if (place.memory >= 0 && of != tensors.end()) {
      place.argument = static_cast<int>(of - tensors.begin());
      place.offset -= of->offset;
      place.memory = -1;
    } else if (place.memory >= 0) {
      const auto from = static_cast<std::size_t>(place.memory);
      if (left[from] < 0) {
        left[from] = static_cast<int>(kept.size());
        kept.push_back(call.memory[from]);
      }
      place.memory = left[from];
    }
  };
  std::vector<RecordedOperation> operations;
  for (RecordedOperation& operation : call.operations) {
    if (operation.kernel) {
      visit_places(operation, move);
      operations.push_back(std::move(operation));
      continue;
    }
    for (RecordedOperation& piece : pieces_of(operation, tensors)) {
      visit_places(piece, move);
      operations.push_back(std::move(piece));
    }
  }
  call.operations = std::move(operations);
  call.memory = std::move(kept);
  return call;
}

std::int64_t uncompared_bytes(const ProgramCall& call, const std::vector<RecordedTensor>& tensors) {
  std::int64_t bytes = 0;
  for (std::size_t memory = 0; memory < call.written.size(); ++memory) {
    for (const auto& [begin, end] : call.written[memory]) {
      bytes += end - begin;
      for (const RecordedTensor& tensor : tensors) {
        const std::int64_t from = std::max(begin, tensor.offset);
        const std::int64_t to = std::min(end, tensor.offset + std::ssize(tensor.bytes));
        bytes -= tensor.memory == static_cast<int>(memory) ? std::max<std::int64_t>(to - from, 0) : 0;
      }
    }
  }
  return bytes;
}

RecordedFamily recorded_family(const ProgramCall& call, const RecordedOptions& options) {
  RecordedFamily family{.name = options.name, .program = call.program, .tensors = {}, .signature = {}, .call = {}};
  Begins begins;
  const RecordedKernel* const only = only_kernel(call.call);
  if (only == nullptr && !options.declaration.empty()) {
    throw UserError("--declaration is of one kernel, and the range has several operations", "leave it out");
  }
  for (const RecordedOperation& operation : call.call.operations) {
    if (!operation.kernel) {
      continue;
    }
    try {
      const std::optional<KernelSignature> signature =
          options.declaration.empty() ? signature_of(*operation.kernel) : kernel_signature(options.declaration);
      if (signature) {
        check_fits(*operation.kernel, *signature);
        add_begins(begins, *operation.kernel, *signature);
      }
      family.signature = only != nullptr ? signature : std::nullopt;
    } catch (const UserError&) {
      if (only != nullptr && call.named.empty()) {
        throw;
      }  // what other kernels of the range take tells its tensors, too
    }
  }
  if (is_range(call)) {
    join_views(begins);
  }
  if (begins.empty() && call.named.empty()) {
    throw UserError(
        fmt::format("the types of what '{}' works on are not known", only != nullptr ? only->name : "the range"),
        only != nullptr ? kDeclare : "name it in the range: nvtxMark(\"apo:output y bf16[4096] ADDRESS\")");
  }
  family.tensors = call.named.empty() ? tensors_of(call, begins, options) : named_tensors(call);
  for (RecordedTensor& tensor : family.tensors) {
    tensor.result = result_of(call, tensor);
  }
  if (std::ranges::none_of(family.tensors, &RecordedTensor::is_written)) {
    throw UserError("the call changes none of its tensors", "record it on other values than the call before it");
  }
  for (const auto& [name, elements] : options.elements) {
    if (std::ranges::find(family.tensors, name, &RecordedTensor::name) == family.tensors.end()) {
      throw UserError(fmt::format("--elements names '{}', which is no tensor of the call", name), kDeclare);
    }
  }
  family.call = on_tensors(call.call, family.tensors);
  return family;
}

}  // namespace apo
