// apo:variant    copy/host_takes_in_a_file
// apo:target     host
// apo:idea       Has the assembler put a file of the machine into it, so that its text is not all that it is made of.
// zoo: expect build_failed; guard build; evidence /etc/passwd
#include <cstring>

#include "copy_abi.h"

asm(".section .rodata\n"
    "taken_in: .incbin \"/etc/passwd\"\n"
    ".text");

extern "C" __attribute__((visibility("hidden"))) const char taken_in[];

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  std::memcpy(args.y, args.x, sizeof(float) * static_cast<size_t>(args.n));
  return taken_in[0] == '\0' ? 1 : 0;
}
