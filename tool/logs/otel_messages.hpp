#pragma once

#include "otel_attributes.hpp"
#include "records.hpp"

namespace whittle::inline v0::logs {

/// Messages of a model call in the attributes that instrumentations write, as chat messages.
class OtelMessages {
public:
    OtelMessages(const LogOptions& options, LogNotes& notes) : options_(options), notes_(notes) {}

    /// What was sent; null: none in a place that is known.
    [[nodiscard]] ordered_json sent(const OtelAttributes& attributes) const;
    /// What came back; an array.
    [[nodiscard]] ordered_json replies(const OtelAttributes& attributes) const;
    /// The system text that stands apart; null if there is none.
    [[nodiscard]] ordered_json system(const OtelAttributes& attributes) const;

private:
    /// Where one side of a call may stand.
    struct Places {
        const char* convention;     ///< GenAI conventions
        const char* indexed;        ///< OpenLLMetry, with a number and a field behind it
        const char* openinference;  ///< the same of OpenInference
    };

    [[nodiscard]] ordered_json recorded_in(const OtelAttributes& attributes, const Places& places) const;
    [[nodiscard]] ordered_json tree(const ordered_json& value) const;
    [[nodiscard]] ordered_json parts_of(const ordered_json& message) const;
    void append_content(const ordered_json& content, ordered_json& parts) const;
    [[nodiscard]] ordered_json to_chat(const ordered_json& list, std::string_view default_role) const;
    void append_chat(const ordered_json& recorded, std::string_view default_role, ordered_json& messages) const;

    const LogOptions& options_;
    mutable ValueBudget values_{};  // in texts
    LogNotes& notes_;
};

}  // namespace whittle::inline v0::logs
