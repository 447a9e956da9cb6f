#include "vocabulary_format.hpp"
#include "vocabulary_impl.hpp"

#include "whittle/base/error.hpp"

#include <fmt/format.h>

#include <bit>

namespace whittle::inline v0 {
namespace {

using Bytes = std::span<const unsigned char>;

[[noreturn]] void damaged(std::string_view source, std::string_view reason) {
    throw Error(Errc::damaged, fmt::format("open vocabulary {}: {}", source, reason));
}

bpe::Header read_header(Bytes file, std::string_view source) {
    bpe::Header header;
    if (file.size() < bpe::aligned(sizeof header)) damaged(source, "not a packed vocabulary");
    std::memcpy(&header, file.data(), sizeof header);
    if (header.magic != bpe::magic) damaged(source, "not a packed vocabulary");
    if (header.version != bpe::format_version)
        damaged(source, fmt::format("format version {}, this library reads version {}: pack it again", header.version,
                                    bpe::format_version));
    if (header.file_size != file.size())
        damaged(source, fmt::format("{} bytes, but it was written with {}", file.size(), header.file_size));
    return header;
}

void require_hash(bpe::Header header, Bytes file, std::string_view source) {
    const Hash128 expected = std::exchange(header.hash, {});
    std::array<char, bpe::aligned(sizeof header)> start{};
    std::memcpy(start.data(), file.data(), start.size());
    std::memcpy(start.data(), &header, sizeof header);
    const Bytes rest = file.subspan(start.size());
    const Hash128 found =
        hash128({reinterpret_cast<const char*>(rest.data()), rest.size()}, hash128({start.data(), start.size()}));
    if (found != expected) damaged(source, "its content is not what was written: its checksum differs");
}

/// The checksum is no signature, so sizes are not believed. What the entries say is.
bpe::View tables_in(const bpe::Header& header, Bytes file, std::string_view source) {
    bpe::View tables;
    std::size_t at = bpe::aligned(sizeof header);
    bpe::for_each_section(tables, [&](std::size_t i, auto& section) {
        using Section = std::remove_reference_t<decltype(section)>;
        const std::uint64_t size = header.section_sizes[i];
        if (at > file.size() || size > (file.size() - at) / sizeof(typename Section::element_type))
            damaged(source, fmt::format("section {} does not fit in the file", i));
        section =
            Section(reinterpret_cast<typename Section::pointer>(file.data() + at), static_cast<std::size_t>(size));
        at = bpe::aligned(at + section.size_bytes());
    });
    return tables;
}

/// What the lookups rely on without asking.
void require_usable(const bpe::Header& header, const bpe::View& tables, std::string_view source) {
    if (header.pattern < bpe::Pattern::o200k || header.pattern > bpe::Pattern::gpt2)
        damaged(source, fmt::format("split pattern {} is not known", static_cast<std::uint32_t>(header.pattern)));
    if (header.longest_token < 1 || header.longest_token > 255)
        damaged(source, fmt::format("longest token {}: expected 1 to 255 bytes", header.longest_token));
    const std::size_t ids = tables.lengths.size();
    if (header.tokens > ids || ids > bpe::no_token || tables.splits.size() != ids || tables.shorter.size() != ids ||
        tables.offsets.size() != ids + 1)
        damaged(source, "its tables do not have one entry for each token");
    if (!std::has_single_bit(tables.short_tokens.size()) || !std::has_single_bit(tables.pair_filter.size()) ||
        !std::has_single_bit(tables.pairs.size()))
        damaged(source, "the size of a hash table is no power of two");
    if (tables.trie.size() < 256) damaged(source, "its trie is too small");
}

std::string text_field(std::span<const char> field) { return {field.begin(), std::ranges::find(field, '\0')}; }

void load_vocabulary(Vocabulary::Impl& impl, Bytes file, std::string_view source) {
    const bpe::Header header = read_header(file, source);
    require_hash(header, file, source);
    impl.tables = tables_in(header, file, source);
    require_usable(header, impl.tables, source);
    impl.pattern = header.pattern;
    impl.name = text_field(header.name);
    impl.source_sha256 = text_field(header.source_sha256);
    impl.size = static_cast<std::int64_t>(header.tokens);
    impl.longest_token = static_cast<std::size_t>(header.longest_token);
    impl.joined.fill(impl.tables, impl.pattern);
}

}  // namespace

std::shared_ptr<const Vocabulary> Vocabulary::open(const std::string& path) {
    auto impl = std::make_unique<Impl>();
    impl->file.emplace(path);
    load_vocabulary(*impl, impl->file->bytes(), path);
    return std::shared_ptr<const Vocabulary>(new Vocabulary(std::move(impl)));
}

std::shared_ptr<const Vocabulary> open_encoding(const std::string& path, const EncodingInfo& encoding) {
    auto vocabulary = Vocabulary::open(path);
    if (vocabulary->source_sha256() != encoding.sha256)
        damaged(path, fmt::format("not {}, but \"{}\": made from a file with the SHA-256 {}, not {}", encoding.name,
                                  vocabulary->name(), vocabulary->source_sha256(), encoding.sha256));
    return vocabulary;
}

std::shared_ptr<const Vocabulary> Vocabulary::from_packed(std::string_view packed) {
    auto impl = std::make_unique<Impl>();
    impl->copy.resize(packed.size() / sizeof(Impl::Block) + 1);
    std::memcpy(impl->copy.data(), packed.data(), packed.size());
    load_vocabulary(*impl, {impl->copy.data()->bytes.data(), packed.size()}, "from memory");
    return std::shared_ptr<const Vocabulary>(new Vocabulary(std::move(impl)));
}

std::shared_ptr<const Vocabulary> Vocabulary::from_static(Bytes packed) {
    if (reinterpret_cast<std::uintptr_t>(packed.data()) % bpe::alignment != 0)
        throw Error(Errc::invalid_argument, "open vocabulary from memory: it does not start at a multiple of 64");
    auto impl = std::make_unique<Impl>();
    load_vocabulary(*impl, packed, "from memory");
    return std::shared_ptr<const Vocabulary>(new Vocabulary(std::move(impl)));
}

}  // namespace whittle::inline v0
