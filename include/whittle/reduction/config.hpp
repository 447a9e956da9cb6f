#pragma once

#include "whittle/chain/middleware.hpp"
#include "whittle/message/part.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace whittle::inline v0 {

/// Which calls' arguments are cleared too: none, all, or those of the named tools.
using ClearToolInputs = std::variant<bool, std::vector<std::string>>;

/// Settings for one tool; what is not set is inherited.
struct ToolReductionConfig {
    std::shared_ptr<Storage> backend{};                  ///< own storage for this tool's results
    std::optional<bool> skip_truncation{};               ///< wins for this tool over the middleware's own setting
    std::optional<bool> skip_clear{};                    ///< wins for this tool over the middleware's own setting
    std::optional<std::int64_t> max_length_for_trunc{};  ///< bytes of text that one result of this tool keeps
};

/// Settings of `Reduction`; docs/reduction.md explains them.
struct ReductionConfig {
    std::shared_ptr<Storage> backend{};  ///< own storage. Null: the chain's
    bool skip_truncation = false;        ///< do not shorten results when they return
    bool skip_clear = false;             ///< do not clear old tool rounds
    bool fit_image_and_byte_limits =
        false;  ///< keep requests within a provider's limits of images and bytes. See `PruningConfig`
    /// Name of the reading tool that notices mention, if the request lists it.
    std::string read_file_tool_name = "read_file";
    std::string root_dir{};                      ///< prefix of the keys of stored objects. Empty: the conversation's id
    std::int64_t max_length_for_trunc = 50'000;  ///< bytes of text that one result keeps
    std::int64_t max_tokens_for_trunc = 0;       ///< tokens that one result keeps, beside that limit in bytes; 0: off
    std::int64_t trunc_head_lines = 0;  ///< first lines of a truncated text, in half of the limit; 0: all of that half
    std::int64_t trunc_tail_lines = 0;  ///< last lines of a truncated text, in the other half; 0: all of that half
    std::vector<std::string> trunc_exclude_tools{};  ///< tools whose results are never truncated
    std::int64_t max_tokens_for_clear = 160'000;     ///< clearing is due above this many tokens
    double max_fraction_for_clear = 0.0;  ///< instead: above this part of the model's window, once it is known; 0: off
    /// Due above this part where it breaks no prompt cache: after a pause, or behind a commit of `trimming`; 0: off. It
    /// needs a stage with a schedule (`Trimming`) in front.
    double clear_fraction_if_cache_cold = 0.0;
    ClearToolInputs clear_tool_inputs = false;  ///< clear the arguments of cleared calls too: of all tools, or of these
    bool keep_failed = false;                   ///< do not clear results of failed calls. See `PartInfo::is_error`
    bool clear_failed_inputs = false;           ///< clear the arguments of failed calls too, once their rounds are old
    /// Newest replies that think whose thinking stays when clearing is due. That of the open tool loop stays anyway.
    /// Absent: no limit. With both limits a reply keeps its thinking while it is within both.
    std::optional<int> clear_thinking_keep_turns{};
    std::int64_t clear_thinking_keep_tokens = 0;  ///< tokens of newest thinking kept when clearing is due; 0: no limit
    int clear_retention_suffix_limit = 1;         ///< newest tool rounds kept; 0 is 1
    std::int64_t clear_at_least_tokens = 0;       ///< clear nothing unless this much gets free
    std::vector<std::string> clear_exclude_tools{};  ///< tools whose results are never cleared
    std::int64_t clear_target_tokens = 0;  ///< clear oldest first, until below this; 0: all that may be cleared
    double clear_target_fraction = 0.0;  ///< instead: down to this part of the model's window, once it is known; 0: off
    std::int64_t max_bytes_without_store = 0;  ///< bytes kept if nothing can be stored; 0: 8 x `max_length_for_trunc`
    /// Bytes of a written result held for a store that cannot stream; a longer one cannot be stored. Held in memory:
    /// see `Storage::open_writer`.
    std::int64_t max_buffered_bytes_for_store = 64LL << 20;
    std::map<std::string, ToolReductionConfig> tool_config{};  ///< settings by tool name
};

/// The store for results of `tool`: its own, the middleware's, or the chain's; null if there is none.
[[nodiscard]] std::shared_ptr<Storage> backend_for(const ReductionConfig& config, std::string_view tool,
                                                   const std::shared_ptr<Storage>& of_chain);

/// The key of an object where no user's function makes one: `{root_dir}/{phase}/{name}`.
[[nodiscard]] std::string default_object_key(const ReductionConfig& config, std::string_view conversation,
                                             std::string_view phase, std::string_view name);

/// The sizes that clearing goes by, with a window of that many tokens (0: unknown).
struct ClearingLimits {
    std::int64_t trigger_tokens = 0;                ///< above this
    std::int64_t trigger_tokens_if_cache_cold = 0;  ///< above this where it costs nothing; 0: never
    std::int64_t target = 0;                        ///< down to this; 0: all that may be cleared
};
/// A fraction that is set counts where the window is known, else the number of tokens.
[[nodiscard]] ClearingLimits limits_of(const ReductionConfig& config, std::int64_t window) noexcept;

/// Whether it takes out thinking at all.
[[nodiscard]] bool clears_thinking(const ReductionConfig& config) noexcept;

/// How many of the newest rounds stay: at least one.
[[nodiscard]] std::size_t retained_rounds(const ReductionConfig& config) noexcept;

/// What a handler sees of a tool call and its result.
struct ToolDetail : CallbackContext {
    std::string_view tool{};               ///< name of the tool
    std::string_view call_id{};            ///< of the call, as the model gave it
    std::string_view arguments{};          ///< raw JSON
    std::span<const Part> result_parts{};  ///< of the result, as it is now
};

/// What a tool's own truncation decided. What the tool gave stays in the journal.
struct TruncResult {
    bool need_trunc = false;                ///< false: the result stays as it is, and the rest does not matter
    std::vector<Part> replacement_parts{};  ///< to be shown instead
    bool need_offload = false;              ///< store `offload_content`
    std::string key{};                      ///< where `offload_content` goes; empty: the usual key
    std::string offload_content{};          ///< what is stored
};

/// What a tool's own clearing decided. What stood there stays in the journal.
struct ClearResult {
    /// False: call and result stay as they are, and the rest does not matter.
    bool need_clear = false;
    std::optional<std::string> replacement_arguments{};  ///< a JSON object to stand in place of the arguments
    /// To be shown instead: as many as before, each text or the part as it was; or any number of texts.
    std::vector<Part> replacement_parts{};
    bool need_offload = false;      ///< store `offload_content`
    std::string key{};              ///< where `offload_content` goes; empty: the usual key
    std::string offload_content{};  ///< what is stored
};

/// A tool's own handlers. Each may be called from several threads at once. They do not run for a skipped phase.
struct ToolReductionCallbacks {
    std::function<TruncResult(const ToolDetail&)> trunc_handler{};  ///< gets the whole result
    /// Makes the sink that the tool writes to, in front of the one given; for results that must not be held in memory.
    std::function<std::unique_ptr<PartSink>(const ToolContext&, PartSink&)> trunc_sink{};
    /// Gets a call and its old result.
    std::function<ClearResult(const ToolDetail&)> clear_handler{};
};

/// What takes a message type or a tool detail.
template <AgentMessage M = ChatMessage>
struct ReductionCallbacks {
    /// The keys instead of `{root_dir}/trunc/{name}` and `{root_dir}/clear/{name}`; a leading "/" is dropped. For a
    /// text that is too long for memory, the first one sees its front only.
    std::function<std::string(const ToolDetail&)> gen_trunc_offload_file_path{};
    /// The key for what is cleared.
    std::function<std::string(const ToolDetail&)> gen_clear_offload_file_path{};
    /// Instead of the chain's count; below 0 counts as 0.
    std::function<std::int64_t(const CallbackContext&, const Conversation<M>&)> token_counter{};
    /// Rewrites an old tool round before the rest is cleared; an empty list removes it. May touch what is pinned.
    std::function<std::vector<M>(const CallbackContext&, const M& call, std::span<const M> results)>
        clear_message_rewriter{};
    /// After a commit, with the conversation as it is then. What it throws is reported under OnError::skip, and the
    /// commit stands; under OnError::propagate it is thrown, and everything is as before the hook.
    std::function<void(const CallbackContext&, const Conversation<M>&, const StageReport&)> clear_post_process{};
    /// Handlers of single tools, by name.
    std::map<std::string, ToolReductionCallbacks> tool_config{};
};

/// Reports every value that is out of range or contradicts another.
void check_tool_callbacks(const ToolReductionCallbacks& callbacks, std::string_view name, std::string_view tool,
                          Problems& problems);
/// Warns of names of tools that can mean none, and of settings for a tool that others make void: an exclude list and
/// the chain's `protected_tools` come before a tool's own settings.
void check_tool_names(const ReductionConfig& config, const std::map<std::string, ToolReductionCallbacks>& callbacks,
                      const ChainInfo& chain, std::string_view name, Problems& problems);
/// Adds every bad or doubtful setting to `problems`, each under "{name}.".
void check_reduction(const ReductionConfig& config, const ChainInfo& chain, std::string_view name, Problems& problems);

/// As configurations write it; `make_reduction` makes it.
[[nodiscard]] MiddlewareType<ReductionConfig> reduction_type();

}  // namespace whittle::inline v0
