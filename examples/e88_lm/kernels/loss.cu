// apo:variant    byte_loss/a_warp_a_row
// apo:target     cuda sm_80
// apo:idea       A warp a row, eight logits a lane, so that a row is read once.
// apo:launch     cross_entropy grid=ceil_div(rows,8) block=256
#include "byte_loss.args.h"
#include "loss.cuh"

extern "C" __global__ void cross_entropy(const byte_loss_args a) {
  byte_lm::cross_entropy_row(a.rows, a.logits, a.targets, a.inverse_scored, a.losses, a.d_logits);
}
