// Declares the templates whose instances algoperf::gemm contains: classes for Host<float> and Host<double>, among them
// the most common layers, and functions for Slice<InMemory<float>>, the data set of most image workloads. Programs that
// link it do not compile these instances, which depend on no model, rule, metric or other data set.
//
// algoperf::gemm may be compiled for an older processor than the program. Therefore only layers have loops over SIMD
// vectors: those of the kernels for several instruction sets (backend/host/compiled_kernels.hpp), or where there is no
// kernel, loops for the set for which algoperf::gemm was compiled.
//
// Only members that are defined outside of their class are compiled once. Compilers still instantiate members that are
// defined in the class, because they may inline them, and member templates that are not named here.
#pragma once

#include "backend/host.hpp"
#include "data/in_memory.hpp"
#include "data/slice.hpp"
#include "loop/gradient_context.hpp"
#include "nn/layers/conv2d.hpp"
#include "nn/layers/dense.hpp"
#include "nn/layers/gelu.hpp"
#include "nn/layers/relu.hpp"

#define ALGOPERF_TRAINING_INSTANCES(prefix, S)                                              \
  prefix template class algoperf::detail::StateArrays<algoperf::Host<S>>;                   \
  prefix template class algoperf::Initializer<S>;                                           \
  prefix template class algoperf::RecordedModel<algoperf::Host<S>>;                         \
  prefix template class algoperf::GraphExecutor<algoperf::Host<S>>;                         \
  prefix template class algoperf::FieldBatch<algoperf::Host<S>>;                            \
  prefix template void algoperf::FieldBatch<algoperf::Host<S>>::stage(                      \
      const algoperf::Slice<algoperf::InMemory<float>>&, const std::uint32_t*, std::size_t, \
      const algoperf::GatherOptions&);                                                      \
  prefix template class algoperf::BatchExecutor<algoperf::Host<S>>;                         \
  prefix template class algoperf::Evaluator<algoperf::Host<S>>;                             \
  prefix template class algoperf::GradientContext<algoperf::Host<S>, false>

#define ALGOPERF_LAYER_INSTANCES(prefix, S)                                               \
  prefix template class algoperf::detail::LayerOp<algoperf::Host<S>, algoperf::Conv2d>;   \
  prefix template class algoperf::detail::LayerOp<algoperf::Host<S>, algoperf::Dense>;    \
  prefix template class algoperf::detail::LayerOp<algoperf::Host<S>, algoperf::Gelu>;     \
  prefix template class algoperf::detail::LayerOp<algoperf::Host<S>, algoperf::GeluTanh>; \
  prefix template class algoperf::detail::LayerOp<algoperf::Host<S>, algoperf::Relu>

#define ALGOPERF_DATA_INSTANCES(prefix)                                          \
  prefix template void algoperf::detail::check_fits(const algoperf::ModelGraph&, \
                                                    const algoperf::Slice<algoperf::InMemory<float>>&, bool)

#if ALGOPERF_USES_COMPILED && !ALGOPERF_IN_CUDA_FILE
ALGOPERF_DATA_INSTANCES(extern);
ALGOPERF_TRAINING_INSTANCES(extern, float);
ALGOPERF_TRAINING_INSTANCES(extern, double);
ALGOPERF_LAYER_INSTANCES(extern, float);
ALGOPERF_LAYER_INSTANCES(extern, double);
#endif
