// Counts of the JavaScript tokenizers. Usage: node counts.mjs tiktoken|gpt-tokenizer|ai-tokenizer PASSES FILE...
// Prints a JSON line per file: tokens, and the best time of the passes over slices of 2 KiB.
import { readFileSync } from "node:fs";

const SLICE = 2048;
const [library, passes, ...files] = process.argv.slice(2);

async function counterOf(name) {
  if (name === "tiktoken") {
    const encoding = (await import("tiktoken")).get_encoding("o200k_base");
    return (text) => encoding.encode_ordinary(text).length;
  }
  if (name === "gpt-tokenizer") {
    const { countTokens } = await import("gpt-tokenizer/encoding/o200k_base");
    const options = { disallowedSpecial: new Set() };
    return (text) => countTokens(text, options);
  }
  const { default: Tokenizer } = await import("ai-tokenizer");
  const tokenizer = new Tokenizer(await import("ai-tokenizer/encoding/o200k_base"));
  return (text) => tokenizer.count(text);
}

function slicesOf(bytes) {
  const parts = [];
  for (let at = 0; at < bytes.length; ) {
    let end = Math.min(at + SLICE, bytes.length);
    while (end < bytes.length && (bytes[end] & 0xc0) === 0x80) --end;
    parts.push(bytes.toString("utf8", at, end));
    at = end;
  }
  return parts;
}

const count = await counterOf(library);
for (const file of files) {
  const parts = slicesOf(Buffer.from(readFileSync(file, "utf8")));
  let [tokens, best] = [0, Infinity];
  for (let i = 0; i < Number(passes); ++i) {
    const start = performance.now();
    tokens = parts.reduce((sum, part) => sum + count(part), 0);
    best = Math.min(best, (performance.now() - start) / 1000);
  }
  console.log(JSON.stringify({ file, tokens, seconds: best }));
}
