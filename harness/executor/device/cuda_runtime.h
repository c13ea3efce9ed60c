// harness/executor/device/cuda_runtime.h - in place of the toolkit's header; cuda.h of this folder has what it
// declares.
#pragma once
