// Usual forms of secrets in usual wrappings, made by chance: how many of them are masked, and what is masked without
// need.
#include "whittle/redaction/redaction.hpp"

#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

using namespace whittle;
using nlohmann::json;

namespace {

/// Texts made of patterns: "{A36}" is 36 letters and digits, H hexadecimal digits, U capitals and digits, D digits, L
/// letters, W letters, digits, "_" and "-", B base64, P a password with signs in it.
class Maker {
public:
    explicit Maker(std::uint32_t seed) : random_(seed) {}

    std::string make(std::string_view pattern) {
        std::string out;
        while (!pattern.empty()) {
            const std::size_t open = pattern.find('{');
            out += pattern.substr(0, open);
            if (open == std::string_view::npos) break;
            const std::size_t close = pattern.find('}', open);
            out += word(pattern[open + 1], std::stoul(std::string(pattern.substr(open + 2, close - open - 2))));
            pattern.remove_prefix(close + 1);
        }
        return out;
    }

private:
    std::string word(char kind, std::size_t size) {
        static const std::string letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
        static const std::map<char, std::string> alphabets{{'A', letters + "0123456789"},
                                                           {'H', "0123456789abcdef"},
                                                           {'U', "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"},
                                                           {'D', "123456789"},
                                                           {'L', letters},
                                                           {'W', letters + "0123456789_-"},
                                                           {'B', letters + "0123456789+/"},
                                                           {'P', letters + "0123456789_-!@#%+*"}};
        const std::string& alphabet = alphabets.at(kind);
        std::string word;
        while (word.size() < size)
            word += alphabet[random_() % (word.empty() ? std::min<std::size_t>(26, alphabet.size()) : alphabet.size())];
        if (kind == 'P' || kind == 'A') word.back() = '7';
        return word;
    }

    std::mt19937 random_;
};

struct Form {
    std::string_view text;  ///< "@@" stands for the secret
    std::string_view secret;
};

constexpr std::string_view word_form = "use @@";

const std::vector<Form> forms{
    {"aws_secret_access_key = @@", "{B40}"},
    {"AWS_SECRET_ACCESS_KEY=@@", "{B40}"},
    {"postgres://app:@@@db.example.com:5432/shop", "{A14}"},
    {"https://deploy:@@@git.example.com/a/b.git", "{A20}"},
    {"redis://:@@@cache:6379/0", "{A20}"},
    {"X-API-Key: @@", "{H32}"},
    {"Authorization: Basic @@", "YW5uO{A19}=="},
    {"Authorization: Bearer @@", "{W40}"},
    {"Authorization: Token @@", "{H40}"},
    {"DB_PASS=@@", "{P14}"},
    {"MYSQL_PWD=@@", "{P14}"},
    {"PGPASSWORD=@@", "{P14}"},
    {"curl -u ann:@@ https://api.example.com/v1", "{A12}"},
    {"curl --user \"ann:@@\" https://api.example.com/v1", "{A12}"},
    {"db.example.com:5432:shop:ann:@@", "{A14}"},
    {"machine git.example.com login ann password @@", "{A16}"},
    {"mytool --password @@ --verbose", "{A14}"},
    {"mytool --token=@@ --verbose", "{H32}"},
    {"password: @@", "{A14}"},
    {"db_password: \"@@\"", "{A14}"},
    {"clientSecret = \"@@\"", "{W36}"},
    {"access_token=@@", "{A40}"},
    {"\"refreshToken\": \"@@\"", "{W48}"},
    {"api_key = '@@'", "{A32}"},
    {"DefaultEndpointsProtocol=https;AccountName=a;AccountKey=@@;EndpointSuffix=core.windows.net", "{B86}=="},
    {"Endpoint=sb://x.example.net/;SharedAccessKeyName=Root;SharedAccessKey=@@", "{B43}="},
    {"Server=db;User Id=sa;Password=@@;Encrypt=true", "{A14}"},
    {"passphrase: @@", "{A18}"},
    {"SECRET_KEY = '@@'", "{P50}"},
    {"OPENAI_KEY=@@", "{A40}"},
    {"signing_key: @@", "{H64}"},
    {"encryptionKey=@@", "{B43}="},
    // Services' keys, by their beginnings
    {word_form, "sk-proj-{W74}T3BlbkFJ{W74}"},
    {word_form, "sk-{A20}T3BlbkFJ{A20}"},
    {word_form, "sk-ant-api03-{W93}AA"},
    {word_form, "ghp_{A36}"},
    {word_form, "github_pat_{A22}_{A59}"},
    {word_form, "ghr_{A36}"},
    {word_form, "ghs_{A36}"},
    {word_form, "glpat-{W20}"},
    {word_form, "glrt-{W20}"},
    {word_form, "gldt-{W20}"},
    {word_form, "glptt-{H40}"},
    {word_form, "AKIA{U16}"},
    {word_form, "ASIA{U16}"},
    {word_form, "AIza{W35}"},
    {word_form, "GOCSPX-{W28}"},
    {word_form, "ya29.{W120}"},
    {word_form, "1//0{W60}"},
    {word_form, "xoxb-{D12}-{D12}-{A24}"},
    {word_form, "xapp-1-A{U10}-{D13}-{H64}"},
    {word_form, "xoxp-{D12}-{D12}-{D12}-{H32}"},
    {word_form, "hooks.slack.com/services/T{U10}/B{U10}/{A24}"},
    {word_form, "sk_live_{A24}"},
    {word_form, "rk_live_{A24}"},
    {word_form, "whsec_{A32}"},
    {word_form, "SG.{W22}.{W43}"},
    {word_form, "key-{H32}"},
    {word_form, "{H32}-us12"},
    {word_form, "SK{H32}"},
    {word_form, "npm_{A36}"},
    {word_form, "pypi-AgEIcHlwaS5vcmc{W80}"},
    {word_form, "rubygems_{H48}"},
    {word_form, "dckr_pat_{W27}"},
    {word_form, "dop_v1_{H64}"},
    {word_form, "dapi{H32}"},
    {word_form, "dp.pt.{A43}"},
    {word_form, "hvs.{W95}"},
    {word_form, "HRKU-AA{W58}"},
    {word_form, "hf_{L34}"},
    {word_form, "gsk_{A52}"},
    {word_form, "xai-{A80}"},
    {word_form, "r8_{A37}"},
    {word_form, "pplx-{A48}"},
    {word_form, "nvapi-{W64}"},
    {word_form, "tvly-{A32}"},
    {word_form, "lsv2_pt_{H32}_{H10}"},
    {word_form, "sk-lf-{H8}-{H4}-{H4}-{H4}-{H12}"},
    {word_form, "sk-or-v1-{H64}"},
    {word_form, "shpat_{H32}"},
    {word_form, "sq0atp-{W22}"},
    {word_form, "lin_api_{A40}"},
    {word_form, "ntn_{D11}{A35}"},
    {word_form, "figd_{W40}"},
    {word_form, "PMAK-{H24}-{H34}"},
    {word_form, "glsa_{A32}_{H8}"},
    {word_form, "glc_{B80}=="},
    {word_form, "sntryu_{H64}"},
    {word_form, "NRAK-{U27}"},
    {word_form, "pul-{H40}"},
    {word_form, "pscale_tkn_{W43}"},
    {word_form, "sbp_{H40}"},
    {word_form, "AGE-SECRET-KEY-1{U58}"},
    {word_form, "ATATT3xFfGF0{W170}"},
    {word_form, "{D9}:AA{W33}"},
    {word_form, "MT{A24}.{W6}.{W38}"},
    {word_form, "{A3}8Q~{W34}"},
    {word_form, "pat{A14}.{H64}"},
    {word_form, "eyJhbGciOiJIUzI1NiJ9.eyJ{A60}.{W43}"},
    {word_form, "AKCp{A69}"},
    {word_form, "CCIPAT_{A22}_{H40}"},
    {word_form, "squ_{H40}"},
    {word_form, "fo1_{W43}"},
    {word_form, "LTAI{A20}"},
    {word_form, "xkeysib-{H64}-{A16}"},
    {word_form, "duffel_live_{W43}"},
    {word_form, "dt0c01.{U24}.{U64}"},
    {word_form, "EZAK{A54}"},
    {word_form, "ico-{A32}"},
    {word_form, "pnu_{A36}"},
    {word_form, "rdme_{H70}"},
    {word_form, "shippo_live_{H40}"},
    {word_form, "{A14}.atlasv1.{W67}"},
};

/// Private keys: how they begin, their first line, and how they stand there.
struct PemForm {
    std::string_view label;
    std::string_view first;
    std::string_view way;
};

const std::vector<PemForm> pem_forms{{"RSA PRIVATE KEY", "MIIEpAIBAAKCAQEA{B48}", "whole"},
                                     {"PRIVATE KEY", "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC{B32}", "whole"},
                                     {"OPENSSH PRIVATE KEY", "b3BlbnNzaC1rZXktdjEAAAAA{B40}", "whole"},
                                     {"EC PRIVATE KEY", "MHcCAQEEI{B55}", "whole"},
                                     {"RSA PRIVATE KEY", "{B64}", "without its begin"},
                                     {"PRIVATE KEY", "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC{B32}", "in one line"},
                                     {"RSA PRIVATE KEY", "MIIEpAIBAAKCAQEA{B48}", "in a program"}};

/// A text with secrets in it.
struct Planted {
    std::string text{};
    std::vector<std::string> secrets{};
};

Planted plant(Maker& maker, const Form& form) {
    Planted sample{std::string(form.text), {maker.make(form.secret)}};
    sample.text.replace(sample.text.find("@@"), 2, sample.secrets[0]);
    return sample;
}

Planted plant(Maker& maker, const PemForm& form) {
    Planted sample;
    sample.secrets.push_back(maker.make(form.first));
    for (int i = 0; i < 9; ++i) sample.secrets.push_back(maker.make("{B64}"));
    sample.secrets.push_back(maker.make("{B30}=="));
    std::vector<std::string> lines{"-----BEGIN " + std::string(form.label) + "-----"};
    if (form.way == "without its begin") lines.clear();
    lines.insert(lines.end(), sample.secrets.begin(), sample.secrets.end());
    lines.push_back("-----END " + std::string(form.label) + "-----");
    if (form.way == "in one line") sample.text = "\"private_key\": \"";
    for (const std::string& line : lines) {
        if (form.way == "in one line") {
            sample.text += line + "\\n";
        } else if (form.way == "in a program") {
            sample.text += "\"" + line + "\\n\" +\n";
        } else {
            sample.text += (sample.text.empty() ? "" : "\n") + line;
        }
    }
    if (form.way == "in one line") sample.text += "\"";
    return sample;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines{""};
    for (const char c : text) {
        if (c == '\n') {
            lines.emplace_back();
        } else {
            lines.back() += c;
        }
    }
    return lines;
}

bool is_word(const std::string& text) { return text.starts_with("use "); }

std::string with_each(std::string text, std::string_view sign, const std::string& by) {
    for (std::size_t at = text.find(sign); at != std::string::npos; at = text.find(sign, at + by.size()))
        text.replace(at, sign.size(), by);
    return text;
}

std::string for_url(std::string text) {
    for (const auto& [sign, by] : {std::pair("%", "%25"), {"/", "%2F"}, {"+", "%2B"}, {"=", "%3D"}, {":", "%3A"}})
        text = with_each(text, sign, by);
    return text;
}

std::string for_xml(std::string text) {
    for (const auto& [sign, by] : {std::pair("&", "&amp;"), {"<", "&lt;"}, {"\"", "&quot;"}})
        text = with_each(text, sign, by);
    return text;
}

std::optional<Planted> in_url(Planted sample) {
    if (sample.text.find("://") < sample.text.find('@')) return sample;
    if (!is_word(sample.text)) return std::nullopt;
    for (std::string& word_hidden : sample.secrets) word_hidden = for_url(word_hidden);
    sample.text = "GET https://api.example.com/v1/x?a=1&q=" + sample.secrets[0] + "&b=2 200";
    return sample;
}

std::optional<Planted> in_header(Planted sample) {
    if (sample.text.find('\n') != std::string::npos) return std::nullopt;
    const std::string name = sample.text.substr(0, sample.text.find(": "));
    const bool is_header = name.size() < sample.text.size() && name.find_first_of(" =:\"_") == std::string::npos;
    sample.text = "GET / HTTP/1.1\r\nHost: a\r\n" + (is_header ? "" : std::string("X-Data: ")) + sample.text +
                  "\r\nAccept: */*\r\n";
    return sample;
}

std::optional<Planted> in_environment(Planted sample) {
    if (sample.text.find('\n') != std::string::npos && sample.text.find("BEGIN") == std::string::npos)
        return std::nullopt;  // a value without its beginning
    const bool is_long = sample.text.find('\n') != std::string::npos;
    if (is_word(sample.text)) sample.text = "export SERVICE_X=" + sample.text.substr(4);
    sample.text = is_long ? "KEY='" + sample.text + "'\nX=1" : "FOO=1\n" + sample.text + "\nX=1";
    return sample;
}

std::optional<Planted> in_yaml(Planted sample) {
    std::string text = "a:\n  data: |\n";
    for (const std::string& line : lines_of(sample.text)) text += "    " + line + "\n";
    sample.text = text + "b: 1";
    return sample;
}

std::optional<Planted> in_xml(Planted sample) {
    sample.text = "<a>\n<data>" + for_xml(sample.text) + "</data><b/></a>";
    for (std::string& word_hidden : sample.secrets) word_hidden = for_xml(word_hidden);
    return sample;
}

std::optional<Planted> in_lines(Planted sample, const std::function<std::string(std::size_t)>& front) {
    std::string text = front(0) + "first line\n";
    std::size_t number = 1;
    for (const std::string& line : lines_of(sample.text)) text += front(number++) + line + "\n";
    sample.text = text + front(number) + "last line";
    return sample;
}

/// The text ends within a secret, behind two thirds of it.
std::optional<Planted> cut(Planted sample) {
    const std::size_t which = sample.secrets.size() / 2;
    const std::string& word_hidden = sample.secrets[which];
    const std::size_t shown = std::max<std::size_t>(8, word_hidden.size() * 7 / 10);
    sample.text = "head\n" + sample.text.substr(0, sample.text.find(word_hidden) + shown);
    if (sample.secrets.size() > 1 && sample.text.find("BEGIN") == std::string::npos) return std::nullopt;
    sample.secrets.resize(which + 1);
    sample.secrets.back().resize(shown);
    return sample;
}

using Wrapping = std::function<std::optional<Planted>(Planted)>;

const std::vector<std::pair<std::string, Wrapping>>& wrappings() {
    static const std::vector<std::pair<std::string, Wrapping>> all{
        {"JSON",
         [](Planted sample) {
             sample.text = json{{"type", "tool_result"}, {"content", sample.text}}.dump();
             return std::optional(sample);
         }},
        {"JSON in JSON",
         [](Planted sample) {
             sample.text = json{{"arguments", json{{"path", "a"}, {"content", sample.text}}.dump()}}.dump();
             return std::optional(sample);
         }},
        {"numbered lines",
         [](Planted sample) {
             return in_lines(std::move(sample), [](std::size_t n) { return "   " + std::to_string(n + 41) + "\t"; });
         }},
        {"a difference",
         [](Planted sample) { return in_lines(std::move(sample), [](std::size_t) { return std::string("+"); }); }},
        {"an environment", in_environment},
        {"a URL", in_url},
        {"a header", in_header},
        {"YAML", in_yaml},
        {"XML", in_xml},
        {"cut in two", cut}};
    return all;
}

/// Whether a third of a secret, and 8 bytes of it, is to be seen in one piece.
bool is_shown(const std::string& word_hidden, const std::string& text) {
    const std::string in_json = json(word_hidden).dump();
    for (const std::string& spelling : {word_hidden, in_json.substr(1, in_json.size() - 2)}) {
        const std::size_t piece = std::max<std::size_t>(8, spelling.size() / 3);
        for (std::size_t at = 0; at + piece <= spelling.size(); ++at) {
            if (text.find(spelling.substr(at, piece)) != std::string::npos) return true;
        }
    }
    return false;
}

/// What must stay as it is.
const std::vector<std::string_view> harmless{
    "commit {H40}",
    "{H32}  file.txt",
    "image@sha256:{H64}",
    "sha512: {H128}",
    "github.com/a/b v1.2.3 h1:{B43}=",
    "\"integrity\": \"sha512-{B86}==\"",
    "integrity=\"sha384-{B64}\"",
    "SHA256:{B43}",
    "request {H8}-{H4}-{H4}-{H4}-{H12}",
    "\"id\": \"{H8}-{H4}-{H4}-{H4}-{H12}\"",
    "\"tool_call_id\": \"call_{A24}\"",
    "the result of call_{A24} and of toolu_01{A22}",
    "msg_01{A22} resp_{H48} chatcmpl-{A29} req_011{A21}",
    "/home/ann/.claude/projects/-home-ann-shop/{H8}-{H4}-{H4}-{H4}-{H12}.jsonl",
    "/nix/store/{H32}-glibc-2.38/lib",
    "/usr/lib/x86_64-linux-gnu/libsomething_internal_runtime.so.1.2.3",
    "TestOAuth2Http2Rfc6749TokenExchangeFlow",
    "ShouldReturn404WhenUser2IsNotFoundInDatabase3",
    "SetUpUnityBuild3ForModule12WithCache7Enabled",
    "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC{B300} ann@host",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{B43} ann@host",
    "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A{B32}\n{B64}\n{B64}\n{B20}\n-----END PUBLIC KEY-----",
    "-----BEGIN CERTIFICATE-----\nMIIDXTCCAkWgAwIBAgIJAK{B42}\n{B64}\n{B64}\n{B64}\n-----END CERTIFICATE-----",
    "\"cert\": \"-----BEGIN CERTIFICATE-----\\nMIIDXTCCAkWgAwIBAgIJAK{B42}\\n{B64}\\n{B64}\\n-----END "
    "CERTIFICATE-----\"",
    "\"max_tokens\": 4096, \"total_tokens\": 12345678",
    "next_token = parser.next_token()",
    "\"nextPageToken\": \"CAUQAA{A20}\"",
    "void f(CancellationToken token, std::string password_hint);",
    "token: CancellationToken",
    "password=${DB_PASSWORD} api_key: \"$API_KEY\" token: {{ .Values.token }}",
    "api_key = os.environ[\"API_KEY\"]",
    "const secret = process.env.CLIENT_SECRET;",
    "primary_key = customers_order_id_2024",
    "\"cache_key\": \"v3-linux-node20-{H16}\"",
    "\"key\": \"talk-7/clear/c{D3}\"",
    "the key {H40} of the cache",
    "libfoo-1.2.3-alpha.20241105 build 20241105T101112Z 2026-11-28T04:16:04.123456789Z",
    "mailto:ann@example.com https://example.com/@ann/post-1 git@github.com:acme/widgets-and-gadgets.git",
    "http://localhost:8080/api http://127.0.0.1:5432",
    "src/chain/turn.cpp:120:5:error:expected",
    "class=\"sk-estimator-doc-link-label sk-toggleable__content\"",
    "CONSTRAINT pk_customers_order_items PRIMARY KEY (customer_id)",
    "ETag: W/\"{H32}\" traceparent: 00-{H32}-{H16}-01",
    "{H12}: Pull complete",
    "PASS: tests/unit/test_something_long.py",
    "Basic authentication is used; bearer tokens are rejected",
};

}  // namespace

TEST_CASE("usual forms of secrets are masked in every wrapping, 98 of 100 or more", "[redaction]") {
    Maker maker(7);
    const Redactor redactor;
    std::map<std::string, std::pair<int, int>> masked;  // of all, by wrapping
    std::map<std::string, int> missed;                  // by form and wrapping
    int forms_left_open = 0;                            // in more than one of ten
    const auto look = [&](const auto& form, const std::string& name) {
        int shown = 0;
        for (const auto& [wrapping, wrap] : wrappings()) {
            const auto sample = wrap(plant(maker, form));
            if (!sample) continue;
            const Redacted redacted = redactor.text_or_json(sample->text);
            const bool is_open = std::ranges::any_of(
                sample->secrets, [&](const std::string& word_hidden) { return is_shown(word_hidden, redacted.text); });
            ++masked[wrapping].second;
            masked[wrapping].first += is_open ? 0 : 1;
            if (is_open) ++missed[name + " in " + wrapping], ++shown;
            CHECK(redactor.text_or_json(redacted.text).text == redacted.text);
        }
        forms_left_open += shown > 1 ? 1 : 0;
    };
    constexpr int rounds = 5;
    for (int round = 0; round < rounds; ++round) {
        for (const Form& form : forms) look(form, std::string(form.text) + " " + std::string(form.secret));
        for (const PemForm& form : pem_forms) look(form, std::string(form.label) + " " + std::string(form.way));
    }
    for (const auto& [form, count] : missed) UNSCOPED_INFO(form << ": " << count);
    CHECK(forms_left_open == 0);
    for (const auto& [wrapping, count] : masked) {
        CAPTURE(wrapping, count.first, count.second);
        CHECK(count.first * 100 >= count.second * 98);
    }
}

TEST_CASE("masking a damaged private key again changes nothing", "[redaction]") {
    Maker maker(3);
    std::mt19937 random(9);
    constexpr std::size_t marks = 60;  // its begin and its end are whole
    const Redactor redactor;
    for (int round = 0; round < 500; ++round) {
        std::string text = plant(maker, pem_forms[random() % pem_forms.size()]).text;
        for (int i = 0; i < 4; ++i) {
            const std::string_view odd = " \n\\\"*-+={";
            text.insert(marks + random() % (text.size() - 2 * marks), 1 + random() % 3, odd[random() % odd.size()]);
        }
        const std::string once = redactor.text_or_json(text).text;
        CAPTURE(text);
        CHECK(redactor.text_or_json(once).text == once);
    }
}

TEST_CASE("hashes, ids, paths, names and public keys are not masked", "[redaction]") {
    Maker maker(11);
    const Redactor redactor;
    for (const std::string_view pattern : harmless) {
        for (int round = 0; round < 10; ++round) {
            const std::string text =
                pattern.find("{{") == std::string_view::npos ? maker.make(pattern) : std::string(pattern);
            for (const std::string& wrapped :
                 {text, json{{"content", text}}.dump(), json{{"arguments", json{{"content", text}}.dump()}}.dump()}) {
                CHECK(redactor.text_or_json(wrapped).text == wrapped);
            }
        }
    }
}

TEST_CASE("a name tells of a secret in JSON and XML in two steps, and words in front of it that it is none",
          "[redaction]") {
    const auto masked = [](std::string_view text) { return Redactor().text_or_json(text).text; };
    CHECK(masked(R"({"name":"DB_PASSWORD","value":"swordfish"})") == R"({"name":"DB_PASSWORD","value":"***"})");
    CHECK(masked(R"({"name":"Accept","value":"swordfish"})") == R"({"name":"Accept","value":"swordfish"})");
    CHECK(masked(R"(<add key="DbPassword" value="swordfish" />)") == R"(<add key="DbPassword" value="***" />)");
    CHECK(masked("<db-password>swordfish</db-password>") == "<db-password>***</db-password>");
    CHECK(masked("{\"next_token\": \"swordfish-1234\"}") == "{\"next_token\": \"swordfish-1234\"}");
    CHECK(masked("\\\"password\\\": \\\"swordfish-1234\\\", x") == "\\\"password\\\": \\\"***\\\", x");
}
