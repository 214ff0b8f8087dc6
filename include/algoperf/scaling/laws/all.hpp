// Includes every scaling law.
#pragma once

#include "amdahl.hpp"
#include "bounded_power_law.hpp"
#include "broken_power_law.hpp"
#include "capped_power_law.hpp"
#include "chinchilla.hpp"
#include "critical_batch.hpp"
#include "first_order.hpp"
#include "kaplan.hpp"
#include "log_line.hpp"
#include "power_law.hpp"
#include "power_law_with_floor.hpp"
#include "shifted_power_law.hpp"
#include "sigmoid_power_law.hpp"
