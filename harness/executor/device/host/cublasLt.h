// harness/executor/device/host/cublasLt.h - as cublas_v2.h.
#pragma once

#include "cublas_v2.h"
