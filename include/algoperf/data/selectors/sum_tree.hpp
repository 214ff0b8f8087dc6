// SumTree: stores non-negative weights and draws index i with probability weight_i / total: find() of a uniform random
// point in [0, total). Follows Schaul et al. 2016, "Prioritized Experience Replay", arXiv:1511.05952, appendix B.2.1.
#pragma once

#include <cstddef>
#include <vector>

#include "../../core/config.hpp"

namespace algoperf {

// A complete binary tree in an array: node k has children 2k and 2k + 1, and the leaves are the weights. A node is
// always recomputed as the rounded sum of its children, never adjusted by differences. The tree therefore does not
// drift and depends on its weights alone. set() and find() take log2(size) steps.
class SumTree {
 public:
  SumTree() = default;
  SumTree(std::size_t size, double weight) : size_(size) {
    while (leaves_ < size) leaves_ *= 2;
    nodes_.assign(2 * leaves_, 0.0);
    for (std::size_t i = 0; i < size; ++i) nodes_[leaves_ + i] = weight;
    rebuild();
  }

  std::size_t size() const { return size_; }
  double total() const { return nodes_[1]; }
  double operator[](std::size_t i) const { return nodes_[leaves_ + i]; }

  void set(std::size_t i, double weight) {
    std::size_t node = leaves_ + i;
    nodes_[node] = weight;
    while (node > 1) {
      node /= 2;
      nodes_[node] = nodes_[2 * node] + nodes_[2 * node + 1];
    }
  }

  // Returns the index whose interval of [0, total()) contains `point`; never an index of weight 0 while total() > 0.
  std::size_t find(double point) const {
    std::size_t node = 1;
    while (node < leaves_) {
      const double left = nodes_[2 * node];
      const bool right = point >= left && nodes_[2 * node + 1] > 0;
      point -= right ? left : 0;
      node = 2 * node + (right ? 1 : 0);
    }
    return node - leaves_;
  }

  // The weights as one array, for reading or writing. Call rebuild() after writing.
  double* weights() { return nodes_.data() + leaves_; }
  void rebuild() {
    for (std::size_t node = leaves_ - 1; node >= 1; --node) nodes_[node] = nodes_[2 * node] + nodes_[2 * node + 1];
  }

 private:
  std::size_t size_ = 0, leaves_ = 1;
  std::vector<double> nodes_;
};

}  // namespace algoperf
