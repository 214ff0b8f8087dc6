#include <algoperf/formats/all.hpp>
#include <cstdio>

namespace ap = algoperf;

// Writes arrays to files that other frameworks can read, and reads them back. Returns 0 if they are unchanged.
int main() {
  ap::StateDict dict;
  dict.set("weight", std::vector<float>{1, -2, 3.5f, 0, 0.25f, 6}, {2, 3});
  ap::save_npz("consume.npz", dict);
  ap::save_safetensors("consume.safetensors", dict);
  const bool same = ap::load_npz("consume.npz").arrays() == dict.arrays() &&
                    ap::load_safetensors("consume.safetensors").arrays() == dict.arrays();
  std::remove("consume.npz");
  std::remove("consume.safetensors");
  return same ? 0 : 1;
}
