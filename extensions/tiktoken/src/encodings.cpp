#include "encodings.hpp"

#include "whittle/base/error.hpp"
#include "whittle/tiktoken/vocabulary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace whittle::inline v0 {
namespace {

// From tiktoken 0.14, tiktoken_ext/openai_public.py.
constexpr std::array<EncodingInfo, 4> encodings{{
    {"o200k_base", "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
     "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"},
    {"cl100k_base", "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
     "https://openaipublic.blob.core.windows.net/encodings/cl100k_base.tiktoken"},
    {"p50k_base", "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
     "https://openaipublic.blob.core.windows.net/encodings/p50k_base.tiktoken"},
    {"r50k_base", "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
     "https://openaipublic.blob.core.windows.net/encodings/r50k_base.tiktoken"},
}};
constexpr std::array<bpe::Pattern, encodings.size()> patterns{bpe::Pattern::o200k, bpe::Pattern::cl100k,
                                                              bpe::Pattern::gpt2, bpe::Pattern::gpt2};

}  // namespace

std::span<const EncodingInfo> known_encodings() noexcept { return encodings; }

const EncodingInfo* find_encoding(std::string_view name) noexcept {
    const auto found = std::ranges::find(encodings, name, &EncodingInfo::name);
    return found == encodings.end() ? nullptr : &*found;
}

bpe::Pattern bpe::pattern_of(std::string_view encoding) {
    const EncodingInfo* info = find_encoding(encoding);
    if (info != nullptr) return patterns[static_cast<std::size_t>(info - encodings.data())];
    throw Error(Errc::invalid_argument,
                fmt::format("encoding \"{}\": not known; known are o200k_base, cl100k_base, p50k_base and r50k_base",
                            encoding));
}

}  // namespace whittle::inline v0
