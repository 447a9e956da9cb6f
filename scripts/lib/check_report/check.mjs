// node check.mjs OUT REPORT.html...
// Opens each report in headless Chromium at three widths, light and dark, goes along its strips with the keys, and fails
// for a message on the console, a request to anywhere, a global that hostile content would set, a page that is wider than
// its window, or a finding of axe-core. Screenshots, also of the printed page, go to OUT.
import {readFileSync, statSync} from 'node:fs';
import {basename} from 'node:path';
import {createRequire} from 'node:module';
import puppeteer from 'puppeteer-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const widths = {phone: [360, 780], tablet: [820, 1180], desktop: [1440, 1000]};
const [out, ...reports] = process.argv.slice(2);
const browser = await puppeteer.launch({
  executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--force-color-profile=srgb', '--hide-scrollbars'],
});

let failures = 0;
let looks = 0;
const fail = (where, what) => {
  ++failures;
  console.log(`FAILED ${where}: ${what}`);
};

async function keysMove(page, where) {
  for (const strip of await page.$$('.overview [role=slider], .session:not([hidden]) [role=slider]')) {
    const now = () => strip.evaluate((node) => `${node.ariaValueNow} ${node.getAttribute('aria-valuetext')}`);
    await strip.focus();
    const before = await now();
    const least = await strip.evaluate((node) => node.ariaValueMax === '1');
    await page.keyboard.press('Home');
    await page.keyboard.press('End');
    const end = await now();
    await page.keyboard.press('Home');
    if (!least && await now() === end) fail(where, `Home and End do not move ${await strip.evaluate((n) => n.ariaLabel)}`);
    if (!before.trim()) fail(where, 'a strip tells nothing');
  }
}

async function look(report, name, [width, height], scheme) {
  const where = `${basename(report)} ${name} ${scheme}`;
  const page = await browser.newPage();
  const messages = [];
  page.on('console', (message) => messages.push(message.text()));
  page.on('pageerror', (error) => messages.push(error.message));
  page.on('request', (request) => request.url().startsWith('file:') || messages.push(`asked for ${request.url()}`));
  page.on('dialog', (dialog) => (messages.push('a dialog'), dialog.dismiss()));
  await page.setViewport({width, height, isMobile: name === 'phone', hasTouch: name === 'phone'});
  await page.emulateMediaFeatures([{name: 'prefers-color-scheme', value: scheme},
    {name: 'prefers-reduced-motion', value: 'reduce'}]);
  const start = performance.now();
  await page.goto(`file://${report}`, {waitUntil: 'load'});
  const ready = performance.now() - start;
  const shot = (kind) => `${out}/${basename(report, '.html')}-${name}-${scheme}${kind}.png`;
  await page.screenshot({path: shot('')});
  await page.screenshot({path: shot('-whole'), fullPage: true});
  const result = await page.evaluate(`${axe}; axe.run(document, {resultTypes: ['violations']})`);
  for (const finding of result.violations)
    for (const node of finding.nodes) fail(where, `${finding.id}: ${node.target.join(' ')}: ${node.failureSummary}`);
  await keysMove(page, where);
  const tip = await page.$('.session:not([hidden]) .strip');
  if (tip && name !== 'phone') {
    await tip.scrollIntoView();
    const box = await (await tip.$('svg')).boundingBox();
    await page.mouse.move(box.x + box.width * 0.6, box.y + box.height / 2);
    if (await tip.$eval('.tip', (node) => node.hidden)) fail(where, 'the pointer shows nothing');
    if (scheme === 'light') await page.screenshot({path: shot('-hover')});
  }
  const picker = await page.$('#picker');
  if (picker) {
    for (const value of await picker.$$eval('option', (options) => options.map((option) => option.value)))
      await page.select('#picker', value);
  }
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  if (wide > 0) fail(where, `${wide} pixels wider than its window`);
  if (await page.evaluate(() => 'hostile' in window)) fail(where, 'content of the session ran');
  for (const message of messages) fail(where, `console: ${message}`);
  if (name === 'desktop' && scheme === 'light') {
    await page.pdf({path: `${out}/${basename(report, '.html')}.pdf`, format: 'A4', printBackground: true});
    console.log(`${basename(report)}: ${statSync(report).size} bytes, shown in ${ready.toFixed(0)} ms, ` +
      `${result.passes?.length ?? 0} rules of axe-core passed`);
  }
  ++looks;
  await page.close();
}

for (const report of reports)
  for (const [name, size] of Object.entries(widths))
    for (const scheme of ['light', 'dark']) await look(report, name, size, scheme);
await browser.close();
console.log(`${looks} looks, ${failures} failures; screenshots in ${out}`);
process.exit(failures === 0 ? 0 : 1);
