#include "whittle/trimming/detail/result_class.hpp"

#include "whittle/base/text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

// What a command line prints. Shells differ; this is the part that bash, zsh and PowerShell share.

namespace whittle::inline v0::detail {

namespace {

constexpr int deepest_shell = 3;  // bash -c "bash -c '...'"

constexpr std::string_view readers =
    "cat bat nl sed head tail less more awk type gc xxd strings jq diff view open tac cut get-content"
    " git-show git-diff git-blame yq";
constexpr std::string_view searchers = "grep egrep fgrep rg ag ack git-grep select-string findstr zgrep";
constexpr std::string_view listers = "ls find fd tree dir get-childitem gci git-ls-files git-status du wc stat";
constexpr std::string_view editors =
    "apply_patch applypatch patch tee mv cp mkdir rm touch chmod git-add git-commit git-checkout set-content"
    " add-content out-file new-item";
constexpr std::string_view silent =
    "cd echo printf pwd true set export pushd popd write-output write-host sleep do done for then fi if { } ("
    " ) push-location set-location";
constexpr std::string_view prefixes = "sudo env time command nohup exec rtk do then { (";
constexpr std::string_view shells = "bash sh zsh pwsh powershell";

ResultClass class_of_verb(std::string_view verb) noexcept {
    if (is_word_of(verb, readers)) return ResultClass::read;
    if (is_word_of(verb, searchers)) return ResultClass::search;
    if (is_word_of(verb, listers)) return ResultClass::listing;
    return is_word_of(verb, editors) ? ResultClass::edit : ResultClass::shell;
}

/// The word behind "<<" that ends a here-document; empty if the line starts none.
std::string_view here_document_of(std::string_view line) noexcept {
    std::size_t at = line.find("<<");
    if (at == std::string_view::npos || line.substr(at).starts_with("<<<")) return {};
    at += 2;
    if (at < line.size() && line[at] == '-') ++at;
    while (at < line.size() && (line[at] == ' ' || line[at] == '\t')) ++at;
    if (at < line.size() && (line[at] == '\'' || line[at] == '"')) ++at;
    std::size_t end = at;
    while (end < line.size() && is_ident_char(line[end])) ++end;
    return line.substr(at, end - at);
}

std::string without_here_documents(std::string_view command_line) {
    std::string left;
    std::string_view end;
    for (const std::string_view line : split_lines(command_line)) {
        if (!end.empty()) {
            if (trim_view(line) == end) end = {};
            continue;
        }
        left.append(line).append("\n");
        end = here_document_of(line);
    }
    return left;
}

/// One word, quoted text or operator from `at` on; moves `at` behind it. Empty at the end. `is_open`: a quote was found
/// that nothing closes; none is looked for again.
std::string_view next_token(std::string_view text, std::size_t& at, bool& is_open) noexcept {
    constexpr std::string_view enders = " \t\r\n\f\v;|&'\">";
    while (at < text.size()) {
        const std::size_t start = at;
        const char c = text[at];
        if (c == '\'') {
            const std::size_t end = text.find('\'', at + 1);
            if (end != std::string_view::npos) return at = end + 1, text.substr(start, at - start);
        } else if (c == '"' && !is_open) {
            std::size_t end = at + 1;
            while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
            if (end < text.size()) return at = end + 1, text.substr(start, at - start);
            is_open = true;
        } else if (c == '&' || c == '|' || c == '>') {
            at += text.substr(at).starts_with(std::array{c, c, '\0'}.data()) ? 2 : 1;
            return text.substr(start, at - start);
        } else if (c == ';' || c == '\n') {
            return ++at, text.substr(start, 1);
        } else if (enders.find(c) == std::string_view::npos) {
            at = std::min(text.find_first_of(enders, at), text.size());
            return text.substr(start, at - start);
        }
        ++at;  // white space, or a quote that nothing closes
    }
    return {};
}

std::string_view unquoted(std::string_view word) noexcept {
    while (!word.empty() && (word.front() == '\'' || word.front() == '"')) word.remove_prefix(1);
    while (!word.empty() && (word.back() == '\'' || word.back() == '"')) word.remove_suffix(1);
    return word;
}

bool sets_variable(std::string_view word) noexcept {
    const std::size_t start = word.starts_with('$') ? 1 : 0;
    std::size_t end = start;
    while (end < word.size() && is_ident_char(word[end])) ++end;
    return end > start && end < word.size() && word[end] == '=';
}

/// The classes that the commands of one line have.
class CommandLine {
public:
    void read(std::string_view command_line, int depth) {
        const std::string text = without_here_documents(command_line);
        bool is_first = true;  // of its pipeline
        std::size_t at = 0;
        bool is_open = false;
        for (;;) {
            const std::string_view token = next_token(text, at, is_open);
            const bool ends = token.empty() || token == "&&" || token == "||" || token == ";" || token == "\n";
            if (!ends && token != "|") {
                words_.push_back(token);
                continue;
            }
            if (is_first) close(depth);
            is_first = token != "|";
            words_.clear();
            if (token.empty()) return;
        }
    }

    [[nodiscard]] ResultClass result() const noexcept {
        for (const ResultClass c : {ResultClass::read, ResultClass::search, ResultClass::listing, ResultClass::shell})
            if (found_[static_cast<std::size_t>(c)]) return c;
        return found_[static_cast<std::size_t>(ResultClass::edit)] ? ResultClass::edit : ResultClass::shell;
    }

private:
    void add(ResultClass c) noexcept { found_[static_cast<std::size_t>(c)] = true; }

    void drop_prefixes() {
        auto first = words_.begin();
        while (first != words_.end()) {
            const bool is_timeout = *first == "timeout";
            if (!is_timeout && !is_word_of(ascii_lower(*first), prefixes) && !sets_variable(*first)) break;
            first += is_timeout && words_.end() - first > 1 ? 2 : 1;
        }
        words_.erase(words_.begin(), first);
    }

    [[nodiscard]] bool has(std::string_view word) const noexcept {
        return std::ranges::find(words_, word) != words_.end();
    }

    void close(int depth) {
        drop_prefixes();
        if (words_.empty()) return;
        std::string verb = ascii_lower(unquoted(words_.front()));
        verb.erase(0, verb.rfind('/') + 1);
        if (is_word_of(verb, silent)) return;
        if (verb == "git") return add(class_of_git());
        const bool is_shell = is_word_of(verb, shells) && words_.size() > 2 && depth < deepest_shell;
        const std::string option = is_shell ? ascii_lower(words_[1]) : std::string();
        if (option == "-c" || option == "-lc" || option == "-command") {
            const std::string inner(unquoted(words_[2]));
            CommandLine nested;
            nested.read(inner, depth + 1);
            return add(nested.result());
        }
        add(class_of(verb));
    }

    [[nodiscard]] ResultClass class_of(std::string_view verb) const noexcept {
        const ResultClass c = class_of_verb(verb);
        const bool is_in_place =
            verb == "sed" && std::ranges::any_of(words_, [](std::string_view word) { return word.starts_with("-i"); });
        return c == ResultClass::read && (is_in_place || writes_file()) ? ResultClass::edit : c;
    }

    /// Whether what it prints goes to a file: not where only its errors do.
    [[nodiscard]] bool writes_file() const noexcept {
        for (std::size_t i = 1; i + 1 < words_.size(); ++i) {
            const bool is_redirection = words_[i] == ">" || words_[i] == ">>";
            const bool is_of_errors = words_[i - 1] == "2" || words_[i + 1] == "&" || words_[i + 1] == "/dev/null";
            if (is_redirection && !is_of_errors) return true;
        }
        return false;
    }

    [[nodiscard]] ResultClass class_of_git() const {
        std::size_t at = 1;
        while (at < words_.size() && words_[at].starts_with('-'))
            at += words_[at] == "-C" || words_[at] == "-c" ? 2 : 1;
        if (at >= words_.size()) return ResultClass::shell;
        const std::string verb = "git-" + ascii_lower(words_[at]);
        const bool names_only = has("--stat") || has("--name-only") || has("--name-status");
        if ((verb == "git-diff" || verb == "git-show") && names_only) return ResultClass::listing;
        return class_of(verb);
    }

    std::vector<std::string_view> words_{};
    std::array<bool, 6> found_{};
};

}  // namespace

ResultClass class_of_command(std::string_view command_line) {
    CommandLine line;
    line.read(command_line, 0);
    return line.result();
}

}  // namespace whittle::inline v0::detail
