// Draws the dashboard that is shipped, with the answers of a real Prometheus that
// watches a stack under load, to nginx/monitoring/board.png:
//
//     node tests/tools/board.mjs [SECONDS]

import path from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';

import { startChromium } from '../browser/chromium.mjs';
import { sender } from '../support/deliveries.mjs';
import { openFixture } from '../support/fixture.mjs';
import { comeBack } from '../support/flow.mjs';
import { request } from '../support/http.mjs';
import { MONITORING, panels, startPrometheus } from '../support/prometheus.mjs';

const COLUMN = 36; // pixels of one of the 24 columns
const ROW = 25;
const COLORS = ['#3274d9', '#e0852f', '#56a64b', '#8f3bb8', '#c4162a', '#37872d', '#fa6400', '#1f60c4', '#b877d9', '#e0b400'];

const escape = (text) => String(text).replaceAll(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

/** A number as short as it can be read, in the unit of its panel. */
function format(value, unit) {
	const scaled = unit === 'percentunit' ? value * 100 : unit === 's' && Math.abs(value) < 1 ? value * 1_000 : value;
	const name = { percentunit: ' %', s: scaled === value ? ' s' : ' ms', reqps: '/s', ops: '/s' }[unit] ?? '';
	return `${Number(scaled.toPrecision(2))}${name}`;
}

const legend = (target, { metric }) => target.legendFormat.replaceAll(/\{\{(\w+)\}\}/g, (_, label) => metric[label] ?? '');

function drawStat({ fieldConfig: { defaults } }, [[, series]]) {
	const value = Number(series?.at(-1)?.value ?? NaN);
	const { color } = defaults.thresholds.steps.filter((step) => step.value === null || value >= step.value).at(-1);
	const text = defaults.mappings?.[0].options[value]?.text ?? (Number.isNaN(value) ? '–' : format(value, defaults.unit));

	return `<div class="stat ${color}">${escape(text)}</div>`;
}

/** The lines of all series as points [time, value], one upon the other where the panel says so. */
function linesOf({ fieldConfig: { defaults: { custom } } }, answers) {
	const below = new Map();

	return answers.flatMap(([target, series]) => series.map((one) => [
		legend(target, one), one.values.filter(([, text]) => text !== 'NaN').map(([time, text]) => {
			const value = Number(text) + (custom.stacking.mode === 'normal' ? below.get(time) ?? 0 : 0);
			below.set(time, value);
			return [time, value];
		}),
	])).filter(([, points]) => points.length > 1);
}

function drawSeries(panel, answers, [width, height]) {
	const lines = linesOf(panel, answers);
	const points = lines.flatMap(([, all]) => all);
	const [left, right] = [Math.min(...points.map(([time]) => time)), Math.max(...points.map(([time]) => time))];
	const top = Math.max(...points.map(([, value]) => value)) || 1;
	const x = (time) => 44 + (time - left) / (right - left) * (width - 50);
	const y = (value) => height - 4 - value / top * (height - 12);
	const grid = [0, 0.5, 1].map((part) => `<path class="grid" d="M44 ${y(top * part)}H${width}"/>`
		+ `<text x="40" y="${y(top * part) + 4}">${escape(format(top * part, panel.fieldConfig.defaults.unit))}</text>`);
	const paths = lines.map(([, all], n) => `<path stroke="${COLORS[n % COLORS.length]}" d="M${
		all.map(([time, value]) => `${x(time).toFixed(1)} ${y(value).toFixed(1)}`).join('L')}"/>`);
	const names = lines.map(([name], n) => `<span><i style="background:${COLORS[n % COLORS.length]}"></i>${escape(name)}</span>`);

	return `<svg width="${width}" height="${height}">${grid.join('')}${paths.join('')}</svg><div class="legend">${names.join('')}</div>`;
}

async function draw(prometheus, seconds) {
	const drawn = await Promise.all((await panels()).map(async (panel) => {
		const { x, y, w, h } = panel.gridPos;
		const isStat = panel.type === 'stat';
		const answers = await Promise.all(panel.targets.map(async (target) => (
			[target, await (isStat ? prometheus.query(target.expr) : prometheus.range(target.expr, seconds))])));
		const inside = isStat
			? drawStat(panel, answers.map(([target, series]) => [target, series.map(({ value }) => ({ value: value[1] }))]))
			: drawSeries(panel, answers, [w * COLUMN - 30, h * ROW - 82]);
		return `<section style="left:${x * COLUMN}px;top:${y * ROW}px;width:${w * COLUMN - 8}px;height:${h * ROW - 8}px">
			<h2>${escape(panel.title)}</h2>${inside}</section>`;
	}));

	return `<!DOCTYPE html><meta charset="utf-8"><style>
		body { background: #f4f5f5; margin: 8px; position: relative; font: 12px "DejaVu Sans", sans-serif; color: #24292e }
		section { position: absolute; background: #fff; border: 1px solid #e0e0e0; box-sizing: border-box; padding: 6px 10px; overflow: hidden }
		h2 { font-size: 11px; margin: 0 0 6px; white-space: nowrap }
		.stat { font-size: 26px; text-align: center; padding: 16px 0; color: #fff; background: #56a64b } .red { background: #c4162a }
		path { fill: none; stroke-width: 1.5 } .grid { stroke: #e6e6e6 } text { font-size: 10px; text-anchor: end; fill: #666 }
		.legend { font-size: 10px; line-height: 1.5 } .legend i { display: inline-block; width: 10px; height: 3px; margin: 0 4px 3px 0 }
		.legend span { margin-right: 10px; white-space: nowrap }</style>${drawn.join('')}`;
}

/** What a small site sees: flows, links that bots make up, payments. */
async function load(fixture, until) {
	const stripe = sender(fixture, 'stripe');
	const square = sender(fixture, 'square');

	for (let n = 0; Date.now() < until; n++) {
		const browser = fixture.browser();
		await comeBack(browser, (await fixture.goOn(browser)).returnTo({ code: 'c' }));
		await request(fixture.url(n % 3 ? '/done' : `/connect/demo?state=${n}`));
		const provider = n % 2 ? square : stripe;
		const payment = await fixture.createPayment(n % 2 ? 'square' : 'stripe');
		const event = provider.event(payment.id, n % 5 ? 'paid' : 'processing');
		await provider.send(event);
		if (n % 5) {
			const { reference } = await fixture.urlmode.waitForCompletion(payment.id, payment.owner);
			await fixture.urlmode.claim(payment.id, { ...payment.owner, reference });
		}
		if (n % 4 === 0) await provider.send(event);
		await sleep(40 + 120 * Math.abs(Math.sin(Date.now() / 20_000)));
	}
}

async function main(seconds) {
	const fixture = await openFixture({ name: 'board', own: true });
	let prometheus, chromium;
	try {
		prometheus = await startPrometheus(fixture);
		await load(fixture, Date.now() + seconds * 1_000);
		chromium = await startChromium();
		const person = await chromium.person({ viewport: { width: 24 * COLUMN + 16, height: 41 * ROW + 16 } });
		const page = await person.tab();
		await page.setContent(await draw(prometheus, seconds));
		await page.screenshot({ path: path.join(MONITORING, 'board.png') });
	} finally {
		await chromium?.close();
		await prometheus?.close();
		await fixture.close();
	}
}

await main(Number(process.argv[2] ?? 120));
