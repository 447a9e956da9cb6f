#include "comparison.hpp"
#include "markup.hpp"
#include "svg_document.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace whittle::cli {
namespace {

/// A strategy in one group of sessions.
struct Dot {
    std::string label{};
    double possible = 0.0;  // share of the edits
    double cost = 0.0;      // C*/C0
    bool is_chain = false;
    bool is_best = false;  // nothing is both cheaper and shows as much
};

/// Where a label stands: the middle of the end that is next to its dot.
struct LabelPlace {
    double x = 0.0;
    double y = 0.0;
    bool ends_there = false;  // it stands on the left
};

/// Sizes in pixels.
constexpr double panel_width = 460;
constexpr double panel_height = 430;
constexpr double left = 52;
constexpr double right = 16;
constexpr double edge = 10;  // behind the last panel, for the half of its "100 %"
constexpr double top = 40;
constexpr double bottom = 44;
constexpr double label_height = 13;
constexpr double letter_width = 6.4;
constexpr double label_gap = 9;
constexpr double max_cost_shown = 1.1;  // what costs more stands at the upper edge, with its number

/// Of the edits whose old text was shown up to 30 calls before.
double share_possible(const evaluation::Summary& summary) {
    constexpr std::size_t without_oldest = evaluation::edit_ages - 1;
    const evaluation::EditCount count = summary.edits_of(0, without_oldest);
    return count.needed == 0 ? 1.0 : static_cast<double>(count.possible) / static_cast<double>(count.needed);
}

std::vector<Dot> dots_of(const Comparison& comparison, std::string_view stratum) {
    std::vector<Dot> dots;
    const std::vector<std::string> labels = labels_of(comparison.strategies);
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const ComparedStrategy& strategy = comparison.strategies[i];
        for (const ComparedRow& row : rows_of(comparison, strategy)) {
            if (row.stratum != stratum) continue;
            dots.push_back({.label = labels[i],
                            .possible = share_possible(row.summary),
                            .cost = row.summary.money.front().with_refetches.median,
                            .is_chain = strategy.type == "chain"});
        }
    }
    for (Dot& dot : dots) {
        dot.is_best = std::ranges::none_of(dots, [&](const Dot& other) {
            return other.possible >= dot.possible && other.cost <= dot.cost &&
                   (other.possible > dot.possible || other.cost < dot.cost);
        });
    }
    return dots;
}

/// Finds places for labels beside dots, none over another or over a dot.
class LabelPlaces {
public:
    explicit LabelPlaces(std::vector<std::pair<double, double>> dots) {
        for (const auto& [x, y] : dots) taken_.push_back({x - 5, x + 5, y - 5, y + 5});
    }

    LabelPlace place(double x, double y, double width) {
        LabelPlace best{x + label_gap, y, false};
        for (int step = 0; step < 40; ++step) {
            const double shift = (step % 2 == 0 ? 1 : -1) * ((step + 1) / 2) * label_height / 2;
            for (const bool ends_there : {false, true}) {
                const LabelPlace place{ends_there ? x - label_gap : x + label_gap, y + shift, ends_there};
                const Box box = box_of(place, width);
                if (box.x0 < left || box.x1 > panel_width || box.y0 < top - label_height ||
                    box.y1 > panel_height - bottom)
                    continue;
                if (std::ranges::any_of(taken_, [&](const Box& other) { return overlaps(box, other); })) continue;
                taken_.push_back(box);
                return place;
            }
        }
        return best;
    }

private:
    struct Box {
        double x0, x1, y0, y1;
    };
    static Box box_of(const LabelPlace& place, double width) {
        const double x = place.ends_there ? place.x - width : place.x;
        return {x, x + width, place.y - label_height / 2, place.y + label_height / 2};
    }
    static bool overlaps(const Box& a, const Box& b) {
        return a.x0 < b.x1 && b.x0 < a.x1 && a.y0 < b.y1 && b.y0 < a.y1;
    }

    std::vector<Box> taken_{};
};

/// One group of sessions as a chart: to the right and down is better.
class Panel {
public:
    Panel(std::string title, std::vector<Dot> dots, double x)
        : title_(std::move(title)), dots_(std::move(dots)), x_(x) {
        for (Dot& dot : dots_) {
            least_possible_ = std::min(least_possible_, std::floor(dot.possible * 10.0) / 10.0);
            min_cost_ = std::min(min_cost_, std::floor(dot.cost * 10.0 - 0.5) / 10.0);
            if (dot.cost > max_cost_shown) dot.label += fmt::format(" ({:.2f})", dot.cost);
        }
        std::ranges::stable_sort(dots_, [](const Dot& a, const Dot& b) { return a.is_chain > b.is_chain; });
    }

    [[nodiscard]] std::string svg() const {
        return fmt::format(
                   "<g transform=\"translate({:.0f} 0)\">\n<text class=\"title\" x=\"{:.0f}\" y=\"22\">{}</text>\n", x_,
                   left, escaped_markup(title_)) +
               axes() + frontier() + marks() + "</g>\n";
    }

private:
    [[nodiscard]] double x_of(double share) const {
        return left + (share - least_possible_) / (1.0 - least_possible_) * (panel_width - left - right);
    }
    [[nodiscard]] double y_of(double cost) const {
        const double share = (max_cost_shown - std::min(cost, max_cost_shown)) / (max_cost_shown - min_cost_);
        return top + share * (panel_height - top - bottom);
    }

    [[nodiscard]] std::string axes() const {
        std::string text;
        const double low = panel_height - bottom;
        for (double share = least_possible_; share < 1.05; share += least_possible_ < 0.5 ? 0.2 : 0.1) {
            text += fmt::format(
                "<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.0f}\" y2=\"{2:.0f}\"/>"
                "<text class=\"tick\" text-anchor=\"middle\" x=\"{0:.1f}\" y=\"{3:.0f}\">{4:.0f} %</text>\n",
                x_of(std::min(share, 1.0)), top, low, low + 15, std::min(share, 1.0) * 100.0);
        }
        for (double cost = min_cost_; cost < max_cost_shown + 0.05; cost += 0.1) {
            text += fmt::format(
                "<line class=\"grid\" x1=\"{1:.0f}\" x2=\"{2:.0f}\" y1=\"{0:.1f}\" y2=\"{0:.1f}\"/>"
                "<text class=\"tick\" text-anchor=\"end\" x=\"{3:.0f}\" y=\"{4:.1f}\">{5:.1f}</text>\n",
                y_of(cost), left, panel_width - right, left - 6, y_of(cost) + 4, cost);
        }
        return text + fmt::format(
                          "<text class=\"tick\" text-anchor=\"middle\" x=\"{:.0f}\" y=\"{:.0f}\">edits "
                          "possible whose text was shown up to 30 calls before</text>\n",
                          (panel_width + left - right) / 2, low + 34);
    }

    [[nodiscard]] std::string frontier() const {
        std::vector<const Dot*> best;
        for (const Dot& dot : dots_) {
            if (dot.is_best) best.push_back(&dot);
        }
        std::ranges::stable_sort(best, {}, &Dot::possible);
        std::vector<std::string> points;
        for (const Dot* dot : best)
            points.push_back(fmt::format("{:.1f},{:.1f}", x_of(dot->possible), y_of(dot->cost)));
        return fmt::format("<polyline class=\"frontier\" points=\"{}\"/>\n", fmt::join(points, " "));
    }

    [[nodiscard]] std::string marks() const {
        std::vector<std::pair<double, double>> places;
        for (const Dot& dot : dots_) places.emplace_back(x_of(dot.possible), y_of(dot.cost));
        LabelPlaces labels(places);
        std::string text;
        for (const Dot& dot : dots_) {
            const double x = x_of(dot.possible);
            const double y = y_of(dot.cost);
            const LabelPlace label = labels.place(x, y, letter_width * static_cast<double>(dot.label.size()));
            text += fmt::format(
                "<g class=\"{}\"><title>{}: C*/C0 {:.3f}, {:.1f} % of edits</title>"
                "<line class=\"leader\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>"
                "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\"/>"
                "<text text-anchor=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text></g>\n",
                dot.is_chain ? "chain" : "control", escaped_markup(dot.label), dot.cost, dot.possible * 100.0, x, y,
                label.x, label.y, x, y, dot.is_chain ? 5 : 3.5, label.ends_there ? "end" : "start", label.x,
                label.y + 4, escaped_markup(dot.label));
        }
        return text;
    }

    std::string title_;
    std::vector<Dot> dots_;
    double x_;
    double least_possible_ = 0.9;
    double min_cost_ = 0.9;
};

constexpr std::string_view style =
    ".leader { stroke: #aaa; stroke-width: .6 }\n"
    ".frontier { fill: none; stroke: #0a7d5a; stroke-width: 1.2; stroke-dasharray: 4 3 }\n"
    ".control text, .chain text { paint-order: stroke; stroke: #fff; stroke-width: 3px }\n"
    ".control circle { fill: #8a8a8a } .control text { fill: #555 }\n"
    ".chain circle { fill: #0a7d5a } .chain text { fill: #0a5c43; font-weight: 600 }\n";
constexpr std::string_view dark_style =
    "  .leader { stroke: #666 } .frontier { stroke: #4fc79b }\n"
    "  .control text, .chain text { stroke: #16181b }\n"
    "  .control circle { fill: #8b9096 } .control text { fill: #aab0b6 }\n"
    "  .chain circle { fill: #4fc79b } .chain text { fill: #7fdcb8 }\n";

}  // namespace

std::string comparison_svg(const Comparison& comparison) {
    std::string panels;
    double width = 0.0;
    const auto add = [&](std::string_view stratum) {
        std::vector<Dot> dots = dots_of(comparison, stratum);
        if (dots.empty()) return;
        const std::string title =
            fmt::format("{}: cost, all sent is 1, {}", stratum, comparison.profiles.front().cache.name);
        panels += Panel(title, std::move(dots), width).svg();
        width += panel_width;
    };
    add("over 100k");
    add("20k-100k");
    if (width == 0.0) add("all");
    return svg_document({.width = width + edge,
                         .height = panel_height,
                         .label = "What strategies cost, against what they leave in sight",
                         .style = style,
                         .dark_style = dark_style},
                        panels);
}

}  // namespace whittle::cli
