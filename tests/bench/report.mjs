// Prints the table of results and targets.

import { barChart, number } from './plot.mjs';
import { median } from './statistics.mjs';

const ms = (value) => `${value.toFixed(value < 10 ? 2 : 1)} ms`;
/** Of what cannot be passed, as much counts as reached. */
const ALMOST = 0.95;
const times = (value) => `${value.toFixed(2)} ×`;

/**
 * @param {import('./results.mjs').Results} results
 * @param {Record<string, string>} machine
 * @param {{ repeats: number, passes: number, seconds: number }} plan
 */
export function table(results, machine, { repeats, passes, seconds }) {
	const rows = lines(results);
	const head = ['', 'measured', 'compared', 'must reach', ''];
	const cells = rows.map(({ name, value, ratio = '', must = '', reached }) =>
		[name, value, ratio, must, reached === undefined ? '' : reached ? 'yes' : '**no**']);
	const text = [head, head.map(() => '---'), ...cells].map((row) => `| ${row.join(' | ')} |`).join('\n');
	const conditions = Object.entries(machine).map(([name, value]) => `${name}: ${value}`).join('; ');

	const counted = repeats === 1 ? '1 interleaved run' : `${repeats} interleaved runs`;
	const passed = passes === 1 ? '' : ` (completions and webhooks: ${passes} in each)`;

	return `${text}\n\nMedians of ${counted} of ${seconds} s each${passed}; `
		+ `ratios are medians of the ratios within each. ${conditions}.\n`;
}

function lines(results) {
	return [
		...completions(results), ...slow(results), ...latency(results), ...waiting(results), ...creates(results), ...entitled(results), ...api(results), ...flood(results),
		...held(results), ...webhooks(results), ...idTokens(results), ...memory(results), ...listeners(results), ...flat(results),
	];
}

const RATE_NAMES = {
	urlmode: 'completions, one server listening: urlmode',
	ceiling: 'completions against ceiling: epoll and libpq alone',
	batched: 'completions: Node, batched by hand',
	hono: 'completions: Hono, pool of 10',
	null: 'the same answer by a null libfcgi responder',
};

function rate(results, name, label) {
	const p = (q) => ms(results.median(name, q));
	return { name: label, value: `${number(results.median(name, 'rate'))}/s, p50 ${p('p50')}, p99 ${p('p99')}` };
}

/** How the rate of one compares with another's; without `must` it is only shown. */
function compared(results, name, other, must) {
	const ratio = results.ratio([name, 'rate'], [other, 'rate']);
	return { ratio: times(ratio), ...must && { must: `≥ ${must} ×`, reached: ratio >= must } };
}

/** What must be at most so much of the better Node program's. */
const OF_NODE = { p50: 0.9, p99: 1 };

function completions(results) {
	const all = [];
	if (!results.has('urlmode')) return all;
	all.push(rate(results, 'urlmode', RATE_NAMES.urlmode));
	for (const [other, must] of [['hono', 6], ['batched', 1.5], ['ceiling', 0.85], ['null']]) {
		if (!results.has(other)) continue;
		all.push({ ...rate(results, other, RATE_NAMES[other]), ...compared(results, 'urlmode', other, must) });
	}
	if (results.has('hono', 'batched')) {
		const p99 = (name) => results.median(name, 'p99');
		const least = Math.min(p99('hono'), p99('batched'));
		all.push({
			name: 'p99 at full load: urlmode', value: ms(p99('urlmode')), ratio: `${ms(least)} the best of Node`,
			must: 'lower', reached: p99('urlmode') < least,
		});
	}
	return all;
}

function slow(results) {
	if (!results.has('slow urlmode')) return [];
	const all = [rate(results, 'slow urlmode', 'fsync + 1 ms: urlmode')];
	for (const [other, label, must] of [['slow batched', 'Node, batched by hand', 1.5], ['slow hono', 'Hono', 22]]) {
		if (!results.has(other)) continue;
		all.push({ ...rate(results, other, `fsync + 1 ms: ${label}`), ...compared(results, 'slow urlmode', other, must) });
	}
	return all;
}

/** What its p50 must be, of Node's. */
const LATENCY = {
	python: (ratio) => ({ must: '≤ 1.5 ×', reached: ratio <= 1.5 }),
	go: (ratio) => ({ must: '< 1 ×', reached: ratio < 1 }),
};

function latency(results) {
	const names = {
		floor: 'libpq alone, a listener', urlmode: 'urlmode, its promise', python: 'urlmode in Python', go: 'urlmode in Go', batched: 'Node, batched', hono: 'Hono',
		redis: 'Redis, publish to receive',
	};
	const all = [];
	for (const [side, label] of Object.entries(names)) {
		const name = `latency ${side}`;
		if (!results.has(name)) continue;
		const [p50, p99] = ['p50', 'p99'].map((q) => results.median(name, q));
		all.push({ name: `callback to promise, 200/s: ${label}`, value: `p50 ${ms(p50)}, p99 ${ms(p99)}` });
		if (side in LATENCY && results.has('latency urlmode')) {
			const ratio = results.ratio([name, 'p50'], ['latency urlmode', 'p50']);
			Object.assign(all.at(-1), { ratio: `p50 ${times(ratio)} Node's`, ...LATENCY[side](ratio) });
		}
		if (side !== 'urlmode') continue;
		if (results.has('latency floor')) {
			const ratio = results.ratio([name, 'p50'], ['latency floor', 'p50']);
			Object.assign(all.at(-1), { ratio: `p50 ${times(ratio)} libpq`, must: '≤ 1.5 ×', reached: ratio <= 1.5 });
		}
		const spread = results.ratio([name, 'p99'], [name, 'p50']);
		all.push({ name: 'its p99', value: ms(p99), ratio: `${times(spread)} its p50`, must: '≤ 3 ×', reached: spread <= 3 });
		if (results.has('latency batched', 'latency hono')) {
			for (const [q, value] of [['p50', p50], ['p99', p99]]) {
				const ratio = Math.max(...['batched', 'hono'].map((other) => results.ratio([name, q], [`latency ${other}`, q])));
				all.push({
					name: `its ${q}, against the Node programs`, value: ms(value), ratio: `${times(ratio)} the better of them`,
					must: `< ${OF_NODE[q]} ×`, reached: ratio < OF_NODE[q],
				});
			}
		}
	}
	return all;
}

/** What each language must resolve, a second. */
const WAITING = {
	node: ['Node', 20_000, 50],
	python: ['Python', 5_000],
	go: ['Go', 40_000],
};

function waiting(results) {
	const all = [];
	const notified = results.has('announced') && results.median('announced', 'rate');
	if (notified) all.push({ name: 'announced by PostgreSQL to a listener in C, the same completions', value: `${number(notified)}/s` });
	for (const [language, [label, target, most = Infinity]] of Object.entries(WAITING)) {
		const name = `waiting ${language}`;
		if (!results.has(name)) continue;
		const [value, p99, cpu] = ['rate', 'p99', 'cpu'].map((figure) => results.median(name, figure));
		// Nobody can be faster than PostgreSQL notifies. What it does for a waiting process takes a little of its time as well.
		const isLimit = language === 'go' && notified && notified < target;
		const must = isLimit ? ALMOST * notified : target;
		all.push({
			name: `resolved, 10,000 waits open in one process: ${label}`, value: `${number(value)}/s, p99 ${ms(p99)}, ${cpu.toFixed(0)} µs of processor time each`,
			...notified && { ratio: `${times(results.ratio([name, 'rate'], ['announced', 'rate']))} announced` },
			must: isLimit ? `≥ ${ALMOST} × announced, which is less than ${number(target)}/s` : `≥ ${number(target)}/s${most < Infinity ? `, p99 ≤ ${most} ms` : ''}`,
			reached: value >= must && p99 <= most,
		});
	}
	return [...all, ...memoryOfWaits(results)];
}

function memoryOfWaits(results) {
	const all = [];
	if (results.has('waits python')) {
		const [size, interpreter] = ['size', 'interpreter'].map((figure) => results.median('waits python', figure));
		all.push({
			name: '10,000 open waits, PSS: Python', value: `${size.toFixed(0)} MB`, ratio: `${(size - interpreter).toFixed(0)} MB above the interpreter's`,
			must: '< 60 MB', reached: size - interpreter < 60,
		});
	}
	if (results.has('waits go')) {
		const size = results.median('waits go', 'size');
		all.push({ name: '100,000 open waits, PSS: Go', value: `${size.toFixed(0)} MB`, must: '< 400 MB', reached: size < 400 });
	}
	return all;
}

function creates(results) {
	const all = [];
	if (results.has('insert', 'create')) {
		all.push(
			{ name: 'bare prepared INSERTs, 64 clients', value: `${number(results.median('insert', 'rate'))}/s` },
			{ ...rate(results, 'create', 'create, one process, 64 at once'), ...compared(results, 'create', 'insert', 2) });
	}
	if (results.has('insert alone', 'create alone')) {
		all.push({
			name: 'create, one at a time', value: `p50 ${ms(results.median('create alone', 'p50'))}`,
			ratio: `${ms(results.median('insert alone', 'mean'))} a bare INSERT`,
		});
	}
	if (results.has('whole way urlmode', 'whole way hono')) {
		all.push(
			rate(results, 'whole way hono', 'create, return, promise; 64 at once: Hono'),
			{
				...rate(results, 'whole way urlmode', 'create, return, promise; 64 at once: urlmode'),
				...compared(results, 'whole way urlmode', 'whole way hono'),
			});
	}
	return all;
}

/** What a user who has subscribed waits for. */
function entitled(results) {
	if (!results.has('entitled')) return [];
	const [value, row] = ['entitled', 'row'].map((side) => results.median('entitled', side));
	return [{
		name: 'whether a user has subscribed, p50', value: ms(value), ratio: `${times(value / row)} the read of one row`,
		must: '< 1 ms', reached: value < 1,
	}];
}

/** The program api: what the package in Node does, over HTTP. */
function api(results) {
	const all = [];
	for (const [name, label, most] of [['api memory', 'the api at rest, PSS', 5], ['api waits', 'the api with 10,000 waits in ten calls, PSS', 20]]) {
		if (!results.has(name)) continue;
		const size = results.median(name, 'size');
		all.push({ name: label, value: `${size.toFixed(1)} MB`, must: `< ${most} MB`, reached: size < most });
	}
	if (results.has('api latency', 'latency urlmode')) {
		const ratio = results.ratio(['api latency', 'p50'], ['latency urlmode', 'p50']);
		const [p50, p99] = ['p50', 'p99'].map((q) => results.median('api latency', q));
		all.push({ name: 'callback to answer of wait, 200/s', value: `p50 ${ms(p50)}, p99 ${ms(p99)}`, ratio: `p50 ${times(ratio)} Node's promise`, must: '≤ 1.3 ×', reached: ratio <= 1.3 });
	}
	for (const [name, other, label, must] of [
		['api waiting', 'waiting node', 'resolved through the api, 10,000 waits of ten callers', 0.9], ['api create', 'create ten', 'create through the api, ten at once, against one Node process', 1],
		['api listening', 'nobody listening', 'completions with 100 servers waiting through one api, against none', 0.9],
	]) if (results.has(name, other)) all.push({ ...rate(results, name, label), ...compared(results, name, other, must) });
	if (results.has('api create from node', 'create ten')) {
		const ratio = results.ratio(['api create from node', 'rate'], ['create ten', 'rate']);
		all.push({ ...rate(results, 'api create from node', 'the same calls from Node, with node:http'), ratio: times(ratio) });
	}
	return all;
}

function flood(results) {
	const all = [];
	if (results.has('flood', 'flood null')) {
		all.push(
			rate(results, 'flood null', 'the page of a bad state, by the null responder'),
			{ ...rate(results, 'flood', 'flood of bad states'), ...compared(results, 'flood', 'flood null', 0.9) });
	}
	if (results.has('flood mixed')) {
		const p99 = results.median('flood mixed', 'p99');
		all.push({ name: 'valid returns in it, one in a hundred', value: `p99 ${ms(p99)}`, must: '< 20 ms', reached: p99 < 20 });
	}
	if (results.has('flood transactions')) {
		const count = results.median('flood transactions', 'count');
		all.push({ name: 'transactions of PostgreSQL in a flood', value: String(count), must: '0', reached: count === 0 });
	}
	return all;
}

function held(results) {
	if (!results.has('held 0', 'held 16')) return [];
	const [none, p99] = ['held 0', 'held 16'].map((name) => results.median(name, 'p99'));
	return [{
		name: 'completions at 200/s while another session holds 16 rows of others', value: `p99 ${ms(p99)}`,
		ratio: `${ms(none)} with none held`, must: '< 50 ms', reached: p99 < 50,
	}];
}

function webhooks(results) {
	if (!results.has('webhooks')) return [];
	const line = rate(results, 'webhooks', 'signed webhooks of 4 KB');
	return [results.has('urlmode') ? { ...line, ...compared(results, 'webhooks', 'urlmode') } : line];
}

/** The processor time of one id token, by algorithm. */
const ID_TOKEN_US = 200;
const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA'];

function idTokens(results) {
	if (!results.has('id token')) return [];
	const figures = ALGORITHMS.map((alg) => results.median('id token', alg));
	return [{
		name: 'an id token verified and read, processor time', value: ALGORITHMS.map((alg, n) => `${alg} ${figures[n].toFixed(0)} µs`).join(', '),
		must: `< ${ID_TOKEN_US} µs`, reached: Math.max(...figures) < ID_TOKEN_US,
	}];
}

function memory(results) {
	const all = [];
	if (results.has('memory')) {
		const [figures] = Object.values(results.toJSON().memory);
		const most = Math.max(...Object.values(figures));
		const value = Object.entries(figures).map(([name, pss]) => `${name} ${pss.toFixed(1)}`).join(', ');
		all.push({ name: 'PSS at rest, MB', value, must: '< 4', reached: most < 4 });
	}
	if (results.has('memory after')) {
		const figure = (name) => results.median('memory after', name).toFixed(1);
		all.push({
			name: 'PSS after load, MB',
			value: `oauth-return ${figure('oauth-return')}, Node batched ${figure('batched')}, Hono ${figure('hono')}`,
		});
	}
	if (results.has('connections')) {
		const most = results.median('connections', 'most');
		all.push({ name: 'PostgreSQL connections of a program', value: String(most), must: '1', reached: most === 1 });
	}
	if (results.has('soak')) {
		const [before, after] = ['before', 'after'].map((q) => results.median('soak', q));
		all.push({
			name: `PSS after ${number(results.median('soak', 'sent'))} requests more, MB`, value: after.toFixed(2),
			ratio: `${before.toFixed(2)} before`, must: 'no growth', reached: after < before * 1.02 + 0.05,
		});
	}
	return all;
}

function listeners(results) {
	return [0, 1, 10, 100].filter((count) => results.has(`listeners ${count}`)).map((count) => {
		const name = `listeners ${count}`;
		const line = rate(results, name, `completions with ${count || 'no'} server${count === 1 ? '' : 's'} listening`);
		return count > 0 && results.has('listeners 0') ? { ...line, ...compared(results, name, 'listeners 0') } : line;
	});
}

function flat(results) {
	if (!results.has('flat few', 'flat many')) return [];
	return [
		{
			name: 'completions among 10 thousand rows, shared_buffers 1GB',
			value: `${number(results.median('flat few', 'rate'))}/s`,
		},
		{
			name: 'completions among 10 million rows',
			value: `${number(results.median('flat many', 'rate'))}/s`,
			...compared(results, 'flat many', 'flat few', 0.9),
		},
	];
}

/** @returns {[string, string][]} name, SVG */
export function plots(results) {
	const bar = (name, figure, label) => {
		const each = results.each(name, figure);
		return {
			name: label, value: median(each), low: Math.min(...each), high: Math.max(...each),
			ours: name.includes('urlmode') || name === 'flood' || name === 'webhooks',
		};
	};
	const chart = (title, unit, bars) => {
		const there = bars.filter(([name]) => results.has(name));
		return there.length > 0 && barChart({ title, unit, bars: there.map((args) => bar(...args)) });
	};
	return [
		['completions', chart('Completions, 64 connections', 'a second', [
			['hono', 'rate', 'Hono, pool of 10'], ['batched', 'rate', 'Node, batched'], ['urlmode', 'rate', 'urlmode'],
			['ceiling', 'rate', 'ceiling'], ['null', 'rate', 'null responder'],
		])],
		['fsync', chart('Completions where an fsync takes 1 ms longer', 'a second', [
			['slow hono', 'rate', 'Hono, pool of 10'], ['slow batched', 'rate', 'Node, batched'],
			['slow urlmode', 'rate', 'urlmode'],
		])],
		['latency', chart('Callback to promise, 200 a second', 'milliseconds', [
			['latency redis', 'p50', 'Redis, p50'], ['latency floor', 'p50', 'libpq alone, p50'],
			['latency floor', 'p99', 'libpq alone, p99'], ['latency urlmode', 'p50', 'urlmode, p50'],
			['latency urlmode', 'p99', 'urlmode, p99'], ['latency batched', 'p50', 'Node, batched, p50'],
			['latency batched', 'p99', 'Node, batched, p99'], ['latency hono', 'p50', 'Hono, p50'],
			['latency hono', 'p99', 'Hono, p99'],
		])],
		['rates', chart('What one program answers', 'a second', [
			['null', 'rate', 'null responder'], ['flood', 'rate', 'flood, refused'], ['urlmode', 'rate', 'OAuth returns'],
			['webhooks', 'rate', 'webhooks'], ['listeners 1', 'rate', 'returns, 1 listening'],
			['listeners 10', 'rate', 'returns, 10 listening'], ['listeners 100', 'rate', 'returns, 100 listening'],
		])],
	].filter(([, svg]) => svg);
}
