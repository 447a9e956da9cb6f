#include "secret_forms.hpp"

#include "whittle/base/detail/ascii.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace whittle::inline v0::redaction {
namespace {

using detail::is_alnum;
using detail::is_digit;
using detail::is_lower;
using detail::is_one_of;
using detail::is_upper;
using detail::lower;

using enum Trust;

constexpr auto forms = std::to_array<KeyForm>({
    // Models
    {"sk-ant-"},
    {"sk-proj-"},
    {"sk-svcacct-"},
    {"sk-admin-"},
    {"sk-or-v1-"},
    {"sk-lf-"},
    {"sk-", if_made},
    {"sk_", if_made},
    {"xai-", if_made, 32},
    {"gsk_", if_made},
    {"pplx-", if_made},
    {"nvapi-"},
    {"tvly-", if_made},
    {"hf_", if_made},
    {"api_org_", if_made},
    {"r8_", if_made, 32},
    {"lsv2_pt_"},
    {"lsv2_sk_"},
    {"jina_", if_made, 32},
    {"voyage-", if_made, 32},
    {"pcsk_", if_made},
    {"AIza"},
    // Clouds
    {"AKIA", exact, 20},
    {"ASIA", exact, 20},
    {"ABIA", exact, 20},
    {"ACCA", exact, 20},
    {"A3T", if_made, 20},
    {"ABSK", wide, 64},
    {"bedrock-api-key-", wide},
    {"LTAI", if_made},
    {"ya29."},
    {"GOCSPX-"},
    {"1//0", wide, 40},
    {"1%2F%2F0", wide, 40},
    {"dop_v1_"},
    {"doo_v1_"},
    {"dor_v1_"},
    {"dapi", if_made, 32},
    {"HRKU-"},
    {"fo1_", if_made},
    {"fm1r_", wide},
    {"fm1a_", wide},
    {"fm2_", wide},
    {"pul-", if_made, 40},
    {"pscale_tkn_"},
    {"pscale_oauth_"},
    {"pscale_pw_"},
    {"tk-us-", if_made, 40},
    {"v1.0-", if_made, 64},
    {"vercel_", if_made, 24},
    {"sbp_", if_made, 32},
    {"sb_secret_"},
    {"hvs.", sure, 24},
    {"hvb.", sure, 24},
    {"s.", if_made, 26},
    {"atlasv1.", sure, 40},
    {"sha256~", wide, 40},
    {"dp.pt."},
    {"dp.st."},
    {"dp.ct."},
    {"dp.sa."},
    {"dp.scim."},
    {"dp.audit."},
    {"ops_eyJ", wide, 64},
    {"A3-", if_made, 30},
    {"AGE-SECRET-KEY-1"},
    {"4b1d", if_made, 42},
    {"AQVN", if_made, 32},
    {"t1.", if_made, 80},
    {"YC", if_made, 40},
    // Code and packages
    {"ghp_"},
    {"gho_"},
    {"ghs_"},
    {"ghu_"},
    {"ghr_"},
    {"github_pat_"},
    {"glpat-"},
    {"gldt-"},
    {"glrt-"},
    {"glptt-"},
    {"glsoat-"},
    {"gloas-"},
    {"glft-"},
    {"glffct-"},
    {"glimt-"},
    {"glagent-"},
    {"glcbt-"},
    {"GR1348941"},
    {"npm_", if_made},
    {"pypi-AgE", sure, 32},
    {"rubygems_"},
    {"CLOJARS_"},
    {"oy2", if_made, 40},
    {"dckr_pat_"},
    {"dckr_oat_"},
    {"AKCp", if_made, 64},
    {"cmVmd", if_made, 60},
    {"sgp_", if_made, 32},
    {"CCIPAT_"},
    {"CCIPRJ_"},
    {"pat.", if_made, 50},
    {"sat.", if_made, 50},
    {"pnu_", if_made, 32},
    {"API-", if_made, 28},
    {"squ_", if_made, 32},
    {"sqp_", if_made, 32},
    {"sqa_", if_made, 32},
    {"ico-", if_made, 32},
    {"ATATT3", wide, 24},
    {"ATCTT3", wide, 24},
    {"ATBB", if_made, 32},
    {"bkua_", if_made, 32},
    {"rdme_", if_made, 40},
    // Talk, mail and work
    {"xoxb-"},
    {"xoxp-"},
    {"xoxa-"},
    {"xoxo-"},
    {"xoxr-"},
    {"xoxs-"},
    {"xoxe-"},
    {"xoxe.xox"},
    {"xapp-"},
    {"SG.", if_made, 40},
    {"key-", if_made, 36},
    {"xkeysib-"},
    {"xsmtpsib-"},
    {"re_", if_made, 32},
    {"SK", if_made, 34},
    {"lin_api_"},
    {"lin_oauth_"},
    {"ntn_", if_made, 32},
    {"secret_", if_made, 32},
    {"figd_"},
    {"fio-u-", if_made, 32},
    {"PMAK-"},
    {"pat", if_made, 60},
    {"p8e-", if_made},
    {"intercom_", if_made, 32},
    {"hooks.slack.com/services/", wide},
    {"hooks.slack.com/workflows/", wide},
    {"hooks.slack.com/triggers/", wide},
    {"hooks.slack.com%2Fservices%2F", wide},
    {"discord.com/api/webhooks/", wide},
    {"discordapp.com/api/webhooks/", wide},
    {"api.telegram.org/bot", wide},
    // Money and shops
    {"sk_live_"},
    {"sk_test_"},
    {"rk_live_"},
    {"rk_test_"},
    {"pk_live_"},
    {"pk_test_"},
    {"rk_", if_made},
    {"whsec_"},
    {"sq0atp-"},
    {"sq0csp-"},
    {"EAAA", if_made, 26},
    {"EAAC", if_made, 60},
    {"EAAM", if_made, 60},
    {"shpat_"},
    {"shpca_"},
    {"shppa_"},
    {"shpss_"},
    {"shippo_live_"},
    {"shippo_test_"},
    {"EZAK", if_made, 40},
    {"EZTK", if_made, 40},
    {"duffel_live_"},
    {"duffel_test_"},
    {"FLWSECK"},
    {"live_", if_made, 36},
    {"access-sandbox-"},
    {"access-development-"},
    {"access-production-"},
    {"sm_aat_", if_made},
    {"sm_pat_", if_made},
    {"sm_sat_", if_made},
    {"s-s4t2", if_made, 40},
    // Watching
    {"glc_", wide, 32},
    {"glsa_"},
    {"sntrys_", wide, 40},
    {"sntryu_"},
    {"NRAK-"},
    {"NRJS-"},
    {"NRII-"},
    {"NRSP-"},
    {"dt0c01."},
    {"dt0s01."},
    {"phc_", if_made, 32},
    {"phx_", if_made, 32},
    // Any
    {"eyJ"},
    {"ZXlKaGJHY2lPaU"},
});

/// Where in a name of several words a name of secrets stands.
enum class NamePlace : std::uint8_t {
    end,
    anywhere,  ///< or, in a name in capitals, in front of other words: SECRET_KEY_BASE
};

struct SecretName {
    std::string_view letters;  ///< small ones, without what stands between the words
    NamePlace place = NamePlace::end;
};

constexpr auto secret_names = std::to_array<SecretName>({
    {"password", NamePlace::anywhere},
    {"passwd", NamePlace::anywhere},
    {"secret", NamePlace::anywhere},
    {"token", NamePlace::anywhere},
    {"apikey", NamePlace::anywhere},
    {"authorization", NamePlace::anywhere},
    {"bearer", NamePlace::anywhere},
    {"passphrase"},
    {"passwort"},
    {"secretkey"},
    {"accesskey"},
    {"privatekey"},
    {"accountkey"},
    {"sharedkey"},
    {"signingkey"},
    {"encryptionkey"},
    {"masterkey"},
    {"authkey"},
    {"licensekey"},
    {"storagekey"},
    {"functionkey"},
    {"subscriptionkey"},
    {"consumerkey"},
    {"dbpass"},
    {"userpass"},
    {"webhookurl"},
    {"psk"},
});
constexpr auto doubtful_names = std::to_array<std::string_view>(
    {"key", "pass", "pwd", "pw", "auth", "cred", "creds", "credential", "credentials", "sig"});
/// In front of "token", "key" and the like: what is no secret.
constexpr auto harmless_words = std::to_array<std::string_view>({
    "next",        "page",      "cursor", "continuation", "max",  "min",     "num",    "eos",         "bos",
    "pad",         "unk",       "sep",    "cls",          "mask", "special", "stop",   "input",       "output",
    "total",       "per",       "first",  "last",         "end",  "start",   "public", "pub",         "primary",
    "foreign",     "partition", "sort",   "cache",        "hash", "index",   "group",  "row",         "object",
    "hot",         "press",     "dedup",  "prev",         "of",   "by",      "sync",   "idempotency", "deduplication",
    "translation", "lookup",    "unique", "composite",    "map",
});
constexpr auto schemes = std::to_array<std::string_view>(
    {"basic", "bearer", "token", "digest", "apikey", "api-key", "negotiate", "key", "bot", "ssws", "splunk", "genie"});

constexpr auto private_ders = std::to_array<std::string_view>(
    {"MII??AIBA", "MII??QIBA", "MII??gIBA", "MII??wIBA", "MHcCAQEE", "MHQCAQEE", "MIGHAgEAM", "MIGkAgEB", "MIHcAgEB",
     "MIG2AgEAM", "MIHuAgEAM", "MC4CAQAwBQYDK2V", "MIGTAgEAM", "b3BlbnNzaC1rZXktdjE"});
constexpr auto public_ders = std::to_array<std::string_view>(
    {"MII??ACCA", "MII??QCCA", "MII??gCCA", "MII??wCCA", "MII??jANBgkqhkiG9w0BAQ", "MFkwEwYHKoZIzj0C",
     "MHYwEAYHKoZIzj0C", "MCowBQYDK2V", "MIGfMA0GCSqGSIb3DQEB", "MII??ANBgkqhkiG9w0BAQ", "AAAAB3NzaC1yc2E",
     "AAAAC3NzaC1lZDI1NTE5", "AAAAE2VjZHNhLXNoYTIt", "AAAAGnNrLXNzaC1"});
constexpr auto labels_of_hashes = std::to_array<std::string_view>(
    {"h1:", "sha1-", "sha256-", "sha384-", "sha512-", "sha1:", "sha256:", "sha384:", "sha512:", "SHA1:", "SHA256:",
     "SHA512:", "md5:", "md5-", "MD5:", "blake2b-", "blake3:", "blake3-"});

bool begins_so(std::string_view text, std::string_view pattern) noexcept {
    return text.size() >= pattern.size() &&
           std::equal(pattern.begin(), pattern.end(), text.begin(), [](char p, char c) { return p == '?' || p == c; });
}

/// Most base64 is not, which tells at once.
bool may_be_der(std::string_view base64) noexcept {
    return base64.size() > 8 && (base64[0] == 'M' || base64[0] == 'A' || base64[0] == 'b');
}

/// A name as small letters, and where its last two words begin.
struct PlainName {
    explicit PlainName(std::string_view name) noexcept {
        constexpr std::size_t most = 64;
        if (name.size() > most) name.remove_prefix(name.size() - most);
        bool was_lower = false;
        bool is_new = true;
        for (const char c : name) {
            if (!is_alnum(c)) {
                is_new = true;
                continue;
            }
            if (is_new || (is_upper(c) && was_lower)) {
                before_last = last;
                last = size;
            }
            is_new = false;
            was_lower = is_lower(c) || is_digit(c);
            letters[size++] = lower(c);
        }
        while (size > last && is_digit(letters[size - 1])) --size;  // "token_2", "password1"
        if (size > 0 && size == last) last = before_last;
    }

    [[nodiscard]] std::string_view flat() const noexcept { return {letters.data(), size}; }
    [[nodiscard]] std::string_view last_word() const noexcept { return flat().substr(std::min(last, size)); }
    [[nodiscard]] std::string_view word_before() const noexcept {
        return flat().substr(std::min(before_last, size), last > before_last ? last - before_last : 0);
    }

    std::array<char, 64> letters{};
    std::size_t size = 0;
    std::size_t last = 0;
    std::size_t before_last = 0;
};

}  // namespace

std::span<const KeyForm> key_forms() noexcept { return forms; }

bool begins_as_private_der(std::string_view base64) noexcept {
    if (!may_be_der(base64)) return false;
    return std::ranges::any_of(private_ders, [&](std::string_view pattern) { return begins_so(base64, pattern); });
}

bool begins_as_public_der(std::string_view base64) noexcept {
    if (!may_be_der(base64)) return false;
    return std::ranges::any_of(public_ders, [&](std::string_view pattern) { return begins_so(base64, pattern); });
}

bool ends_as_label_of_hash(std::string_view text) noexcept {
    if (text.empty() || (text.back() != ':' && text.back() != '-')) return false;
    return std::ranges::any_of(labels_of_hashes, [&](std::string_view label) { return text.ends_with(label); });
}

std::size_t size_of_label_of_hash(std::string_view text) noexcept {
    constexpr std::string_view firsts = "hsSmMb";
    if (text.size() < 4 || firsts.find(text.front()) == std::string_view::npos) return 0;
    const std::string_view second = "1hHdDl";
    if (second.find(text[1]) == std::string_view::npos) return 0;
    const auto label =
        std::ranges::find_if(labels_of_hashes, [&](std::string_view one) { return text.starts_with(one); });
    return label == labels_of_hashes.end() ? 0 : label->size();
}

NameKind kind_of_name(std::string_view name) noexcept {
    const PlainName plain(name);
    if (plain.size < 2 || is_one_of(plain.word_before(), harmless_words)) return NameKind::none;
    const std::string_view flat = plain.flat();
    if (std::ranges::any_of(secret_names, [&](const SecretName& known) { return flat.ends_with(known.letters); }))
        return NameKind::secret;
    if (!is_one_of(plain.last_word(), doubtful_names)) return NameKind::none;
    const bool is_of_someone = !plain.word_before().empty();  // "DB_PASS", and not "pass"
    const bool is_pass = plain.last_word() == "pass" || plain.last_word() == "pwd";
    return is_pass && is_of_someone ? NameKind::secret : NameKind::doubtful;
}

bool holds_name_of_secret(std::string_view name) noexcept {
    constexpr std::string_view behind_token = "iz";  // TOKENIZER_MODEL
    const PlainName plain(name);
    return std::ranges::any_of(secret_names, [&](const SecretName& known) {
        const std::size_t at =
            known.place == NamePlace::anywhere ? plain.flat().find(known.letters) : std::string_view::npos;
        return at != std::string_view::npos &&
               !plain.flat().substr(at + known.letters.size()).starts_with(behind_token);
    });
}

bool is_scheme_of_authorization(std::string_view word) noexcept {
    return std::ranges::any_of(schemes, [&](std::string_view scheme) { return detail::same_word(word, scheme); });
}

}  // namespace whittle::inline v0::redaction
