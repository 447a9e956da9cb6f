// Shows one session at a time, all of them as one picture, and copies what is to be pasted.
const sections = [...document.querySelectorAll('.session')];
const sessions = new Map();
const picker = el('select', {id: 'picker'});
const show = (section) => {
  for (const other of sections) other.hidden = other !== section;
  picker.value = section.id;
  if (!sessions.has(section)) sessions.set(section, new Session(section, JSON.parse(section.querySelector('.session-data').textContent)));
  sessions.get(section).render();
};
const go = (section) => {
  show(section);
  section.scrollIntoView();
  section.querySelector('h3').focus({preventScroll: true});
};

// All sessions, from the rows of their table: two bars for each.
class Overview {
  constructor(table, place) {
    this.rows = [...table.querySelectorAll('tbody tr[data-sent]')];
    this.names = [...table.querySelectorAll('thead th')].map((th) => th.textContent);
    this.sent = this.rows.map((row) => Number(row.dataset.sent));
    this.under = this.rows.map((row) => Number(row.dataset.under));
    this.detail = el('p', {class: 'picked-session', 'aria-live': 'polite'});
    this.isMoney = table.dataset.unit === '$';
    this.strip = new Strip({
      label: 'All sessions', count: this.rows.length, height: 210, least: 6,
      draw: (strip) => this.drawAll(strip),
      tell: (i) => this.lines(i).join(', '),
      tip: (i) => {
        const [name, ...rest] = this.lines(i);
        return [el('b', {}, name), ...rest.slice(0, -1).map((line) => el('div', {}, line))];  // without the file
      },
      pick: (i, isClick) => this.pick(i, isClick),
    });
    fill(place, {}, [el('div', {class: 'strip-head'}, el('h3', {}, `Cost of each session${this.isMoney ? '' : ", in tokens' worth"}`),
      legend([['as-sent', table.dataset.base], ['under-chain', `under ${table.dataset.chain}`]])), this.strip.frame, this.detail]);
    this.strip.set(0);
    this.tell(0);
    for (const [i, row] of this.rows.entries()) row.addEventListener('click', (event) => {
      if (event.target.closest('a') || String(getSelection()) !== '') return;
      this.strip.set(i);
      this.tell(i);
    });
  }
  cells(i) { return [...this.rows[i].children].map((cell) => cell.textContent); }
  // The name, then each figure with its heading.
  lines(i) { return this.cells(i).map((cell, c) => c === 0 ? cell : `${this.names[c]}: ${cell}`); }
  section(i) {
    const link = this.rows[i].querySelector('a');
    return link && document.getElementById(link.hash.slice(1));
  }
  drawAll(strip) {
    const low = strip.height - 26, most = Math.max(1e-9, ...this.sent, ...this.under);
    const y = (cost) => low - cost / most * (low - 8);
    const step = (strip.width - gutter - margin) / this.rows.length;
    const gap = Math.min(step / 5, 12), bar = Math.min((step - gap) / 2, 40), off = (step - 2 * bar) / 2;
    const half = (side) => (i, isEnd) => strip.x(isEnd ? i - 1 : i) + off + (side + (isEnd ? 1 : 0)) * bar;
    return [...axis(most, y, strip.width, this.isMoney ? shortDollars : short),
      bars('as-sent', this.rows.length, half(0), () => low, (i) => y(this.sent[i])),
      bars('under-chain', this.rows.length, half(1), () => low, (i) => y(this.under[i])),
      ...(step < 56 ? [] : this.rows.map((_, i) => svg('text', {x: strip.x(i + 0.5), y: low + 14, 'text-anchor': 'middle'},
        this.clipped(this.cells(i)[0], Math.floor(step / 7.4)))))];
  }
  // Names often begin the same: both ends stay.
  clipped(name, most) {
    if (name.length <= most) return name;
    const end = Math.floor((most - 1) / 2);
    return `${name.slice(0, most - 1 - end)}…${name.slice(name.length - end)}`;
  }
  tell(i) {
    for (const row of this.rows) row.classList.toggle('is-picked', row === this.rows[i]);
    const section = this.section(i), [name, ...rest] = this.lines(i);
    const button = section && el('button', {type: 'button'}, 'Show it call by call');
    if (section) button.addEventListener('click', () => go(section));
    this.detail.replaceChildren(el('b', {}, name), ` ${rest.join(' · ')} `,
      section ? button : 'It is not shown call by call here; a report of its file alone would show it.');
  }
  pick(i, isClick) {
    this.tell(i);
    if (!isClick) return;
    if (this.section(i)) return go(this.section(i));
    const box = this.rows[i].closest('.table'), row = this.rows[i];
    box.scrollTop = row.offsetTop - box.clientHeight / 2;
  }
}

const table = document.querySelector('table.all');
const overview = table && table.querySelector('tr[data-sent]') ? new Overview(table, document.querySelector('.overview')) : null;

if (sections.length > 1) {
  fill(picker, {}, sections.map((section) => el('option', {value: section.id}, section.querySelector('h3').textContent)));
  picker.addEventListener('change', () => show(document.getElementById(picker.value)));
  sections[0].before(el('div', {class: 'picker'}, el('label', {for: 'picker'}, 'Session'), picker));
}
for (const link of document.querySelectorAll('a[href^="#session-"]')) link.addEventListener('click', (event) => {
  event.preventDefault();
  go(document.getElementById(link.hash.slice(1)));
});
for (const pre of document.querySelectorAll('pre.paste')) {
  const button = el('button', {type: 'button', class: 'copy'}, 'Copy');
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(pre.textContent);
      button.textContent = 'Copied';
    } catch {
      getSelection().selectAllChildren(pre);
      button.textContent = 'Selected';
    }
    setTimeout(() => { button.textContent = 'Copy'; }, 1500);
  });
  pre.previousElementSibling.append(' ', button);
}
// On a narrow page the style lays their rows out as grids: browsers take such for no tables any more.
const roles = [['', 'table'], [' thead', 'rowgroup'], [' tbody', 'rowgroup'], [' tr', 'row'], [' th[scope=col]', 'columnheader'],
  [' th[scope=row]', 'rowheader'], [' td', 'cell']];
for (const [part, role] of roles)
  for (const node of document.querySelectorAll(`table.bars${part}`)) node.setAttribute('role', role);
if (sections.length > 0) show(sections[0]);
let shownWidth = 0;
new ResizeObserver(([entry]) => {
  if (entry.contentRect.width === shownWidth) return;
  shownWidth = entry.contentRect.width;
  if (overview) overview.strip.render();
  for (const [section, session] of sessions) if (!section.hidden) session.render();
}).observe(document.querySelector('main'));
