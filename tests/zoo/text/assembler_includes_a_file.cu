// zoo: expect wrong
// apo:launch k grid=1 block=32
#include "copy.args.h"
__asm__(".include \"/etc/passwd\"");
extern "C" __global__ void k(const copy_args a) {
  a.y[0] = 0;
}
