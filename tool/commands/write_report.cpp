#include "write_report.hpp"

#include "bills.hpp"
#include "command_line.hpp"
#include "masked.hpp"
#include "output.hpp"
#include "whittle/base/version.hpp"

#include <ctime>
#include <string>
#include <utility>

namespace whittle::cli {

void write_report(ReportPage&& page, const HtmlChoice& html) {
    page.text_bytes = html.text_bytes;
    page.is_masked = !are_secrets_shown();
    page.origin = {.command = command_line(),
                   .date = local_day_of(static_cast<double>(std::time(nullptr))),
                   .version = "whittle " WHITTLE_VERSION_STRING};
    const std::string text = report_html(std::move(page));
    OutputFile out(html.file);
    out.write(text);
    out.commit();
    if (html.file != "-") print_note("wrote " + html.file);
}

}  // namespace whittle::cli
