#include "write_report.hpp"

#include "masked.hpp"
#include "output.hpp"

#include <string>
#include <utility>

namespace whittle::cli {

void write_report(ReportPage&& page, const HtmlChoice& html) {
    page.text_bytes = html.text_bytes;
    page.is_masked = !are_secrets_shown();
    const std::string text = report_html(std::move(page));
    OutputFile out(html.file);
    out.write(text);
    out.commit();
    if (html.file != "-") complain("wrote " + html.file);
}

}  // namespace whittle::cli
