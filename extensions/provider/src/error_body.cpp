#include "whittle/provider/detail/error_body.hpp"

#include "whittle/base/detail/ascii.hpp"
#include "whittle/provider/detail/retry_after.hpp"

#include "whittle/base/text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <utility>

namespace whittle::inline v0::detail {
namespace {

using Json = nlohmann::json;

constexpr std::size_t most_json_bytes = 1'048'576;
constexpr std::size_t most_text_bytes = 16'384;  // of a message
constexpr std::size_t most_nodes = 64;
constexpr std::size_t most_documents = 8;
constexpr int most_levels = 32;

constexpr std::size_t most_messages = 8;
constexpr std::size_t most_words = 32;

constexpr std::array<std::string_view, 6> word_keys{"code", "type", "status", "reason", "__type", "error_code"};
constexpr std::array<std::string_view, 7> message_keys{
    "message", "error", "msg", "detail", "error_msg", "error_message", "error_description"};
constexpr std::array<std::string_view, 10> child_keys{"error", "errors",   "detail", "details",  "message",
                                                      "raw",   "metadata", "cause",  "response", "innererror"};
constexpr std::array<std::string_view, 3> id_keys{"request_id", "requestId", "requestID"};

bool looks_like_json(std::string_view text) {
    text = trim_view(text);
    return !text.empty() && (text.front() == '{' || text.front() == '[' || text.front() == '"');
}

/// A status that was sent as text.
bool is_status(std::string_view text) { return text.size() == 3 && std::all_of(text.begin(), text.end(), is_digit); }

bool looks_like_html(std::string_view text) {
    const std::string start = ascii_lower(trim_view(text).substr(0, 1'024));
    return start.starts_with("<!doctype html") || start.find("<html") != std::string::npos;
}

/// Values deeper than `most_levels` are left out; text that is no JSON gives a discarded value.
Json parse(std::string_view text) {
    const auto keep = [](int depth, Json::parse_event_t, Json&) { return depth <= most_levels; };
    return Json::parse(text.begin(), text.end(), keep, false);
}

/// An object or array, perhaps as JSON in a string of JSON; else a discarded value.
Json parse_document(std::string_view text) {
    Json document = is_valid_utf8(text) ? parse(text) : parse(to_valid_utf8(text));
    while (document.is_string()) {
        const auto inner = document.get<std::string>();  // at least the quotes shorter
        document = looks_like_json(inner) ? parse(inner) : Json(Json::value_t::discarded);
    }
    return document.is_structured() ? document : Json(Json::value_t::discarded);
}

/// Goes through the values of interest, outermost first.
class Search {
public:
    explicit Search(ErrorBody& found) : found_(found) {}

    bool add_document(std::string_view text) {
        if (documents_.size() == most_documents || text.size() > most_json_bytes || !looks_like_json(text))
            return false;
        Json document = parse_document(text);
        if (document.is_discarded()) return false;
        add_node(documents_.emplace_back(std::move(document)));
        return true;
    }

    void run() {
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            if (nodes_[i]->is_array()) {
                for (const Json& item : *nodes_[i]) add_value({}, item);
            } else {
                for (const auto& [key, value] : nodes_[i]->items()) add_value(key, value);
            }
        }
    }

private:
    void add_node(const Json& node) {
        if (nodes_.size() < most_nodes) nodes_.push_back(&node);
    }

    void add_value(std::string_view key, const Json& value) {
        if (value.is_structured()) {
            if (key.empty() || is_one_of(key, child_keys)) add_node(value);
        } else if (const auto* text = value.get_ptr<const Json::string_t*>()) {
            add_text(key, *text);
        } else if (value.is_number_integer()) {
            add_number(key, value.get<std::int64_t>());
        }
    }

    void add_text(std::string_view key, const std::string& text) {
        if (is_blank(text)) return;
        if (is_status(text)) add_number(key, std::stoi(text));
        if (is_one_of(key, word_keys) && found_.words.size() < most_words)
            found_.words.push_back(ascii_lower(grapheme_prefix(text, 100)));
        if (is_one_of(key, id_keys) && found_.request_id.empty()) found_.request_id = one_line(text, 100);
        if (key == "retryDelay") found_.retry_delay = read_seconds(text);
        if (!key.empty() && !is_one_of(key, message_keys) && !is_one_of(key, child_keys)) return;
        if (!add_document(text) && found_.messages.size() < most_messages)
            found_.messages.emplace_back(grapheme_prefix(text, most_text_bytes));
    }

    void add_number(std::string_view key, std::int64_t number) {
        if ((key == "code" || key == "status" || key == "statusCode") && number >= 100 && number < 600)
            found_.code = number;
        if (key == "n_prompt_tokens") found_.prompt_tokens = std::max<std::int64_t>(number, 0);
        if (key == "n_ctx") found_.context_size = std::max<std::int64_t>(number, 0);
    }

    ErrorBody& found_;
    std::deque<Json> documents_{};  // a deque: the nodes point into it
    std::vector<const Json*> nodes_{};
};

std::string title_of(std::string_view html) {
    html = html.substr(0, most_text_bytes);
    const std::string lower = ascii_lower(html);
    const std::size_t tag = lower.find("<title");
    const std::size_t begin = lower.find('>', std::min(tag, lower.size()));
    const std::size_t end = lower.find("</title", std::min(begin, lower.size()));
    if (end == std::string::npos) return {};
    return std::string(html.substr(begin + 1, end - begin - 1));
}

void read_page(std::string_view body, ErrorBody& found) {
    found.kind = ErrorBody::Kind::html;
    const std::string title = title_of(body);
    found.messages.push_back(is_blank(title) ? "an HTML page" : "an HTML page: " + title);
}

}  // namespace

ErrorBody read_error_body(std::string_view body) {
    ErrorBody found;
    if (is_blank(body)) return found;
    Search search(found);
    if (search.add_document(body)) {
        found.kind = ErrorBody::Kind::json;
        search.run();
        if (found.messages.empty() && found.words.empty()) found.messages.emplace_back(grapheme_prefix(body, 200));
    } else if (looks_like_html(body)) {
        read_page(body, found);
    } else {
        found.kind = ErrorBody::Kind::text;
        found.messages.emplace_back(grapheme_prefix(body, most_text_bytes));
    }
    return found;
}

std::string one_line(std::string_view text, std::size_t max_bytes) {
    std::string line;
    bool is_gap = false;
    for (const char c : to_valid_utf8(grapheme_prefix(text, 8 * max_bytes))) {
        if (is_space(c) || static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
            is_gap = !line.empty();
            continue;
        }
        if (std::exchange(is_gap, false)) line += ' ';
        line += c;
    }
    line.resize(grapheme_prefix(line, max_bytes).size());
    return line;
}

}  // namespace whittle::inline v0::detail
