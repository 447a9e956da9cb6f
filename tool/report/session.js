// One session call by call: what each call sent, what it cost so far, and the messages of the call that is picked.
const states = ['later', 'kept', 'new', 'added', 'cut', 'cleared', 'folded', 'removed'];
const dollars = (n) => '$' + n.toLocaleString('en-US', n > 0 && n < 0.1 ? {minimumFractionDigits: 4, maximumFractionDigits: 4}
  : {minimumFractionDigits: 2, maximumFractionDigits: 2});

const shortDollars = (n) => n === 0 ? '$0' : n < 10 ? dollars(n) : `$${short(n)}`;

class Session {
  constructor(section, data) {
    const [per, columns] = [data.columns.per, data.columns];
    Object.assign(this, {section, data, per, columns, count: columns.sent.length, texts: data.texts});
    this.messages = data.messages.map(([recorded, call, role, tool, tokens, text]) =>
      ({recorded, call, role: data.names[role], tool: data.names[tool], tokens, text, edits: []}));
    this.byColumn = new Map();
    for (const [message, call, state, tokens, by, rule, tokensThen, threshold, text, summary] of data.edits) {
      const edit = {message, call, state: data.names[state], tokens, by: data.names[by], rule: data.names[rule],
        tokensThen, threshold, text, summary};
      edit.before = (this.messages[message].edits.at(-1) ?? this.messages[message]).tokens;
      this.messages[message].edits.push(edit);
      const column = Math.floor(call / per);
      if (!this.byColumn.has(column)) this.byColumn.set(column, []);
      this.byColumn.get(column).push(edit);
    }
    this.build();
  }

  cost(tokens) { return this.data.price === null ? whole(tokens) : dollars(tokens * this.data.price); }
  // Up to a call.
  costSoFar(tokens) { return this.data.price === null ? whole(tokens) : dollars(this.data.beside + tokens * this.data.price); }
  // Of the calls of a column, from sums up to each one.
  costOf(sums, column) { return sums[column] - (column > 0 ? sums[column - 1] : 0); }
  get under() { return `under ${this.data.chain}`; }

  // The calls of a column, from 1 as people count.
  callName(column) {
    const first = column * this.per + 1, last = Math.min(this.data.calls, first + this.per - 1);
    return first === last ? `Call ${whole(first)}` : `Calls ${whole(first)} to ${whole(last)}`;
  }
  isUncounted(column) { return this.columns.uncounted[column] > 0; }
  callTip(column) {
    const c = this.columns, less = c.recorded[column] - c.sent[column];
    return `${whole(c.sent[column])} tokens sent, ${whole(c.cached[column])} of them read from the cache` +
      (less > 0 ? `, ${whole(less)} left out` : less < 0 ? `, ${whole(-less)} more than ${this.data.base}` : '') +
      (c.edits[column] ? `; ${count(c.edits[column], 'message')} changed` : '') +
      (this.isUncounted(column) ? '; does not count here' : '');
  }
  costTip(column) {
    const c = this.columns, again = this.costOf(c.refetches_sent, column);
    return [`so far ${this.costSoFar(c.cost_recorded[column])} ${this.data.base}, ${this.costSoFar(c.cost_sent[column])} ${this.under}`,
      `this call ${this.cost(this.costOf(c.cost_recorded, column))} and ${this.cost(this.costOf(c.cost_sent, column))}` +
      (again > 0 ? `, of it ${this.cost(again)} for what was fetched again` : '')];
  }
  lastCall() { return Math.min(this.data.calls, (this.column + 1) * this.per) - 1; }
  edit(message) {
    let found = null;
    for (const edit of message.edits) if (edit.call <= this.lastCall()) found = edit;
    return found;
  }
  state(message) {
    if (message.call > this.lastCall()) return 'later';
    const edit = this.edit(message);
    if (edit && edit.state !== 'kept') return edit.state;
    return message.call >= this.column * this.per ? 'new' : 'kept';
  }
  messageName(message) {
    const who = message.role === 'tool' ? `result of ${message.tool || 'a tool'}` : message.tool
      ? `${message.role}, result of ${message.tool}` : message.role;
    return message.recorded < 0 ? `Written by the chain: ${who}` : `Message ${whole(message.recorded + 1)}: ${who}`;
  }
  ruleText(edit) {
    const limit = edit.threshold > 0 ? `, when there were ${whole(edit.tokensThen)} tokens with a limit of ${whole(edit.threshold)}` : '';
    return `${edit.by ? `by the middleware ${edit.by}` : ''}${edit.rule ? `, rule ${edit.rule}` : ''}, from call ${whole(edit.call + 1)} on${limit}`;
  }

  build() {
    const c = this.columns, {base} = this.data;
    const strip = (label, height, draw, tip, tell) => new Strip({
      label, height, count: this.count, draw,
      tell: (i) => `${this.callName(i)}: ${tell(i)}`,
      tip: (i) => [el('b', {}, this.callName(i)), ...tip(i)],
      pick: (i) => this.showCall(i),
      hovered: (i) => { for (const other of [this.calls, this.costs]) other.shade(i); },
    });
    this.calls = strip('Calls: what each sent', 190, (s) => this.drawCalls(s), (i) => [this.callTip(i)], (i) => this.callTip(i));
    this.costs = strip('Calls: the cost so far', 160, (s) => this.drawCosts(s),
      (i) => this.costTip(i).map((line) => el('div', {}, line)), (i) => this.costTip(i).join('; '));
    this.strip = new Strip({
      label: 'Messages of the call', count: Math.max(1, this.messages.length), height: 150,
      draw: (s) => this.drawMessages(s),
      tell: (i) => this.describeMessage(i).join(': '),
      tip: (i) => {
        const message = this.messages[i];
        if (!message) return [];
        const [name, state] = this.describeMessage(i);
        return [el('b', {}, name), state, el('span', {}, this.preview(message))];
      },
      pick: (i) => this.showMessage(i),
    });
    this.callNode = el('div', {class: 'call'});
    this.messageNode = el('div', {class: 'message'});
    this.messageNote = el('p', {class: 'note'});
    const happened = new Set(this.data.edits.map((edit) => this.data.names[edit[2]]));
    const shown = states.filter((f) => f === 'kept' || f === 'new' || f === 'later' || happened.has(f));
    const has = (test) => c.sent.some((_, i) => test(i));
    const kinds = ['cached', 'fresh'];
    if (has((i) => c.recorded[i] > c.sent[i])) kinds.push('gone');
    if (this.isLarger = has((i) => c.recorded[i] < c.sent[i])) kinds.push(['as-sent line', base]);
    if (has((i) => c.edits[i] > 0)) kinds.push('edit-tick');
    if (has((i) => this.isUncounted(i))) kinds.push('uncounted');
    const ends = [c.cost_recorded.at(-1) ?? 0, c.cost_sent.at(-1) ?? 0];
    const lines = [['as-sent line', `${base}: ${this.costSoFar(ends[0])}`], ['under-chain line', `${this.under}: ${this.costSoFar(ends[1])}`]];
    if (has((i) => c.cost_recorded[i] > c.cost_sent[i])) lines.push('saved');
    if (has((i) => c.cost_recorded[i] < c.cost_sent[i])) lines.push('overspent');
    const head = (title, entries) => el('div', {class: 'strip-head'}, el('h4', {}, title), legend(entries));
    fill(this.section.querySelector('.stage'), {}, [
      head(`Tokens that each call sent ${this.under}`, kinds), this.calls.frame,
      head(this.data.price === null ? "Cost so far, in tokens' worth" : 'Cost so far, in dollars', lines), this.costs.frame,
      this.data.beside > 0 ? el('p', {class: 'note'}, `Both begin at ${dollars(this.data.beside)}, billed for calls that no message of the log shows.`) : null,
      this.callNode,
      head('Messages of this call, by tokens', shown.map((f) => `f-${f}`).concat(happened.size > 0 ? ['gone'] : [])),
      this.strip.frame, this.messageNote,
      this.messageNode,
      el('p', {class: 'keys'}, 'On a chart: ', el('kbd', {}, '←'), ' ', el('kbd', {}, '→'), ' one on, ',
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
    this.showCall(most < 0 ? this.count - 1 : start);
  }

  describeMessage(i) {
    const message = this.messages[i];
    if (!message) return ['No message', ''];
    const edit = this.edit(message), state = this.state(message);
    const size = edit && edit.state !== 'added' ? `${whole(message.tokens)} tokens, now ${whole(edit.tokens)}` : count(message.tokens, 'token');
    return [this.messageName(message), `${size}, ${meanings[`f-${state}`]}` +
      (edit && state !== 'kept' && state !== 'new' ? ` ${this.ruleText(edit)}` : '')];
  }
  preview(message) {
    const text = this.texts[message.text];
    return text === undefined ? '' : (typeof text === 'string' ? text : text[0]).slice(0, 240);
  }

  // A line with a tread for each column.
  stair(kind, heights, x) {
    return svg('path', {class: kind, d: heights.map((y, i) => `${i === 0 ? 'M' : 'L'}${x(i).toFixed(1)} ${y.toFixed(1)}H${x(i + 1).toFixed(1)}`).join('')});
  }
  drawCalls(strip) {
    const c = this.columns, top = 8, low = strip.height - 16;
    const most = Math.max(1, ...c.sent, ...c.recorded);
    const y = (tokens) => low - tokens / most * (low - top);
    const x = (i, isEnd) => strip.x(i, isEnd);
    const of = (values, isUncounted = false) => (i) => this.isUncounted(i) === isUncounted ? y(values[i]) : low;
    return [...axis(most, y, strip.width),
      bars('gone', this.count, x, of(c.sent), (i) => this.isUncounted(i) ? low : y(Math.max(c.sent[i], c.recorded[i]))),
      bars('fresh', this.count, x, of(c.cached), of(c.sent)),
      bars('cached', this.count, x, () => low, of(c.cached)),
      bars('uncounted', this.count, x, () => low, of(c.sent, true)),
      this.isLarger ? this.stair('as-sent line', c.recorded.map(y), x) : svg('g'),
      bars('edit-tick', this.count, x, (i) => c.edits[i] ? low + 5 : low + 2, () => low + 2)];
  }
  drawCosts(strip) {
    const top = 8, low = strip.height - 16, {price, beside} = this.data;
    const [before, now] = [this.columns.cost_recorded, this.columns.cost_sent].map((costs) =>
      price === null ? costs : costs.map((cost) => beside + cost * price));
    const most = Math.max(1e-9, before.at(-1) ?? 0, now.at(-1) ?? 0);
    const y = (cost) => low - cost / most * (low - top);
    const x = (i, isEnd) => strip.x(i, isEnd);
    const between = (kind, upper, lower) => bars(kind, this.count, (i) => x(i), (i) => y(lower[i]), (i) => y(Math.max(upper[i], lower[i])));
    return [...axis(most, y, strip.width, (n) => price === null ? short(n) : shortDollars(n)),
      between('saved', before, now), between('overspent', now, before),
      this.stair('as-sent line', before.map(y), x), this.stair('under-chain line', now.map(y), x)];
  }
  drawMessages(strip) {
    const low = strip.height - 12, columns = Math.min(this.messages.length, Math.floor(strip.width - gutter - margin));
    const most = Math.max(1, ...this.messages.map((m) => m.call > this.lastCall() ? 0 : m.tokens));
    const y = (tokens) => low - tokens / most * (low - 8);
    const heights = Object.fromEntries([...states, 'gone'].map((f) => [f, new Float64Array(columns)]));
    this.messages.forEach((message, i) => {
      const column = Math.floor(i * columns / this.messages.length), state = this.state(message);
      const now = state === 'later' ? most / 60 : this.edit(message)?.tokens ?? message.tokens;
      heights[state][column] = Math.max(heights[state][column], now);
      if (state !== 'later') heights.gone[column] = Math.max(heights.gone[column], message.tokens);
    });
    this.messageNote.textContent = 'Each message is as high as it was recorded, in tokens, with one pixel at least, and filled as far as it is sent.' +
      (columns < this.messages.length ? ' Neighbours share a column: the largest stands for them.' : '');
    const scale = this.messages.length / Math.max(1, columns);
    const x = (i, isEnd) => strip.x(i * scale, isEnd);
    return [...axis(most, y, strip.width),
      ...['gone', ...states].map((f) => bars(f === 'gone' ? 'gone' : `f-${f}`, columns, x, () => low, (i) => y(heights[f][i])))];
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
      this.showCall(to);
      const twin = this.callNode.querySelectorAll('.row button')[direction < 0 ? 0 : 1];
      (twin.disabled ? this.calls.node : twin).focus();
    });
    return button;
  }
  callTable(column) {
    const c = this.columns;
    const row = (name, sent, cached, costs, again) => el('tr', {}, el('th', {scope: 'row'}, name),
      ...[whole(sent), whole(cached), this.cost(this.costOf(costs, column)), again, this.costSoFar(costs[column])].map((cell) => el('td', {}, cell)));
    return el('div', {class: 'table', role: 'region', tabindex: '0', 'aria-label': 'What the call sent and cost'}, el('table', {},
      el('thead', {}, el('tr', {}, ...['this call', 'tokens sent', 'read from the cache', this.data.price === null ? "cost, in tokens' worth" : 'cost',
        'of it fetched again', 'cost so far'].map((name) => el('th', {scope: 'col'}, name)))),
      el('tbody', {}, row(this.data.base, c.recorded[column], c.cached_recorded[column], c.cost_recorded, this.cost(this.costOf(c.refetches_recorded, column))),
        row(this.under, c.sent[column], c.cached[column], c.cost_sent, this.cost(this.costOf(c.refetches_sent, column))))));
  }
  showCall(column) {
    this.column = column;
    for (const strip of [this.calls, this.costs]) strip.set(column);
    const edits = this.byColumn.get(column) ?? [];
    const largest = [...edits].sort((a, b) => (b.before - b.tokens) - (a.before - a.tokens));
    const changed = this.columns.edits[column];
    this.callNode.replaceChildren(
      el('div', {class: 'row'}, el('h4', {}, `${this.callName(column)} of ${whole(this.data.calls)}`),
        this.cutButton('Earlier cut', -1), this.cutButton('Later cut', 1)),
      this.callTable(column),
      el('p', {class: 'note'}, 'cost: of this call, with its output; of it fetched again: what had been taken out and was needed, in this call or in one before.'),
      el('p', {class: 'rule'}, (changed
        ? `Before this call ${changed === 1 ? '1 message was' : `${whole(changed)} messages were`} changed` +
          (largest.length === 0 ? '.' : `${largest.length > 6 ? ', the largest:' : ':'} tokens before → after`)
        : 'No message was changed before this call.') +
        (this.isUncounted(column) ? ' It does not count here: it is a copy of another session’s call, or not of the days that were asked for.' : '')),
      el('div', {class: 'row picks'}, ...largest.slice(0, 6).map((edit) => {
        const message = this.messages[edit.message];
        const button = el('button', {type: 'button'}, `${message.recorded < 0 ? 'written' : `${whole(message.recorded + 1)} ${message.tool || message.role}`}: ` +
          `${edit.state === 'added' ? '' : `${whole(edit.before)} → `}${whole(edit.tokens)}`);
        button.addEventListener('click', () => this.strip.choose(edit.message, true));
        return button;
      })));
    let last = this.messages.length - 1;
    while (last > 0 && this.messages[last].call > this.lastCall()) --last;
    const message = largest.length ? largest[0].message : last;
    if (this.strip.width) this.strip.render();
    this.strip.set(message, Math.max(0, last));
    this.showMessage(message);
  }

  // `pieces`: what `difference` made of it, or null.
  text(index, missing, pieces, name) {
    const text = this.texts[index];
    if (text === undefined) return el('p', {class: 'note'}, missing);
    const pre = el('pre', {tabindex: '0', role: 'region'});
    if (pieces) return fill(pre, {}, pieces.map((piece) => el(piece.same ? 'span' : name, {}, piece.text)));
    if (typeof text === 'string') return fill(pre, {}, [text]);
    const [head, n, tail] = text;
    return fill(pre, {}, [head, el('mark', {}, `${whole(n)} bytes are not in this file`), tail]);
  }
  labelled(title, node) {
    if (node.tagName === 'PRE') node.setAttribute('aria-label', title);
    return el('div', {}, el('h5', {}, title), node);
  }
  // The original and what is sent, with only what changed marked.
  changedTexts(message, edit) {
    const [before, now] = [this.texts[message.text], this.texts[edit.text]];
    const both = typeof before === 'string' && typeof now === 'string' && edit.summary < 0;
    const sides = both ? difference(before, now) : null;
    const isShared = sides !== null && sides[0].some((piece) => piece.same && piece.text.trim() !== '');
    const isGone = now === undefined || edit.summary >= 0;
    const marks = isShared ? legend(['went', 'came']) : el('p', {class: 'note'}, isGone ? ''
      : both ? 'All of it was replaced, so nothing is marked.' : 'What changed is not marked: one of the two texts is not whole in this file.');
    const sent = edit.summary >= 0 ? this.text(this.messages[edit.summary].text, 'A summary without text.', null)
      : this.text(edit.text, 'Nothing: it is not in the request.', isShared ? sides[1] : null, 'ins');
    return [marks, el('div', {class: 'texts'},
      this.labelled('The original', this.text(message.text, 'It has no text.', isShared ? sides[0] : null, 'del')),
      this.labelled(edit.summary >= 0 ? 'In this call: the summary' : 'In this call', sent))];
  }
  showMessage(i) {
    const message = this.messages[i];
    if (!message) return this.messageNode.replaceChildren(el('p', {class: 'note'}, 'No message stood in a request.'));
    const edit = this.edit(message), state = this.state(message);
    const isChanged = edit && edit.state !== 'kept' && edit.state !== 'added';
    const title = state === 'added' ? 'What the chain wrote' : state === 'later' ? 'As it was recorded' : 'As it is sent';
    this.messageNode.replaceChildren(
      el('div', {class: 'row'}, el('h4', {}, this.messageName(message))),
      el('p', {class: 'rule'}, el('span', {class: 'chip'}, meanings[`f-${state}`]),
        edit && state !== 'kept' && state !== 'new' ? this.ruleText(edit) : ''),
      values([['tokens', isChanged ? `${whole(message.tokens)} → ${whole(edit.tokens)}` : whole(message.tokens)],
        ['came with call', whole(message.call + 1)]]),
      ...(isChanged ? this.changedTexts(message, edit)
        : [el('div', {class: 'texts'}, this.labelled(title, this.text(message.text, 'It has no text.', null)))]));
    for (const pre of this.messageNode.querySelectorAll('pre')) {
      const first = pre.querySelector('del, ins');
      if (first) pre.scrollTop = Math.max(0, first.offsetTop - pre.offsetTop - 40);
    }
  }

  render() {
    for (const strip of [this.calls, this.costs, this.strip]) strip.render();
  }
}
