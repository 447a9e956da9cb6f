'use strict';
// Draws the strips of a report. Texts of sessions go into the page as text only, never as markup.
(() => {
  const grouped = new Intl.NumberFormat('en-US');
  const whole = (n) => grouped.format(Math.round(n));
  const short = (n) => n < 1000 ? String(Math.round(n))
    : n < 1e6 ? (n / 1e3).toFixed(n < 1e4 ? 1 : 0).replace(/\.0$/, '') + 'k'
      : (n / 1e6).toFixed(n < 1e7 ? 2 : 1).replace(/\.?0+$/, '') + 'M';
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
  const legend = (entries) => el('ul', {class: 'legend'}, ...entries.map(([kind, name]) => el('li', {},
    svg('svg', {width: 12, height: 12, 'aria-hidden': 'true'}, svg('rect', {class: kind, width: 12, height: 12, rx: 2})),
    name)));

  const gutter = 44;  // left of every drawing, for the numbers of its axis
  const margin = 8;   // right of it

  // Steps of an axis up to `most`: round numbers, four at most.
  const steps = (most) => {
    const rough = Math.max(most, 1) / 4;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 2.5, 5, 10].map((f) => f * power).find((s) => s >= rough);
    return Array.from({length: Math.floor(most / step) + 1}, (_, i) => i * step);
  };
  const axis = (most, y, width) => steps(most).map((at) => svg('g', {},
    svg('line', {class: at === 0 ? 'axis' : 'grid', x1: gutter, x2: width - margin, y1: y(at), y2: y(at)}),
    svg('text', {x: gutter - 7, y: y(at) + 4, 'text-anchor': 'end'}, short(at))));

  // Bars between two heights each, as one path: thousands are as quick as a few.
  const bars = (kind, count, x, from, to) => {
    let d = '';
    for (let i = 0; i < count; ++i) {
      const a = from(i), b = to(i);
      if (a - b < 0.05) continue;
      d += `M${x(i).toFixed(1)} ${a.toFixed(1)}V${b.toFixed(1)}H${x(i + 1, true).toFixed(1)}V${a.toFixed(1)}Z`;
    }
    return svg('path', {class: kind, d});
  };

  // A row of things to go along: with the pointer, or as a slider with the keys.
  class Strip {
    constructor({label, count, height, draw, tell, tip, pick}) {
      Object.assign(this, {count, height, draw, tell, tip, pick, last: count - 1, at: 0, hovered: -1});
      this.hover = el('div', {class: 'tip', 'aria-hidden': 'true', hidden: ''});
      this.svg = svg('svg', {'aria-hidden': 'true', height});
      this.node = el('div', {class: 'strip', role: 'slider', tabindex: '0', 'aria-label': label,
        'aria-valuemin': 1, 'aria-valuemax': count, 'aria-valuenow': 1}, this.svg, this.hover);
      this.node.addEventListener('keydown', (event) => this.key(event));
      this.node.addEventListener('pointermove', (event) => this.point(event));
      this.node.addEventListener('pointerleave', () => this.leave());
      this.node.addEventListener('pointerdown', (event) => this.choose(this.index(event)));
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
      const page = Math.max(10, Math.round(this.count / 20));
      const moves = {ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -page, PageUp: page};
      const to = event.key === 'Home' ? 0 : event.key === 'End' ? this.last : this.at + (moves[event.key] ?? NaN);
      if (Number.isNaN(to) || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      this.choose(clamp(to, 0, this.last));
    }
    choose(i) {
      this.leave();
      this.set(i);
      this.pick(i);
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
      if (event.pointerType === 'touch' && event.buttons) return this.choose(i);
      if (i === this.hovered) return;
      this.hovered = i;
      this.hover.replaceChildren(...this.tip(i));
      this.hover.hidden = false;
      const room = this.width - this.hover.offsetWidth;
      this.hover.style.left = `${clamp(this.x(i + 0.5) - this.hover.offsetWidth / 2, 0, Math.max(0, room))}px`;
      this.hover.style.top = `${this.height + 4}px`;
      this.mark();
    }
    leave() {
      this.hovered = -1;
      this.hover.hidden = true;
      this.mark();
    }
    mark() {
      if (!this.cursor) return;
      const wide = Math.max(2, this.x(1) - this.x(0));
      const at = (i) => clamp(this.x(i + 0.5) - wide / 2, gutter, this.width - margin - wide);
      this.shade.setAttribute('x', at(Math.max(0, this.hovered)));
      this.shade.setAttribute('width', this.hovered < 0 ? 0 : wide);
      this.cursor.setAttribute('x', at(this.at) - 1);
      this.cursor.setAttribute('width', wide + 2);
      const middle = at(this.at) + wide / 2;
      this.arrow.setAttribute('d', `M${middle} ${this.height - 7}l5 7h-10Z`);
    }
    render() {
      this.width = Math.max(160, this.node.clientWidth);
      this.svg.setAttribute('viewBox', `0 0 ${this.width} ${this.height}`);
      this.shade = svg('rect', {class: 'hovered', y: 2, height: this.height - 10});
      this.cursor = svg('rect', {class: 'cursor', y: 2, height: this.height - 10, rx: 1});
      this.arrow = svg('path', {class: 'picked'});
      this.svg.replaceChildren(...this.draw(this), this.shade, this.cursor, this.arrow);
      this.mark();
    }
  }

  const fates = ['later', 'kept', 'new', 'added', 'cut', 'cleared', 'folded', 'removed'];
  const became = {
    kept: 'as it was recorded', new: 'new in this request', added: 'written by the chain', cut: 'shortened',
    cleared: 'replaced by a placeholder', folded: 'folded into a summary', removed: 'taken out',
  };

  class Session {
    constructor(section, data) {
      const [per, columns] = [data.columns.per, data.columns];
      Object.assign(this, {section, data, per, columns, count: columns.sent.length, texts: data.texts});
      this.messages = data.messages.map(([recorded, call, role, tool, tokens, text]) =>
        ({recorded, call, role: data.names[role], tool: data.names[tool], tokens, text, edits: []}));
      this.byColumn = new Map();
      for (const [message, call, fate, tokens, by, rule, count, threshold, text, summary] of data.edits) {
        const edit = {message, call, fate: data.names[fate], tokens, by: data.names[by], rule: data.names[rule],
          count, threshold, text, summary};
        edit.before = (this.messages[message].edits.at(-1) ?? this.messages[message]).tokens;
        this.messages[message].edits.push(edit);
        const column = Math.floor(call / per);
        if (!this.byColumn.has(column)) this.byColumn.set(column, []);
        this.byColumn.get(column).push(edit);
      }
      this.build();
    }

    // The calls of a column, from 1 as people count.
    callName(column) {
      const first = column * this.per + 1, last = Math.min(this.data.calls, first + this.per - 1);
      return first === last ? `Call ${whole(first)}` : `Calls ${whole(first)} to ${whole(last)}`;
    }
    callTip(column) {
      const c = this.columns;
      return `${whole(c.sent[column])} tokens sent, ${whole(c.cached[column])} of them cached, ` +
        `${whole(Math.max(0, c.recorded[column] - c.sent[column]))} left out` +
        (c.edits[column] ? `; ${whole(c.edits[column])} messages changed` : '');
    }
    lastCall() { return Math.min(this.data.calls, (this.column + 1) * this.per) - 1; }
    edit(message) {
      let found = null;
      for (const edit of message.edits) if (edit.call <= this.lastCall()) found = edit;
      return found;
    }
    fate(message) {
      if (message.call > this.lastCall()) return 'later';
      const edit = this.edit(message);
      if (edit && edit.fate !== 'kept') return edit.fate;
      return message.call >= this.column * this.per ? 'new' : 'kept';
    }
    messageName(message) {
      const who = message.role === 'tool' ? `result of ${message.tool || 'a tool'}` : message.tool
        ? `${message.role}, result of ${message.tool}` : message.role;
      return message.recorded < 0 ? `Written by the chain: ${who}` : `Message ${whole(message.recorded + 1)}: ${who}`;
    }
    ruleText(edit) {
      const limit = edit.threshold > 0 ? `, at ${whole(edit.count)} tokens with a limit of ${whole(edit.threshold)}` : '';
      return `${edit.by ? `by ${edit.by}, ` : ''}${edit.rule ? `rule ${edit.rule}, ` : ''}from call ${whole(edit.call + 1)} on${limit}`;
    }

    build() {
      const c = this.columns;
      this.calls = new Strip({
        label: 'Calls', count: this.count, height: 190,
        draw: (strip) => this.drawCalls(strip),
        tell: (i) => `${this.callName(i)}: ${this.callTip(i)}`,
        tip: (i) => [el('b', {}, this.callName(i)), this.callTip(i)],
        pick: (i) => this.showCall(i),
      });
      this.strip = new Strip({
        label: 'Messages of the call', count: Math.max(1, this.messages.length), height: 120,
        draw: (strip) => this.drawMessages(strip),
        tell: (i) => this.tellMessage(i).join(': '),
        tip: (i) => {
          const message = this.messages[i];
          if (!message) return [];
          const [name, fate] = this.tellMessage(i);
          return [el('b', {}, name), fate, el('span', {}, this.preview(message))];
        },
        pick: (i) => this.showMessage(i),
      });
      this.plot = el('div', {class: 'plot'});
      this.callNode = el('div', {class: 'call'});
      this.messageNode = el('div', {class: 'message'});
      const happened = new Set(this.data.edits.map((edit) => this.data.names[edit[2]]));
      const shown = fates.filter((f) => f === 'kept' || f === 'new' || happened.has(f));
      fill(this.section.querySelector('.stage'), {}, [
        el('div', {class: 'strip-head'}, el('h3', {}, 'What each call sent, in tokens'), legend([
          ['cached', 'read from the cache'], ['fresh', 'not from the cache'], ['gone', 'left out'], ['edit-tick', 'messages changed here']])),
        this.calls.node,
        el('h3', {}, 'Cost of the input so far, in tokens at the plain input price'), this.plot,
        this.callNode,
        el('div', {class: 'strip-head'}, el('h3', {}, 'Messages of this call'),
          legend(shown.map((f) => [`f-${f}`, became[f]]))),
        this.strip.node,
        this.messageNode,
        el('p', {class: 'keys'}, 'On a strip: ', el('kbd', {}, '←'), ' ', el('kbd', {}, '→'), ' one on, ',
          el('kbd', {}, 'Page ↑'), ' ', el('kbd', {}, 'Page ↓'), ' many, ', el('kbd', {}, 'Home'), ' ',
          el('kbd', {}, 'End'), ' first and last; ', el('kbd', {}, 'Tab'), ' to the next one. A click picks.'),
        this.data.messages_left_out + this.data.edits_left_out > 0 ? el('p', {class: 'note'},
          `Not listed, since there are too many: ${whole(this.data.messages_left_out)} messages that nothing was done to, ` +
          `${whole(this.data.edits_left_out)} edits.`) : null,
      ]);
      let start = 0, most = -1;
      for (const [column, edits] of this.byColumn) {
        const less = edits.reduce((sum, edit) => sum + edit.before - edit.tokens, 0);
        if (less > most) [start, most] = [column, less];
      }
      this.column = most < 0 ? this.count - 1 : start;
      this.calls.set(this.column);
      this.showCall(this.column);
    }

    tellMessage(i) {
      const message = this.messages[i];
      if (!message) return ['No message', ''];
      const edit = this.edit(message), fate = this.fate(message);
      const size = edit && edit.fate !== 'added' ? `${whole(message.tokens)} tokens, now ${whole(edit.tokens)}` : `${whole(message.tokens)} tokens`;
      return [this.messageName(message), `${size}, ${became[fate] ?? fate}` +
        (edit && fate !== 'kept' && fate !== 'new' ? `, ${this.ruleText(edit)}` : '')];
    }
    preview(message) {
      const text = this.texts[message.text];
      return text === undefined ? '' : (typeof text === 'string' ? text : text[0]).slice(0, 240);
    }

    drawCalls(strip) {
      const c = this.columns, top = 8, low = strip.height - 16;
      const most = Math.max(1, ...c.sent, ...c.recorded);
      const y = (tokens) => low - tokens / most * (low - top);
      const x = (i, isEnd) => strip.x(i, isEnd);
      const ticks = bars('edit-tick', this.count, x, (i) => c.edits[i] ? low + 5 : low + 2, () => low + 2);
      return [...axis(most, y, strip.width),
        bars('gone', this.count, x, (i) => y(c.sent[i]), (i) => y(Math.max(c.sent[i], c.recorded[i]))),
        bars('fresh', this.count, x, (i) => y(c.cached[i]), (i) => y(c.sent[i])),
        bars('cached', this.count, x, () => low, (i) => y(c.cached[i])), ticks];
    }

    drawMessages(strip) {
      const low = strip.height - 12, columns = Math.min(this.messages.length, Math.floor(strip.width - gutter - margin));
      const most = Math.sqrt(Math.max(1, ...this.messages.map((m) => m.tokens)));
      const height = (tokens) => tokens <= 0 ? 1.5 : Math.max(3, Math.sqrt(tokens) / most * (low - 6));
      const heights = Object.fromEntries([...fates, 'gone'].map((f) => [f, new Float32Array(columns)]));
      this.messages.forEach((message, i) => {
        const column = Math.floor(i * columns / this.messages.length), fate = this.fate(message);
        const now = fate === 'later' ? 0 : this.edit(message)?.tokens ?? message.tokens;
        heights[fate][column] = Math.max(heights[fate][column], fate === 'later' ? 3 : height(now));
        if (fate !== 'later') heights.gone[column] = Math.max(heights.gone[column], height(message.tokens));
      });
      const scale = this.messages.length / Math.max(1, columns);
      const x = (i, isEnd) => strip.x(i * scale, isEnd);
      return [svg('line', {class: 'axis', x1: gutter, x2: strip.width - margin, y1: low, y2: low}),
        ...['gone', ...fates].map((f) => bars(f === 'gone' ? 'gone' : `f-${f}`, columns, x, () => low, (i) => low - heights[f][i]))];
    }

    drawCosts() {
      const width = Math.max(160, this.plot.clientWidth), height = 150, top = 20, low = height - 8, c = this.columns;
      const most = Math.max(1, c.cost_recorded.at(-1) ?? 0, c.cost_sent.at(-1) ?? 0);
      const y = (cost) => low - cost / most * (low - top);
      const x = (i) => gutter + (i + 1) / this.count * (width - gutter - margin);
      const line = (costs) => `M${gutter} ${low}` + costs.map((cost, i) => `L${x(i).toFixed(1)} ${y(cost).toFixed(1)}`).join('');
      const back = (costs) => costs.map((cost, i) => `L${x(i).toFixed(1)} ${y(cost).toFixed(1)}`).reverse().join('');
      const [noop, ours] = [c.cost_recorded.at(-1) ?? 0, c.cost_sent.at(-1) ?? 0];
      let [yNoop, yOurs] = [y(noop) - 7, y(ours) - 7];
      if (Math.abs(yNoop - yOurs) < 15) yOurs = Math.max(yNoop, yOurs) + 22;
      this.costCursor = svg('line', {class: 'cursor', y1: top - 6, y2: low});
      const label = `${this.data.chain}: ${whole(ours)}; everything sent: ${whole(noop)}`;
      this.plot.replaceChildren(svg('svg', {role: 'img', 'aria-label': `Cost at the end, ${label}`, height, viewBox: `0 0 ${width} ${height}`},
        ...axis(most, y, width),
        svg('path', {class: 'between', d: `${line(c.cost_recorded)}${back(c.cost_sent)}Z`}),
        svg('path', {class: 'noop', d: line(c.cost_recorded)}), svg('path', {class: 'ours', d: line(c.cost_sent)}),
        svg('text', {class: 'of-noop', x: width - margin - 2, y: yNoop, 'text-anchor': 'end'}, `everything sent ${short(noop)}`),
        svg('text', {class: 'of-ours', x: width - margin - 2, y: Math.min(yOurs, low - 4), 'text-anchor': 'end'}, `${this.data.chain} ${short(ours)}`),
        this.costCursor));
      this.costX = x;
      this.markCost();
    }
    markCost() {
      if (!this.costCursor) return;
      this.costCursor.setAttribute('x1', this.costX(this.column));
      this.costCursor.setAttribute('x2', this.costX(this.column));
    }

    // The next column with edits in a direction, or -1.
    nextCut(direction) {
      for (let i = this.column + direction; i >= 0 && i < this.count; i += direction) if (this.columns.edits[i]) return i;
      return -1;
    }
    cutButton(name, direction) {
      const to = this.nextCut(direction);
      const button = el('button', {type: 'button'}, name);
      button.disabled = to < 0;
      button.addEventListener('click', () => {
        this.calls.set(to);
        this.showCall(to);
        const twin = this.callNode.querySelectorAll('.row button')[direction < 0 ? 0 : 1];
        (twin.disabled ? this.calls.node : twin).focus();
      });
      return button;
    }

    showCall(column) {
      this.column = column;
      const c = this.columns, edits = this.byColumn.get(column) ?? [];
      const largest = [...edits].sort((a, b) => (b.before - b.tokens) - (a.before - a.tokens));
      const name = `${this.callName(column)} of ${whole(this.data.calls)}`;
      const changed = c.edits[column];
      this.callNode.replaceChildren(
        el('div', {class: 'row'}, el('h3', {}, name), this.cutButton('Earlier cut', -1), this.cutButton('Later cut', 1)),
        values([['sent', whole(c.sent[column])], ['of them cached', whole(c.cached[column])],
          ['everything', whole(c.recorded[column])], ['left out', whole(Math.max(0, c.recorded[column] - c.sent[column]))],
          ['cost so far', `${whole(c.cost_sent[column])} of ${whole(c.cost_recorded[column])}`]]),
        el('p', {class: 'rule'}, changed
          ? `In front of it the chain changed ${changed === 1 ? '1 message' : `${whole(changed)} messages`}` + (largest.length === 0 ? '.' : largest.length === 1 ? ':' : ', the largest:')
          : 'Nothing was changed in front of it.'),
        el('div', {class: 'row picks'}, ...largest.slice(0, 6).map((edit) => {
          const message = this.messages[edit.message];
          const button = el('button', {type: 'button'}, `${message.recorded < 0 ? 'written' : `${whole(message.recorded + 1)} ${message.tool || message.role}`}: ` +
            `${edit.fate === 'added' ? '' : `${whole(edit.before)} → `}${whole(edit.tokens)}`);
          button.addEventListener('click', () => this.strip.choose(edit.message));
          return button;
        })));
      this.markCost();
      let last = this.messages.length - 1;
      while (last > 0 && this.messages[last].call > this.lastCall()) --last;
      const message = largest.length ? largest[0].message : last;
      if (this.strip.width) this.strip.render();
      this.strip.set(message, Math.max(0, last));
      this.showMessage(message);
    }

    text(index, missing, lines = null) {
      const text = this.texts[index];
      if (text === undefined) return el('p', {class: 'note'}, missing);
      const pre = el('pre', {tabindex: '0', role: 'region'});
      if (lines) return fill(pre, {}, lines);
      if (typeof text === 'string') return fill(pre, {}, [text]);
      const [head, n, tail] = text;
      return fill(pre, {}, [head, this.gap(n), tail]);
    }
    // What is sent and the original, line by line: what went is marked in the one, what came in the other. Of an original
    // that is not whole only lines that stand nowhere in what is sent are marked. Nulls where that cannot be told.
    compared(sent, original) {
      const [a, b] = [this.texts[sent], this.texts[original]];
      if (typeof a !== 'string' || b === undefined) return [null, null];
      if (typeof b !== 'string') return [null, this.marked(a, b)];
      const [now, before] = [a, b].map((text) => text.match(/[^\n]*\n|[^\n]+$/g) ?? []);
      const kept = new Set(now), rest = new Map();
      for (const line of before) rest.set(line, (rest.get(line) ?? 0) + 1);
      const parts = [[], []];  // of what is sent, and of the original
      const put = (side, name, text) => {
        const last = parts[side].at(-1);
        if (last?.name === name) last.text += text;
        else if (text !== '') parts[side].push({name, text});
      };
      let at = 0;
      const step = () => {
        rest.set(before[at], rest.get(before[at]) - 1);
        return before[at++];
      };
      const pair = (line, old) => {
        let front = 0, end = 0;
        const most = Math.min(line.length, old.length);
        while (front < most && line[front] === old[front]) ++front;
        while (end < most - front && line.at(-1 - end) === old.at(-1 - end)) ++end;
        for (const [side, name, text] of [[0, 'ins', line], [1, 'del', old]]) {
          put(side, 'span', text.slice(0, front));
          put(side, name, text.slice(front, text.length - end));
          put(side, 'span', text.slice(text.length - end));
        }
      };
      for (const line of now) {
        if (rest.get(line) > 0) {
          while (before[at] !== line) put(1, 'del', step());
          put(1, 'span', step());
          put(0, 'span', line);
        } else if (at < before.length && !kept.has(before[at])) {
          pair(line, step());
        } else {
          put(0, 'ins', line);
        }
      }
      while (at < before.length) put(1, 'del', step());
      return parts.map((side) => side.map(({name, text}) => el(name, {}, text)));
    }
    marked(sent, [head, n, tail]) {
      const kept = new Set(sent.split('\n'));
      const lines = (text) => (text.match(/[^\n]*\n|[^\n]+$/g) ?? []).map((line) =>
        el(kept.has(line.replace(/\n$/, '')) ? 'span' : 'del', {}, line));
      return [...lines(head), this.gap(n), ...lines(tail)];
    }
    gap(bytes) { return el('mark', {}, `${whole(bytes)} bytes are not in this file`); }
    labelled(title, node) {
      if (node.tagName === 'PRE') node.setAttribute('aria-label', title);
      return el('div', {}, el('h4', {}, title), node);
    }

    showMessage(i) {
      const message = this.messages[i];
      if (!message) return this.messageNode.replaceChildren(el('p', {class: 'note'}, 'No message stood in a request.'));
      const edit = this.edit(message), fate = this.fate(message);
      const isChanged = edit && edit.fate !== 'kept' && edit.fate !== 'added';
      const [sent, original] = isChanged ? this.compared(edit.text, message.text) : [null, null];
      const texts = isChanged ? [
        this.labelled('In this request', edit.summary >= 0
          ? this.text(this.messages[edit.summary].text, 'A summary without text.')
          : this.text(edit.text, 'Nothing: it is not in the request.', sent)),
        this.labelled('The original', this.text(message.text, 'It has no text.', original)),
      ] : [this.labelled(fate === 'added' ? 'What the chain wrote' : 'As it is sent', this.text(message.text, 'It has no text.'))];
      this.messageNode.replaceChildren(
        el('div', {class: 'row'}, el('h3', {}, this.messageName(message))),
        el('p', {class: 'rule'}, el('span', {class: 'chip'}, fate), became[fate] ?? '',
          edit && fate !== 'kept' && fate !== 'new' ? `: ${this.ruleText(edit)}` : ''),
        values([['tokens', isChanged ? `${whole(message.tokens)} → ${whole(edit.tokens)}` : whole(message.tokens)],
          ['came with call', whole(message.call + 1)]]),
        el('div', {class: 'texts'}, ...texts));
      for (const pre of this.messageNode.querySelectorAll('pre')) {
        const first = pre.querySelector('del, ins');
        if (first) pre.scrollTop = Math.max(0, first.offsetTop - pre.offsetTop - 40);
      }
    }

    render() {
      this.calls.render();
      this.strip.render();
      this.drawCosts();
    }
  }

  const sections = [...document.querySelectorAll('.session')];
  const sessions = new Map();
  const show = (section) => {
    for (const other of sections) other.hidden = other !== section;
    if (!sessions.has(section)) sessions.set(section, new Session(section, JSON.parse(section.querySelector('.story').textContent)));
    sessions.get(section).render();
  };
  if (sections.length > 1) {
    const select = el('select', {id: 'picker'}, ...sections.map((section, i) =>
      el('option', {value: i}, section.querySelector('h2').textContent)));
    select.addEventListener('change', () => show(sections[select.value]));
    sections[0].before(el('div', {class: 'picker'}, el('label', {for: 'picker'}, 'Session'), select));
  }
  if (sections.length > 0) {
    show(sections[0]);
    let width = 0;
    new ResizeObserver(([entry]) => {
      if (entry.contentRect.width === width) return;
      width = entry.contentRect.width;
      for (const [section, session] of sessions) if (!section.hidden) session.render();
    }).observe(document.querySelector('main'));
  }
})();
