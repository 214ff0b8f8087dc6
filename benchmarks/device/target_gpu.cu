#include "device.cuh"
#include "target.hpp"

int main() { bench::lines_of_targets("GPU", bench::has_device(), algoperf::Cuda<>{}); }
