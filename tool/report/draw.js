// What all drawings of a report are made of. Texts of sessions go into the page as text only, never as markup.
const numbers = new Intl.NumberFormat('en-US');
const whole = (n) => numbers.format(Math.round(n));
const short = (n) => n < 1000 ? String(Math.round(n))
  : n < 1e6 ? (n / 1e3).toFixed(n < 1e4 ? 1 : 0).replace(/\.0$/, '') + 'k'
    : (n / 1e6).toFixed(n < 1e7 ? 2 : 1).replace(/\.?0+$/, '') + 'M';
const count = (n, what) => `${whole(n)} ${what}${n === 1 ? '' : 's'}`;
const clamp = (n, least, most) => Math.max(least, Math.min(most, n));

const fill = (node, attributes, children) => {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children.filter((child) => child !== null));
  return node;
};
const el = (name, attributes = {}, ...children) => fill(document.createElement(name), attributes, children);
const svg = (name, attributes = {}, ...children) =>
  fill(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, children);
const values = (pairs) => el('dl', {class: 'values'}, ...pairs.map(([name, value]) =>
  el('div', {}, el('dt', {}, name), el('dd', {}, value))));

// What each colour of the drawings means, by its class in the style.
const meanings = {
  cached: 'sent, read from the cache', fresh: 'sent, not from the cache', gone: 'left out', uncounted: 'does not count here',
  'edit-tick': 'messages changed before this call', 'as-sent': 'as sent', 'under-chain': 'under the chain',
  saved: 'saved so far', overspent: 'spent more so far', went: 'went', came: 'came',
  'f-kept': 'as it was recorded', 'f-new': 'new in this call', 'f-cut': 'shortened', 'f-cleared': 'replaced by a placeholder',
  'f-folded': 'folded into a summary', 'f-removed': 'taken out', 'f-added': 'written by the chain', 'f-later': 'comes later',
};
// Entries are classes, or pairs of a class and what it means here. Lines are drawn as lines.
const legend = (entries) => el('ul', {class: 'legend'}, ...entries.map((entry) => {
  const [kind, meaning] = Array.isArray(entry) ? entry : [entry, meanings[entry]];
  const [first, ...more] = kind.split(' ');
  const mark = more.includes('line') ? svg('path', {class: kind, d: 'M0 6H18'})
    : svg('rect', {class: first, width: 12, height: 12, rx: 2});
  return el('li', {}, svg('svg', {width: more.includes('line') ? 18 : 12, height: 12, 'aria-hidden': 'true'}, mark), meaning);
}));

const gutter = 48;  // left of every drawing, for the numbers of its axis
const margin = 8;   // right of it

// Steps of an axis up to `most`: round numbers, five at most.
const steps = (most) => {
  if (!(most > 0)) return [0];
  const rough = most / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((f) => f * power).find((s) => s >= rough * 0.999);
  return Array.from({length: Math.floor(most / step * 1.001) + 1}, (_, i) => i * step);
};
const axis = (most, y, width, write = short) => steps(most).map((at) => svg('g', {},
  svg('line', {class: at === 0 ? 'axis' : 'grid', x1: gutter, x2: width - margin, y1: y(at), y2: y(at)}),
  svg('text', {x: gutter - 7, y: y(at) + 4, 'text-anchor': 'end'}, write(at))));

// Bars between two heights each, as one path: thousands are as quick as a few. One that is not nothing has a pixel.
const bars = (kind, number, x, from, to) => {
  let d = '';
  for (let i = 0; i < number; ++i) {
    const a = from(i), b = to(i);
    if (!(a - b > 0)) continue;
    d += `M${x(i).toFixed(1)} ${a.toFixed(1)}V${Math.min(b, a - 1).toFixed(1)}H${x(i + 1, true).toFixed(1)}V${a.toFixed(1)}Z`;
  }
  return svg('path', {class: kind, d});
};

// A row of things to go along: with the pointer, or as a slider with the keys.
class Strip {
  // `least`: pixels that a thing takes; where they do not fit the strip is wider than its frame, which scrolls.
  // `pick(i, isClick)`; `hovered(i)`: -1 when the pointer leaves.
  constructor({label, count, height, draw, tell, tip, pick, hovered = () => {}, least = 0}) {
    Object.assign(this, {count, height, draw, tell, tip, pick, onHover: hovered, least, last: count - 1, at: 0, hovered: -1});
    this.hover = el('div', {class: 'tip', 'aria-hidden': 'true', hidden: ''});
    this.svg = svg('svg', {'aria-hidden': 'true', height});
    this.node = el('div', {class: 'scroll', role: 'slider', tabindex: '0', 'aria-label': label,
      'aria-valuemin': 1, 'aria-valuemax': count, 'aria-valuenow': 1}, this.svg);
    this.frame = el('div', {class: 'strip'}, this.node, this.hover);
    this.node.addEventListener('keydown', (event) => this.key(event));
    this.svg.addEventListener('pointermove', (event) => this.point(event));
    this.frame.addEventListener('pointerleave', () => this.leave());
    this.svg.addEventListener('click', (event) => this.choose(this.index(event), true));
    this.node.addEventListener('blur', () => this.leave());
  }
  x(i, isEnd = false) {
    const step = (this.width - gutter - margin) / this.count;
    return gutter + i * step - (isEnd && step > 3 ? 1 : 0);
  }
  index(event) {
    const x = event.clientX - this.svg.getBoundingClientRect().left - gutter;
    return clamp(Math.floor(x / (this.width - gutter - margin) * this.count), 0, this.last);
  }
  key(event) {
    if (event.key === 'Enter') return this.choose(this.at, true);
    const page = Math.max(10, Math.round(this.count / 20));
    const moves = {ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -page, PageUp: page};
    const to = event.key === 'Home' ? 0 : event.key === 'End' ? this.last : this.at + (moves[event.key] ?? NaN);
    if (Number.isNaN(to) || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    this.choose(clamp(to, 0, this.last), false);
  }
  choose(i, isClick) {
    this.leave();
    this.set(i);
    const x = this.x(this.at + 0.5) - this.node.scrollLeft;
    if (x < gutter || x > this.node.clientWidth - margin) this.node.scrollLeft = this.x(this.at + 0.5) - this.node.clientWidth / 2;
    this.pick(this.at, isClick);
  }
  set(i, last = this.last) {
    this.last = last;
    this.at = clamp(i, 0, last);
    this.node.setAttribute('aria-valuemax', last + 1);
    this.node.setAttribute('aria-valuenow', this.at + 1);
    this.node.setAttribute('aria-valuetext', this.tell(this.at));
    this.mark();
  }
  point(event) {
    const i = this.index(event);
    if (i === this.hovered) return;
    this.shade(i);
    this.onHover(i);
    this.hover.replaceChildren(...this.tip(i));
    this.hover.hidden = false;
    const middle = this.x(i + 0.5) - this.node.scrollLeft - this.hover.offsetWidth / 2;
    this.hover.style.left = `${clamp(middle, 0, Math.max(0, this.node.clientWidth - this.hover.offsetWidth))}px`;
    this.hover.style.top = `${this.height + 4}px`;
  }
  shade(i) {
    this.hovered = i;
    this.mark();
  }
  leave() {
    this.hover.hidden = true;
    if (this.hovered >= 0) this.onHover(-1);
    this.shade(-1);
  }
  mark() {
    if (!this.cursor) return;
    const wide = Math.max(2, this.x(1) - this.x(0));
    const at = (i) => clamp(this.x(i + 0.5) - wide / 2, gutter, this.width - margin - wide);
    this.shadow.setAttribute('x', at(Math.max(0, this.hovered)));
    this.shadow.setAttribute('width', this.hovered < 0 ? 0 : wide);
    this.cursor.setAttribute('x', at(this.at) - 1);
    this.cursor.setAttribute('width', wide + 2);
    const middle = at(this.at) + wide / 2;
    this.arrow.setAttribute('d', `M${middle} ${this.height - 7}l5 7h-10Z`);
  }
  render() {
    this.width = Math.max(160, this.node.clientWidth, gutter + margin + this.count * this.least);
    this.svg.setAttribute('viewBox', `0 0 ${this.width} ${this.height}`);
    this.svg.setAttribute('width', this.width);
    this.shadow = svg('rect', {class: 'hovered', y: 2, height: this.height - 10});
    this.cursor = svg('rect', {class: 'cursor', y: 2, height: this.height - 10, rx: 1});
    this.arrow = svg('path', {class: 'picked'});
    this.svg.replaceChildren(...this.draw(this), this.shadow, this.cursor, this.arrow);
    this.mark();
  }
}
