#include "report_page.hpp"

#include "markup.hpp"
#include "masked.hpp"
#include "report_assets.hpp"
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
            html += fmt::format("<div class=\"table\" role=\"region\" tabindex=\"0\" aria-label=\"{}\">\n",
                                text(table.caption)) +
                    table.table.html(table.caption, [&](const std::string& cell) { return visible(cell); }) +
                    "</div>\n";
            if (!table.note.empty()) html += fmt::format("<p class=\"note\">{}</p>\n", text(table.note));
        }
        return html;
    }

    /// The script fills what it finds between the figures and the tables.
    [[nodiscard]] std::string session(const ReportSession& session, std::size_t number) const {
        const std::string id = fmt::format("session-{}", number + 1);
        return fmt::format(
                   "<section class=\"session\" id=\"{0}\" aria-labelledby=\"{0}-title\">\n"
                   "<h2 id=\"{0}-title\">{1}</h2>\n<p class=\"facts\">{2}</p>\n",
                   id, text(session.id.empty() ? "Session" : session.id), text(session.facts)) +
               (session.verdict.empty() ? "" : fmt::format("<p class=\"verdict\">{}</p>\n", text(session.verdict))) +
               figures(session.figures) + "<div class=\"stage\"></div>\n" + tables(session.tables) +
               fmt::format("<script type=\"application/json\" class=\"story\">{}</script>\n",
                           story_data(session.story)) +
               "</section>\n";
    }

private:
    [[nodiscard]] std::string visible(std::string_view plain) const {
        return shown(is_masked_ ? masked(plain) : std::string(plain));
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

}  // namespace

std::string report_html(ReportPage&& page) {
    std::vector<SessionStory*> stories;
    for (ReportSession& session : page.sessions) stories.push_back(&session.story);
    fit_stories(std::move(stories), static_cast<std::size_t>(page.text_bytes));
    const PageWriter writer(page.is_masked);
    std::string sessions;
    for (std::size_t i = 0; i < page.sessions.size(); ++i) sessions += writer.session(page.sessions[i], i);
    std::string notes;
    for (const std::string& note : page.notes)
        if (!note.empty()) notes += fmt::format("<p>{}</p>\n", writer.text(note));
    return filled(report_template, {{"policy", policy()},
                                    {"style", std::string(report_style)},
                                    {"script", std::string(report_script)},
                                    {"title", writer.text(page.title)},
                                    {"lead", writer.text(page.lead)},
                                    {"figures", writer.figures(page.figures)},
                                    {"sessions", std::move(sessions)},
                                    {"tables", writer.tables(page.tables)},
                                    {"notes", std::move(notes)}});
}

}  // namespace whittle::cli
