# apo:variant    layer_norm_backward/triton_rows
# apo:technique  fused-passes
# apo:idea       A program an SM walks rows and keeps the sums of the columns, as Liger's kernel does; a second kernel adds the programs up.
# apo:tune       WARPS 8,4,16
import torch
import triton
import triton.language as tl


@triton.jit
def layer_rows_backward(dy, x, weight, means, rstds, dx, sums, rows, columns, BLOCK: tl.constexpr):
    program, programs = tl.program_id(0), tl.num_programs(0)
    at = tl.arange(0, BLOCK)
    w = tl.load(weight + at, mask=at < columns, other=0.0).to(tl.float32)
    of_weight, of_bias = tl.zeros([BLOCK], tl.float32), tl.zeros([BLOCK], tl.float32)
    for row in range(program, rows, programs):
        start = row.to(tl.int64) * columns
        g = tl.load(dy + start + at, mask=at < columns, other=0.0).to(tl.float32)
        rstd = tl.load(rstds + row)
        normalised = (tl.load(x + start + at, mask=at < columns, other=0.0).to(tl.float32) - tl.load(means + row)) * rstd
        of_weight += g * normalised
        of_bias += g
        level, slope = tl.sum(g * w, axis=0) / columns, tl.sum(g * w * normalised, axis=0) / columns
        tl.store(dx + start + at, rstd * (g * w - level - normalised * slope), mask=at < columns)
    tl.store(sums + program * 2 * columns + at, of_weight, mask=at < columns)
    tl.store(sums + (program * 2 + 1) * columns + at, of_bias, mask=at < columns)


@triton.jit
def layer_columns(sums, dweight, dbias, programs, columns, PROGRAMS: tl.constexpr = 128, COLUMNS: tl.constexpr = 32):
    at = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    of_weight, of_bias = tl.zeros([PROGRAMS, COLUMNS], tl.float32), tl.zeros([PROGRAMS, COLUMNS], tl.float32)
    for first in range(0, programs, PROGRAMS):
        program = first + tl.arange(0, PROGRAMS)[:, None]
        there = (program < programs) & (at < columns)
        of_weight += tl.load(sums + program * 2 * columns + at, mask=there, other=0.0)
        of_bias += tl.load(sums + (program * 2 + 1) * columns + at, mask=there, other=0.0)
    to = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    tl.store(dweight + to, tl.sum(of_weight, axis=0), mask=to < columns)
    tl.store(dbias + to, tl.sum(of_bias, axis=0), mask=to < columns)


def layer_norm_backward(dy, x, weight, mean, rstd, WARPS):
    programs, (rows, columns) = torch.cuda.get_device_properties(x.device).multi_processor_count, x.shape
    dx, dweight, dbias = torch.empty_like(x), torch.empty_like(weight), torch.empty_like(weight)
    sums, block = torch.empty(programs, 2, columns, device=x.device), triton.next_power_of_2(columns)
    layer_rows_backward[(programs,)](dy, x, weight, mean, rstd, dx, sums, rows, columns, BLOCK=block, num_warps=WARPS)
    layer_columns[(triton.cdiv(columns, 32),)](sums, dweight, dbias, programs, columns)
    return dx, dweight, dbias
