#include <algoperf/workloads/cifar10.hpp>
#include <algoperf/workloads/phantoms.hpp>

#include "baselines.hpp"

std::vector<algoperf::StudyEntry> image_entries() {
  return with_baselines(algoperf::Cifar10{}, algoperf::Cifar10ResNet20{}, algoperf::Cifar10Vgg{},
                        algoperf::Cifar10Vit{}, algoperf::PhantomReconstruction{});
}
