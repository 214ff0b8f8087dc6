// Includes every header of report/. They require fmt and nlohmann-json; gnuplot.hpp runs gnuplot.
#pragma once

#include "chart.hpp"
#include "concept.hpp"
#include "csv.hpp"
#include "gnuplot.hpp"
#include "html.hpp"
#include "json.hpp"
#include "plot.hpp"
#include "spread.hpp"
#include "summary.hpp"
#include "svg_chart.hpp"
#include "table.hpp"
