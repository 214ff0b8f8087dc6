// All of formats/; needs Eigen, nlohmann-json, xtensor and libzip.
#pragma once

#include "../state/cast.hpp"
#include "eigen.hpp"
#include "event_file.hpp"
#include "from_torch.hpp"
#include "npy.hpp"
#include "npz.hpp"
#include "safetensors.hpp"
#include "xtensor.hpp"
