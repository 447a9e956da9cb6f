#pragma once

#include "commands.hpp"
#include "report_page.hpp"

namespace whittle::cli {

/// Writes the page where `html` says, with its bounds. Throws Error(storage_failed).
void write_report(ReportPage&& page, const HtmlChoice& html);

}  // namespace whittle::cli
