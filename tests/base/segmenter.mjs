// Prints, for each line of code points in hexadecimal, at which bytes of their UTF-8 the grapheme clusters begin that
// Intl.Segmenter finds. First a line with the version of Unicode that it knows.
import { readFileSync } from "node:fs";

const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });
const lines = [process.versions.unicode];
for (const line of readFileSync(process.argv[2], "utf8").split("\n").slice(0, -1)) {
  const text = String.fromCodePoint(...line.split(" ").filter((hex) => hex).map((hex) => parseInt(hex, 16)));
  const starts = [];
  let bytes = 0;
  for (const { segment } of segmenter.segment(text)) {
    starts.push(bytes);
    bytes += Buffer.byteLength(segment);
  }
  lines.push(starts.join(" "));
}
console.log(lines.join("\n"));
