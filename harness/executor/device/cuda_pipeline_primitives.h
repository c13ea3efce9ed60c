// harness/executor/device/cuda_pipeline_primitives.h - in place of the toolkit's header; memory.inl has what it
// declares.
#pragma once
