#include "write_report.hpp"

#include "output.hpp"

#include <utility>

namespace whittle::cli {

void write_report(ReportPage&& page, const HtmlChoice& html) {
    page.text_bytes = html.text_bytes;
    page.is_masked = !html.no_mask;
    OutputFile out(html.file);
    out.write(report_html(std::move(page)));
    out.commit();
}

}  // namespace whittle::cli
