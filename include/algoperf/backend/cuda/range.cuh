// CudaRange: a named range that profilers (Nsight) display for the lifetime of the object.
#pragma once

#include <nvtx3/nvToolsExt.h>

namespace algoperf::detail {

class CudaRange {
 public:
  explicit CudaRange(const char* name) { nvtxRangePushA(name); }
  ~CudaRange() { nvtxRangePop(); }
  CudaRange(const CudaRange&) = delete;
  CudaRange& operator=(const CudaRange&) = delete;
};

}  // namespace algoperf::detail
