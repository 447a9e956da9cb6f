#include "sha256_block.hpp"

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#    define WHITTLE_HAS_SHA256_X86 1
#    include <cpuid.h>
#    include <immintrin.h>
#endif

namespace whittle::inline v0 {

#ifdef WHITTLE_HAS_SHA256_X86
namespace {

bool find_sha256_instructions() noexcept {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0) return false;
    const bool has_ssse3 = (c & (1U << 9)) != 0;
    const bool has_sse41 = (c & (1U << 19)) != 0;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return false;
    return has_ssse3 && has_sse41 && (b & (1U << 29)) != 0;
}

}  // namespace

bool has_sha256_instructions() noexcept {
    static const bool has = find_sha256_instructions();
    return has;
}

/// The instructions keep the state as ABEF and CDGH, and four words of the message schedule in each of four registers.
__attribute__((target("sha,sse4.1,ssse3"))) void compress_sha256_x86(std::uint32_t* state,
                                                                     const unsigned char* block) noexcept {
    const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    const __m128i dcba = _mm_loadu_si128(reinterpret_cast<const __m128i*>(state));
    const __m128i hgfe = _mm_loadu_si128(reinterpret_cast<const __m128i*>(state + 4));
    const __m128i cdab = _mm_shuffle_epi32(dcba, 0xb1);
    const __m128i efgh = _mm_shuffle_epi32(hgfe, 0x1b);
    __m128i abef = _mm_alignr_epi8(cdab, efgh, 8);
    __m128i cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);
    const __m128i abef_before = abef;
    const __m128i cdgh_before = cdgh;

    __m128i words[4];
    for (int i = 0; i < 4; ++i)
        words[i] = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(block) + i), big_endian);
    for (int group = 0; group < 16; ++group) {
        __m128i& now = words[group % 4];
        if (group >= 4) {
            const __m128i before = words[(group + 3) % 4];
            const __m128i sigma0 = _mm_sha256msg1_epu32(now, words[(group + 1) % 4]);
            const __m128i shifted = _mm_alignr_epi8(before, words[(group + 2) % 4], 4);
            now = _mm_sha256msg2_epu32(_mm_add_epi32(sigma0, shifted), before);
        }
        const __m128i constants = _mm_load_si128(reinterpret_cast<const __m128i*>(sha256_rounds.data()) + group);
        const __m128i added = _mm_add_epi32(now, constants);
        cdgh = _mm_sha256rnds2_epu32(cdgh, abef, added);
        abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(added, 0x0e));
    }

    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
    const __m128i feba = _mm_shuffle_epi32(abef, 0x1b);
    const __m128i dchg = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(state), _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}
#else
bool has_sha256_instructions() noexcept { return false; }
void compress_sha256_x86(std::uint32_t*, const unsigned char*) noexcept {}
#endif

}  // namespace whittle::inline v0
