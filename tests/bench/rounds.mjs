// The measurements, and their order.

import { memoryOfApi, pidOfApi, withApi } from './scenarios/api.mjs';
import { completions, nothing } from './scenarios/completions.mjs';
import { creates, createsThroughApi, inserts, wholeWay } from './scenarios/creates.mjs';
import { entitled } from './scenarios/entitled.mjs';
import { addOlder, few, many } from './scenarios/flat.mjs';
import { flood, mixed, nothing as nothingRefused, transactions, writeFlood } from './scenarios/flood.mjs';
import { held } from './scenarios/held.mjs';
import { idTokens } from './scenarios/id-token.mjs';
import { latency, redis } from './scenarios/latency.mjs';
import * as memory from './scenarios/memory.mjs';
import { announced, memoryOfWaits, waiting } from './scenarios/waiting.mjs';
import { webhooks } from './scenarios/webhooks.mjs';
import { PYTHON } from './waiter.mjs';

const FSYNC_DELAY_US = 1_000;

/** Whose memory is measured. An interpreter that has loaded the package is what a server has before it waits. */
const WAITS = { python: { open: 10_000, bare: [PYTHON, '-c', 'import time, urlmode; time.sleep(60)'] }, go: { open: 100_000, more: ['tidy'] } };

const FULL = {
	repeats: 3,
	passes: 2,
	elicitations: 200_000,
	seconds: 3,
	warmUp: 1,
	latency: { rate: 200, count: 2_100 },
	waiting: { count: 60_000, open: 10_000 },
	waits: WAITS,
	creates: { count: 150_000, atOnce: 64 },
	listeners: [0, 1, 10, 100],
	api: { servers: 100, atOnce: 10 },
	held: [0, 16],
	flood: 250_000,
	webhooks: 80_000,
	flat: { pairs: 5, rounds: 8, size: 10_000 },
	subscriptions: 100_000,
	older: 10_000_000,
	soak: 1_000_000,
};

const QUICK = {
	repeats: 1,
	passes: 1,
	elicitations: 100_000,
	seconds: 1.5,
	warmUp: 0.5,
	latency: { rate: 200, count: 700 },
	waiting: { count: 20_000, open: 10_000 },
	waits: WAITS,
	creates: { count: 70_000, atOnce: 64 },
	listeners: [],
	api: { servers: 100, atOnce: 10 },
	held: [0, 16],
	flood: 100_000,
	webhooks: 25_000,
	subscriptions: 20_000,
	older: 0,
	soak: 0,
};

/**
 * @param {{ quick?: boolean, only?: string, repeats?: string }} options
 * @param {string[]} languages in which this machine can wait
 */
export function rounds({ quick, only, repeats }, languages) {
	const plan = quick ? QUICK : FULL;
	return { ...plan, languages, repeats: Number(repeats ?? plan.repeats), only: only && new RegExp(only) };
}

/** One repeat of everything that is repeated; the last one does the rest. */
export async function round(bed, plan) {
	const { repeat, repeats, say, results, seconds, warmUp, only } = plan;
	const time = { seconds, warmUp };
	const measure = async (name, what) => {
		if (only && !only.test(name)) return;
		say(`${repeat}/${repeats}  ${name}`);
		results.add(name, await what());
	};

	if (repeat === 1) await measure('memory', () => memory.programs(bed, bed.programs));
	for (let pass = 0; pass < plan.passes; pass++) {
		for (const side of ['urlmode', 'ceiling', 'batched', 'hono']) {
			await measure(side, () => completions(bed, side, time));
		}
		await measure('null', () => nothing(bed, time));
		await measure('webhooks', () => webhooks(bed, { ...time, count: plan.webhooks }));
	}
	await measure('id token', idTokens);
	if (repeat === 1) {
		await measure('memory after', () => peersMemory(bed));
		await measure('connections', () => memory.connections(bed));
	}
	const others = plan.languages.filter((language) => language !== 'node');
	for (const side of ['floor', 'urlmode', ...others, 'batched', 'hono']) {
		await measure(`latency ${side}`, () => latency(bed, side, plan.latency));
	}
	await measure('latency redis', () => redis(plan.latency));
	await measureWaits(bed, plan, measure, others);
	await measureCreates(bed, plan, measure, time);
	await measureApi(bed, plan, measure, time);
	await measureFlood(bed, plan, measure, time);
	for (const rows of plan.held) await measure(`held ${rows}`, () => held(bed, { ...plan.latency, rows }));
	for (const listening of plan.listeners) {
		await measure(`listeners ${listening}`, () => completions(bed, 'urlmode', { ...time, listening }));
	}
	await measureSlowly(bed, measure, time);
	if (repeat === repeats) await measureOnce(bed, plan, measure);
}

async function measureWaits(bed, { languages, waiting: many, waits, repeat }, measure, others) {
	await measure('announced', () => announced(bed, many));
	for (const language of languages) await measure(`waiting ${language}`, () => waiting(bed, language, many));
	if (repeat > 1) return;
	for (const language of others) await measure(`waits ${language}`, () => memoryOfWaits(bed, language, waits[language]));
}

async function measureCreates(bed, { creates: { count, atOnce } }, measure, time) {
	await measure('insert', () => inserts(bed, { ...time, clients: atOnce }));
	await measure('create', () => creates(bed, { ...time, count, atOnce }));
	await measure('insert alone', () => inserts(bed, { ...time, clients: 1 }));
	await measure('create alone', () => creates(bed, { ...time, count, atOnce: 1 }));
	for (const side of ['urlmode', 'hono']) {
		await measure(`whole way ${side}`, () => wholeWay(bed, side, { ...time, count, atOnce }));
	}
}

/** The api beside the package in Node, and completions while servers wait through it. */
async function measureApi(bed, { api: { servers, atOnce }, creates: { count }, waiting: many, latency: slow }, measure, time) {
	const measureThere = (name, what) => measure(name, () => withApi(bed, what));
	await measureThere('api memory', () => memoryOfApi(bed));
	await measureThere('api latency', () => latency(bed, 'api', slow));
	await measureThere('api waiting', () => waiting(bed, 'api', many));
	await measureThere('api waits', async () => {
		const pid = await pidOfApi(bed);
		return memoryOfWaits(bed, 'api', { open: many.open, of: () => pid });
	});
	await measureThere('api create', () => createsThroughApi(bed, { ...time, count, atOnce }));
	await measureThere('api create from node', () => creates(bed, { ...time, side: 'api', count, atOnce }));
	await measure('create ten', () => creates(bed, { ...time, count, atOnce }));
	await measureThere('api listening', () => completions(bed, 'urlmode', { ...time, throughApi: servers }));
	await measure('nobody listening', () => completions(bed, 'urlmode', { ...time, listening: 0 }));
}

async function peersMemory(bed) {
	return {
		hono: await memory.peer(bed, 'hono'),
		batched: await memory.peer(bed, 'batched'),
		...await memory.programs(bed, ['oauth-return']),
	};
}

async function measureFlood(bed, plan, measure, time) {
	const names = ['flood', 'flood null', 'flood mixed', 'flood transactions'];
	if (plan.only && !names.some((name) => plan.only.test(name))) return;
	const valid = await writeFlood(bed, plan.flood);
	await measure('flood', () => flood(bed, time));
	await measure('flood null', () => nothingRefused(bed, time));
	await measure('flood mixed', () => mixed(bed, { ...time, valid }));
	if (plan.repeat === 1) await measure('flood transactions', async () => ({ count: await transactions(bed, time) }));
}

/** Where each fsync takes a millisecond longer. */
async function measureSlowly(bed, measure, time) {
	let slow = false;
	for (const side of ['urlmode', 'batched', 'hono']) {
		await measure(`slow ${side}`, async () => {
			if (!slow) await bed.delayFsync(FSYNC_DELAY_US);
			slow = true;
			return completions(bed, side, { ...time, part: 0.5 });
		});
	}
	if (slow) await bed.delayFsync(0);
}

async function measureOnce(bed, plan, measure) {
	await measure('entitled', () => entitled(bed, plan.subscriptions));
	if (plan.soak > 0) await measure('soak', () => memory.soak(bed, plan.soak));
	if (plan.older === 0) return;
	let prepared = false;
	const alike = (name, what) => measure(name, async () => {
		if (!prepared) {
			// As one gives a database of that size: its indexes do not fit otherwise.
			await bed.giveMemory('1GB');
			await addOlder(bed, plan.older, plan.say);
		}
		prepared = true;
		return what(bed, plan.flat);
	});
	for (let pair = 0; pair < plan.flat.pairs; pair++) {
		await alike('flat few', few);
		await alike('flat many', many);
	}
}
