#pragma once

#include "entries.hpp"
#include "whittle/message/part.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace whittle::inline v0::logs {

/// The system text and the tools of a session of pi, which its messages of the system change step by step.
class PiPrompt {
public:
    /// More text, sections by name and tools; null takes a section out.
    void change(const ordered_json& message);
    /// What a compaction keeps of it stands in place of all in front.
    void begin_with(const ordered_json& message);

    [[nodiscard]] std::string text() const;
    [[nodiscard]] std::vector<ToolSpec> tools() const;

private:
    template <typename Value>
    struct Named {
        std::size_t order = 0;
        Value value{};
    };

    void change_sections(const ordered_json& sections);
    void change_tools(const ordered_json& message);

    std::vector<std::string> texts_{};
    std::map<std::string, Named<std::string>, std::less<>> sections_{};
    std::map<std::string, Named<ToolSpec>, std::less<>> tools_{};
    std::size_t next_ = 0;
};

}  // namespace whittle::inline v0::logs
