// harness/implement/plain_call.h - lets a plain function be a library variant: the source that calls it.
#pragma once

#include <string>

#include "harness/core/records/records.h"
#include "harness/implement/compile.h"

namespace apo {

// "void copy(const float* x, float* y, int64_t n)": tensors in the order of the contract, scratch buffers, scalars,
// axes.
std::string plain_signature(const Family& family, const Variant& variant);

struct PlainCall {
  SourceFile source;        // includes the variant's own file, and exports the C ABI of kernels/abi.h by the call
  std::string function;     // that is called; empty where the file exports the C ABI itself
  std::string place;        // "/home/me/norm.cu:12", where the function begins
  std::string text;         // "norm4(out, inp, N=rows, block_size)": each parameter, and what it gets
  std::string problem;      // one sentence, which begins with a place, where there is no call
  bool found_none = false;  // the text has no function, and perhaps an error, which the compiler names
  std::string sides;        // two lines: the function, and the one that the contract has
};

// Chooses the function and what its parameters get. The function is the one of the apo:function line, else one that is
// named like the family or the variant, else the only one that fits. A parameter gets what is called like it: a tensor,
// an apo:scratch buffer, a scalar, an axis, an apo:tune constant; `threads` or a cudaStream_t; or all of them as one
// `const <family>_args&`; or what the apo:function line says. Where the names do not fit, the parameters have to be
// those of plain_signature(), in order, and after them, optionally, `int threads` (on cuda `cudaStream_t stream`). An
// int that it returns is apo_launch's answer.
PlainCall plain_call(const Family& family, const Variant& variant);

// Fails a step that was made for found_none. Replaces the compiler's words on a call that is none by a sentence about
// the function, and its log by both signatures.
void explain_call(CompileStep& step, const PlainCall& call);

}  // namespace apo
