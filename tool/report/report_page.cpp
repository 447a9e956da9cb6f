#include "report_page.hpp"

#include "markup.hpp"
#include "masked.hpp"
#include "report_assets.hpp"
#include "report_rows.hpp"
#include "shown.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace whittle::cli {
namespace {

/// Makes HTML of what a page says.
class PageWriter {
public:
    explicit PageWriter(bool is_masked) : is_masked_(is_masked) {}

    /// As it is to be seen, between tags; what has several lines becomes one.
    [[nodiscard]] std::string text(std::string_view plain) const {
        std::string line(plain.substr(0, plain.find_last_not_of('\n') + 1));
        std::ranges::replace(line, '\n', ' ');
        return escaped_markup(visible(line));
    }

    /// With its lines as they are.
    [[nodiscard]] std::string lines(std::string_view plain) const {
        std::string html;
        while (!plain.empty()) {
            const std::size_t end = plain.find('\n');
            html += text(plain.substr(0, end)) + "\n";
            plain.remove_prefix(end == std::string_view::npos ? plain.size() : end + 1);
        }
        return html;
    }

    /// A paragraph for each line.
    [[nodiscard]] std::string paragraphs(std::string_view plain, std::string_view open) const {
        std::string html;
        while (!plain.empty()) {
            const std::size_t end = plain.find('\n');
            if (end != 0) html += fmt::format("<{}>{}</p>\n", open, text(plain.substr(0, end)));
            plain.remove_prefix(end == std::string_view::npos ? plain.size() : end + 1);
        }
        return html;
    }
    [[nodiscard]] std::string note(std::string_view plain) const { return paragraphs(plain, "p class=\"note\""); }

    [[nodiscard]] std::string figures(const std::vector<ReportFigure>& figures) const {
        if (figures.empty()) return "";
        std::string html = "<dl class=\"figures\">\n";
        for (const ReportFigure& figure : figures) {
            html += fmt::format("<div><dt>{}</dt><dd>{}{}</dd></div>\n", text(figure.label), text(figure.value),
                                figure.note.empty() ? "" : fmt::format("<small>{}</small>", text(figure.note)));
        }
        return html + "</dl>\n";
    }

    [[nodiscard]] std::string tables(const std::vector<ReportTable>& tables) const {
        std::string html;
        for (const ReportTable& table : tables) {
            if (table.table.empty()) continue;
            html += in_box(table.caption, "table",
                           table.table.html(table.caption, [&](const std::string& cell) { return visible(cell); })) +
                    note(table.note);
        }
        return html;
    }

    [[nodiscard]] std::string spending(const ReportPage& page) const {
        if (page.spending.empty()) return "";
        std::string html = bars(page.spending.front());
        if (page.spending.size() > 1) {
            html += "<div class=\"pair\">\n";
            for (std::size_t i = 1; i < page.spending.size(); ++i)
                html += "<div>\n" + bars(page.spending[i]) + "</div>\n";
            html += "</div>\n";
        }
        return html + note(page.spending_note);
    }

    /// The script draws the rows in front of their table.
    [[nodiscard]] std::string overview(const ReportOverview& all) const {
        if (all.rows.empty()) return "";
        const OverviewRows rows(all);
        std::string html = fmt::format(
            "<div class=\"overview\"></div>\n<div class=\"table all-box\" role=\"region\" tabindex=\"0\" "
            "aria-label=\"Table of all sessions\">\n<table class=\"all\" data-chain=\"{}\" data-base=\"{}\" "
            "data-unit=\"{}\">\n"
            "<thead>\n<tr>",
            text(all.chain), text(all.base), rows.has_dollars() ? "$" : "tokens");
        for (const OverviewCell& cell : rows.headings()) html += cell_html("th scope=\"col\"", "th", cell);
        html += "</tr>\n</thead>\n<tbody>\n";
        for (const OverviewLine& line : rows.lines()) {
            html += line.is_rest ? std::string("<tr class=\"sum\">")
                                 : fmt::format("<tr data-sent=\"{}\" data-under=\"{}\">", line.sent, line.under);
            for (std::size_t c = 0; c < line.cells.size(); ++c) {
                html += c == 0 ? name_html(line) : cell_html("td", "td", line.cells[c]);
            }
            html += "</tr>\n";
        }
        return html + "</tbody>\n</table>\n</div>\n" + note(all.note);
    }

    /// The script fills what it finds between the sentence and the tables.
    [[nodiscard]] std::string session(const ReportSession& session, std::size_t number) const {
        const std::string id = fmt::format("session-{}", number + 1);
        return fmt::format(
                   "<section class=\"session\" id=\"{0}\" aria-labelledby=\"{0}-title\">\n"
                   "<h3 id=\"{0}-title\" tabindex=\"-1\">{1}</h3>\n<p class=\"facts\">{2}</p>\n",
                   id, text(session.id.empty() ? "Session" : session.id), text(session.facts)) +
               (session.verdict.empty() ? "" : fmt::format("<p class=\"verdict\">{}</p>\n", text(session.verdict))) +
               "<div class=\"stage\"></div>\n" + tables(session.tables) +
               fmt::format("<script type=\"application/json\" class=\"session-data\">{}</script>\n",
                           session_report_data(session.session_report)) +
               "</section>\n";
    }

    [[nodiscard]] std::string sessions(const ReportPage& page) const {
        std::string html;
        for (std::size_t i = 0; i < page.sessions.size(); ++i) html += session(page.sessions[i], i);
        return html.empty() ? "" : note(page.sessions_note) + html;
    }

    [[nodiscard]] std::string next(const ReportPage& page) const {
        std::string html;
        if (!page.advice.empty()) html += fmt::format("<p class=\"verdict\">{}</p>\n", text(page.advice));
        if (!page.steps.empty()) html += "<ol class=\"steps\">\n";
        for (std::size_t i = 0; i < page.steps.size(); ++i) {
            const ReportStep& step = page.steps[i];
            html += fmt::format("<li><p>{}</p>\n", text(step.text));
            if (!step.paste.empty())
                html += fmt::format(
                    "<pre class=\"paste\" role=\"region\" tabindex=\"0\" aria-label=\"To copy, {} of {}\">{}</pre>\n",
                    i + 1, page.steps.size(), lines(step.paste));
            html += "</li>\n";
        }
        if (!page.steps.empty()) html += "</ol>\n";
        return html + origin(page.origin);
    }

private:
    [[nodiscard]] std::string visible(std::string_view plain) const {
        return shown(is_masked_ ? masked(plain) : std::string(plain));
    }

    [[nodiscard]] std::string in_box(std::string_view label, std::string_view kind, const std::string& html) const {
        return fmt::format("<div class=\"{}\" role=\"region\" tabindex=\"0\" aria-label=\"{}\">\n{}</div>\n", kind,
                           text(label), html);
    }

    [[nodiscard]] std::string cell_html(std::string_view open, std::string_view close, const OverviewCell& cell) const {
        return fmt::format("<{}{}>{}</{}>", open, cell.is_word ? " class=\"words\"" : "", text(cell.text), close);
    }

    /// With a link to where the session is shown.
    [[nodiscard]] std::string name_html(const OverviewLine& line) const {
        const std::string name = text(line.cells.front().text);
        if (!line.shown) return fmt::format("<th scope=\"row\">{}</th>", name);
        return fmt::format("<th scope=\"row\"><a href=\"#session-{}\">{}</a></th>", *line.shown + 1, name);
    }

    [[nodiscard]] std::string bars(const ReportBars& bars) const {
        std::string html = fmt::format(
            "<table class=\"bars\">\n<caption>{}</caption>\n<thead>\n<tr><th scope=\"col\">{}</th><td></td>"
            "<th scope=\"col\">{}</th><th scope=\"col\">share</th>{}</tr>\n</thead>\n<tbody>\n",
            text(bars.caption), text(bars.heading), text(bars.value_heading),
            bars.detail_heading.empty() ? "" : fmt::format("<th scope=\"col\">{}</th>", text(bars.detail_heading)));
        for (const ReportBar& bar : bars.rows) {
            html += fmt::format(
                "<tr><th scope=\"row\">{}</th><td class=\"bar\"><svg viewBox=\"0 0 100 10\" "
                "preserveAspectRatio=\"none\" aria-hidden=\"true\"><rect width=\"{:.2f}\" height=\"10\"/></svg></td>"
                "<td>{}</td><td>{}</td>{}</tr>\n",
                text(bar.label), share_of(bar.value, bars.longest), grouped(bar.value),
                bars.all > 0 ? fmt::format("{:.1f} %", share_of(bar.value, bars.all)) : "-",
                bars.detail_heading.empty() ? "" : fmt::format("<td>{}</td>", text(bar.detail)));
        }
        return in_box(bars.caption, "table", html + "</tbody>\n</table>\n") + note(bars.note);
    }

    static double share_of(std::int64_t part, std::int64_t whole) {
        return whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0.0;
    }

    [[nodiscard]] std::string origin(const ReportOrigin& origin) const {
        std::string html = "<dl class=\"made\">\n";
        const auto add = [&](std::string_view name, const std::string& value) {
            if (!value.empty()) html += fmt::format("<dt>{}</dt><dd>{}</dd>\n", name, text(value));
        };
        add("This report was made by", origin.command);
        add("on", origin.date);
        add("with", origin.version);
        return html + "</dl>\n";
    }

    bool is_masked_;
};

/// Puts values in place of the names between double braces in the template, each of which it has once.
std::string filled(std::string_view form, const std::vector<std::pair<std::string_view, std::string>>& values) {
    std::string out;
    while (true) {
        const std::size_t begin = form.find("{{");
        out += form.substr(0, begin);
        if (begin == std::string_view::npos) return out;
        const std::size_t end = form.find("}}", begin);
        const std::string_view name = form.substr(begin + 2, end - begin - 2);
        for (const auto& [known, value] : values) {
            if (known == name) out += value;
        }
        form.remove_prefix(end + 2);
    }
}

std::string policy() {
    return fmt::format(
        "default-src &#39;none&#39;; style-src &#39;sha256-{}&#39;; script-src &#39;sha256-{}&#39;; "
        "base-uri &#39;none&#39;; form-action &#39;none&#39;",
        report_style_sha256, report_script_sha256);
}

/// A part of the page with a heading, and its name among the contents.
struct PageSection {
    std::string_view id;
    std::string_view title;
    std::string html;
};

std::string contents_html(const std::vector<PageSection>& sections) {
    std::string html = "<nav aria-label=\"Contents\"><ul>\n";
    for (const PageSection& section : sections)
        if (!section.html.empty()) html += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", section.id, section.title);
    return html + "</ul></nav>\n";
}

std::string sections_html(const std::vector<PageSection>& sections) {
    std::string html;
    for (const PageSection& section : sections) {
        if (section.html.empty()) continue;
        html += fmt::format(
            "<section id=\"{0}\" aria-labelledby=\"{0}-title\">\n<h2 id=\"{0}-title\">{1}</h2>\n{2}</section>\n",
            section.id, section.title, section.html);
    }
    return html;
}

}  // namespace

std::string report_html(ReportPage&& page) {
    std::vector<SessionReport*> session_reports;
    for (ReportSession& session : page.sessions) session_reports.push_back(&session.session_report);
    fit_session_reports(std::move(session_reports), static_cast<std::size_t>(page.text_bytes));
    const PageWriter writer(page.is_masked);
    const std::vector<PageSection> sections{
        {"where", "Where the tokens went", writer.spending(page)},
        {"all", "All sessions", writer.overview(page.overview)},
        {"calls", page.sessions.size() == 1 ? "The session, call by call" : "Sessions, call by call",
         writer.sessions(page)},
        {"numbers", "In numbers", writer.tables(page.tables)},
        {"next", "What to do now", writer.next(page)}};
    std::string notes;
    for (const std::string& note : page.notes) notes += writer.paragraphs(note, "p");
    return filled(report_template, {{"policy", policy()},
                                    {"style", std::string(report_style)},
                                    {"script", std::string(report_script)},
                                    {"title", writer.text(page.title)},
                                    {"lead", writer.text(page.lead)},
                                    {"figures", writer.figures(page.figures)},
                                    {"units", writer.note(page.units)},
                                    {"nav", contents_html(sections)},
                                    {"sections", sections_html(sections)},
                                    {"notes", std::move(notes)}});
}

}  // namespace whittle::cli
