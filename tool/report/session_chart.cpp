#include "session_chart.hpp"

#include "markup.hpp"
#include "svg_document.hpp"
#include "table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace whittle::cli {
namespace {

constexpr std::string_view style =
    ".everything { fill: #d5d8dc; stroke: #8a8f96; stroke-width: 1.2 } .everything_text { fill: #5f656c }\n"
    ".sent { fill: #8fd3b8; stroke: #0a7d5a; stroke-width: 1.6 } .sent_text { fill: #0a5c43; font-weight: 600 }\n";
constexpr std::string_view dark_style =
    "  .everything { fill: #34393f; stroke: #8b9096 } .everything_text { fill: #b4bac1 }\n"
    "  .sent { fill: #1c5a45; stroke: #4fc79b } .sent_text { fill: #7fdcb8 }\n";

/// Between two lines of the axis: a round number, so that there are at most five.
double axis_step(double most) {
    const double rough = most / 4;
    const double power = std::pow(10.0, std::floor(std::log10(rough)));
    for (const double factor : {1.0, 2.0, 2.5, 5.0}) {
        if (factor * power >= rough * 0.999) return factor * power;
    }
    return 10 * power;
}

class Chart {
public:
    explicit Chart(const SessionReport& session_report)
        : session_report_(session_report),
          calls_(session_report.calls),
          number_(static_cast<double>(std::max<std::size_t>(calls_.size(), 1))) {
        for (const ReportedCall& call : calls_) most_ = std::max({most_, call.recorded.tokens, call.sent.tokens});
    }

    [[nodiscard]] std::string svg() const {
        const std::string title =
            fmt::format("Input tokens of each request: {} in all, in place of {}",
                        grouped(sum_of_sent(session_report_).tokens), grouped(sum_of_recorded(session_report_).tokens));
        const std::string chain = escaped_markup(session_report_.chain);
        std::string body = fmt::format("<text class=\"title\" x=\"{:.0f}\" y=\"20\">{}</text>\n", left, title);
        body += legend(left, "everything", "without whittle");
        body += legend(left + 140, "sent", chain);
        body += axes() + area("everything", &ReportedCall::recorded) + area("sent", &ReportedCall::sent);
        const std::string label = fmt::format("{}. {} calls, {}", title, calls_.size(), chain);
        return svg_document(
            {.width = width, .height = height, .label = label, .style = style, .dark_style = dark_style}, body);
    }

private:
    /// Sizes in pixels.
    static constexpr double width = 760;
    static constexpr double height = 300;
    static constexpr double left = 62;
    static constexpr double right = 16;
    static constexpr double top = 46;
    static constexpr double bottom = 40;
    static constexpr double low = height - bottom;

    [[nodiscard]] double x_of(std::size_t call) const {
        return left + (width - left - right) * static_cast<double>(call) / number_;
    }
    [[nodiscard]] double y_of(double tokens) const { return low - (low - top) * tokens / static_cast<double>(most_); }

    static std::string legend(double x, std::string_view kind, std::string_view meaning) {
        return fmt::format(
            "<rect class=\"{0}\" x=\"{1:.0f}\" y=\"28\" width=\"10\" height=\"10\"/>"
            "<text class=\"{0}_text\" x=\"{2:.0f}\" y=\"37\">{3}</text>\n",
            kind, x, x + 15, meaning);
    }

    [[nodiscard]] std::string axes() const {
        std::string text;
        const double step = axis_step(static_cast<double>(most_));
        for (double tokens = 0; tokens <= static_cast<double>(most_) * 1.001; tokens += step)
            text += fmt::format(
                "<line class=\"grid\" x1=\"{0:.0f}\" x2=\"{1:.0f}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/>"
                "<text class=\"tick\" text-anchor=\"end\" x=\"{3:.0f}\" y=\"{4:.1f}\">{5}</text>\n",
                left, width - right, y_of(tokens), left - 7, y_of(tokens) + 4,
                grouped(static_cast<std::int64_t>(std::llround(tokens))));
        const std::size_t every = std::max<std::size_t>(1, static_cast<std::size_t>(axis_step(number_)));
        for (std::size_t call = every; call <= calls_.size(); call += every)
            text += fmt::format("<text class=\"tick\" text-anchor=\"middle\" x=\"{:.1f}\" y=\"{:.0f}\">{}</text>\n",
                                (x_of(call - 1) + x_of(call)) / 2, low + 15, grouped(static_cast<std::int64_t>(call)));
        return text +
               fmt::format("<text class=\"tick\" text-anchor=\"middle\" x=\"{:.0f}\" y=\"{:.0f}\">model call</text>\n",
                           (width + left - right) / 2, low + 31);
    }

    /// A step for each call.
    [[nodiscard]] std::string area(std::string_view kind, ReportedCost ReportedCall::*side) const {
        std::string path = fmt::format("M{:.1f} {:.1f}", x_of(0), low);
        for (std::size_t i = 0; i < calls_.size(); ++i)
            path += fmt::format("V{:.1f}H{:.1f}", y_of(static_cast<double>((calls_[i].*side).tokens)), x_of(i + 1));
        return fmt::format("<path class=\"{}\" d=\"{}V{:.1f}Z\"/>\n", kind, path, low);
    }

    const SessionReport& session_report_;
    const std::vector<ReportedCall>& calls_;  // of it
    double number_;                           // of calls, at least 1
    std::int64_t most_ = 1;                   // tokens of one request
};

}  // namespace

std::string session_chart(const SessionReport& session_report) { return Chart(session_report).svg(); }

}  // namespace whittle::cli
