#pragma once

#include "optimizer_step.hpp"
#include "time_to_target.hpp"
