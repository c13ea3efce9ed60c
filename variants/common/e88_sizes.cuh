// variants/common/e88_sizes.cuh - the sizes of an E88 state. After <family>.args.h, which has kN, kV, kGATE and kNORM.
#pragma once

namespace {

constexpr int kSegment = 16;  // steps between two checkpoints
constexpr int kRows = kN, kColumns = kV, kState = kRows * kColumns;

}  // namespace
