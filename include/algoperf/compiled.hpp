// Declares the class templates of which algoperf::gemm contains the instances for Host<float> and Host<double>, so that
// programs that link it do not compile these instances. The instances depend on no model, rule, data set or metric.
// They use no SIMD vectors, because algoperf::gemm may be compiled for an older processor than the program.
//
// Only members that are defined outside of their class are compiled once. Compilers still instantiate members that are
// defined in the class, because they may inline them, and all member templates.
#pragma once

#include "backend/host.hpp"
#include "loop/gradient_context.hpp"

#define ALGOPERF_TRAINING_INSTANCES(prefix, S)                            \
  prefix template class algoperf::detail::StateArrays<algoperf::Host<S>>; \
  prefix template class algoperf::Initializer<S>;                         \
  prefix template class algoperf::RecordedModel<algoperf::Host<S>>;       \
  prefix template class algoperf::GraphExecutor<algoperf::Host<S>>;       \
  prefix template class algoperf::FieldBatch<algoperf::Host<S>>;          \
  prefix template class algoperf::BatchExecutor<algoperf::Host<S>>;       \
  prefix template class algoperf::Evaluator<algoperf::Host<S>>;           \
  prefix template class algoperf::GradientContext<algoperf::Host<S>, false>

#if ALGOPERF_USES_COMPILED && !ALGOPERF_IN_CUDA_FILE
ALGOPERF_TRAINING_INSTANCES(extern, float);
ALGOPERF_TRAINING_INSTANCES(extern, double);
#endif
