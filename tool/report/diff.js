// What went from a text and what came, first by lines, then by words within lines that were changed.

// The longest list of what two lists have in one order (Myers 1986): pairs of indices, ascending. Where they differ in
// more than `most` places only what they begin and end with.
const common = (a, b, most) => {
  let begin = 0, enda = a.length, endb = b.length;
  while (begin < enda && begin < endb && a[begin] === b[begin]) ++begin;
  while (enda > begin && endb > begin && a[enda - 1] === b[endb - 1]) --enda, --endb;
  const pairs = [];
  for (let i = 0; i < begin; ++i) pairs.push([i, i]);
  const n = enda - begin, m = endb - begin;
  if (n > 0 && m > 0) {
    const known = new Set(b.slice(begin, endb));
    const shared = a.slice(begin, enda).some((one) => known.has(one));
    if (shared) pairs.push(...walk(a, b, begin, n, m, most));
  }
  for (let i = enda, j = endb; i < a.length; ++i, ++j) pairs.push([i, j]);
  return pairs;
};
const walk = (a, b, begin, n, m, most) => {
  const limit = Math.min(most, n + m), far = new Int32Array(2 * limit + 3), trace = [];
  const at = (k) => k + limit + 1;
  for (let d = 0; d <= limit; ++d) {
    trace.push(far.slice(at(-d) - 1, at(d) + 2));
    for (let k = -d; k <= d; k += 2) {
      let x = k === -d || (k !== d && far[at(k - 1)] < far[at(k + 1)]) ? far[at(k + 1)] : far[at(k - 1)] + 1;
      while (x < n && x - k < m && a[begin + x] === b[begin + x - k]) ++x;
      far[at(k)] = x;
      if (x >= n && x - k >= m) return back(trace, begin, n, m);
    }
  }
  return [];
};
const back = (trace, begin, n, m) => {
  const pairs = [];
  let x = n, y = m;
  for (let d = trace.length - 1; d >= 0; --d) {
    const far = trace[d], at = (k) => far[k + d + 1], k = x - y;
    const before = k === -d || (k !== d && at(k - 1) < at(k + 1)) ? k + 1 : k - 1;
    const fromX = d === 0 ? 0 : at(before), fromY = d === 0 ? 0 : fromX - before;
    while (x > fromX && y > fromY) pairs.push([begin + --x, begin + --y]);
    [x, y] = [fromX, fromY];
  }
  return pairs.reverse();
};

const lines = (text) => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
const words = (text) => text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];

// The two texts in pieces, each the `same` in both or not. Lines that were changed are compared word by word, unless
// next to nothing of them is left.
const difference = (before, now) => {
  const sides = [[], []];
  const put = (side, same, text) => {
    if (text === '') return;
    const last = sides[side].at(-1);
    if (last && last.same === same) last.text += text;
    else sides[side].push({same, text});
  };
  const changed = (old, fresh) => {
    const [a, b] = [words(old), words(fresh)];
    const pairs = common(a, b, 600);
    const kept = pairs.reduce((sum, [i]) => sum + (a[i].trim() === '' ? 0 : a[i].length), 0);
    if (kept * 3 < Math.min(old.length, fresh.length)) {
      put(0, old === '', old);
      put(1, fresh === '', fresh);
      return;
    }
    let i = 0, j = 0;
    for (const [x, y] of [...pairs, [a.length, b.length]]) {
      put(0, false, a.slice(i, x).join(''));
      put(1, false, b.slice(j, y).join(''));
      if (x < a.length) put(0, true, a[x]), put(1, true, b[y]);
      [i, j] = [x + 1, y + 1];
    }
  };
  const [a, b] = [lines(before), lines(now)];
  const pairs = common(a, b, 2000);
  let i = 0, j = 0;
  for (const [x, y] of [...pairs, [a.length, b.length]]) {
    changed(a.slice(i, x).join(''), b.slice(j, y).join(''));
    if (x < a.length) put(0, true, a[x]), put(1, true, b[y]);
    [i, j] = [x + 1, y + 1];
  }
  return sides;
};
