// All readers of scoring/. Link with zlib.
#pragma once

#include "claims.hpp"
#include "compact_logs.hpp"
#include "csv_rows.hpp"
#include "official_logs.hpp"
#include "time_tables.hpp"
#include "workload_list.hpp"
