// The members of report/. They need fmt and nlohmann-json, and gnuplot to draw.
#pragma once

#include "chart.hpp"
#include "concept.hpp"
#include "csv.hpp"
#include "gnuplot.hpp"
#include "json.hpp"
#include "plot.hpp"
#include "spread.hpp"
#include "summary.hpp"
#include "table.hpp"
