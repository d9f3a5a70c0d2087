// Replays deliveries from a file: in their original order, and in random order
// with a tenth of them sent twice. Both must lead to the same rows. Each
// elicitation has at most one final event, because of two the first one wins.

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { post, sender } from './deliveries.mjs';

const PRICE = { amount: 1_000, currency: 'EUR' };
const LESS = { ...PRICE, amount: 999 };

/** The events of one elicitation in order, and its provider. */
const WAYS = [
	['stripe', ['processing', 'settled']],
	['stripe', ['paid']],
	['stripe', ['processing', 'failed']],
	['stripe', ['expired']],
	['stripe', ['ignored', 'processing']],
	['stripe', ['ignored', 'paid', 'ignored']],
	['stripe', ['processing', 'ignored']],
	['stripe', ['processing', 'settled'], LESS],
	['stripe', ['paid'], { amount: null, currency: null }],
	['square', ['processing', 'paid']],
	['square', ['processing', 'cancelled']],
	['square', ['failed']],
	['adyen', ['processing', 'paid']],
	['adyen', ['expired']],
];
const AT_ONCE = 32;

/** The events that a provider sends again. */
const NOT_NOW = new Set([502, 503, 504]);
const PAUSE_MS = 50;

/** Each has an owner of its own, because an owner has only so many that nobody opened. */
const ownerOf = (id) => ({ subject: `replay-${id}`, session: '' });

/** Pseudorandom numbers from 0 to 1, the same for the same seed (mulberry32). */
export function random(seed) {
	let state = seed;
	return () => {
		state = (state + 0x6d2b79f5) | 0;
		let t = Math.imul(state ^ (state >>> 15), 1 | state);
		t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
		return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
	};
}

/** Calls `work` for all items in order, several at a time. */
async function eachOf(all, work) {
	const left = all.values();
	await Promise.all(Array.from({ length: AT_ONCE }, async () => {
		for (const item of left) await work(item);
	}));
}

/**
 * Writes the file with one delivery in each line, in their original order.
 *
 * @param {object} fixture
 * @param {string} file
 * @param {number} count the least number of deliveries
 */
export async function writeDeliveries(fixture, file, count) {
	const out = createWriteStream(file);
	let written = 0;

	for (let n = 0; written < count; n++) {
		const [provider, way, price = PRICE] = WAYS[n % WAYS.length];
		const id = randomUUID();
		const { event } = sender(fixture, provider);
		for (const what of way) {
			const line = JSON.stringify({ id, provider, event: event(id, what, price) });
			if (!out.write(`${line}\n`)) await once(out, 'drain');
			written += 1;
		}
	}
	out.end();
	await once(out, 'close');
}

/**
 * Replays the file on new elicitations.
 *
 * @param {object} fixture
 * @param {string} file
 * @param {{ seed?: number, onTaken?: (count: number) => Promise<void> }} [options]
 *     seed: of the random order; without it they are sent in order; onTaken: called
 *     after each delivery with the number sent so far
 * @returns {Promise<{ rows: string[], deliveries: number, again: number, seconds: number }>}
 *     rows: one line an elicitation, in the file's order; again: how many were sent again, because they were answered 502,
 *     503 or 504
 */
export async function replay(fixture, file, { seed, onTaken } = {}) {
	const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
	const ids = await renew(fixture, lines);
	const order = seed === undefined ? lines : shuffle(lines, random(seed));
	const agent = new http.Agent({ keepAlive: true, maxSockets: AT_ONCE });
	const senders = new Map();
	let taken = 0;
	let again = 0;

	const send = async (line) => {
		const { provider, event } = JSON.parse(line);
		if (!senders.has(provider)) senders.set(provider, sender(fixture, provider));
		const delivery = { ...await senders.get(provider).deliver(event), agent };
		let answer;
		while (NOT_NOW.has((answer = await post(delivery)).status)) {
			again += 1;
			await sleep(PAUSE_MS);
		}
		if (answer.status !== 200) throw new Error(`a delivery was answered ${answer.status}: ${answer.body}`);
		await onTaken?.(++taken);
	};
	const start = performance.now();
	// In order means one event of an elicitation after the other, concurrently with other elicitations.
	await eachOf(seed === undefined ? byElicitation(order) : order.map((line) => [line]), async (some) => {
		for (const line of some) await send(line);
	});
	agent.destroy();
	const seconds = (performance.now() - start) / 1_000;
	return { rows: await rowsOf(fixture, ids), deliveries: order.length, again, seconds };
}

function byElicitation(lines) {
	const groups = new Map();
	for (const line of lines) {
		const { id } = JSON.parse(line);
		groups.set(id, [...groups.get(id) ?? [], line]);
	}
	return [...groups.values()];
}

/** The lines in random order, a tenth of them twice. */
function shuffle(lines, next) {
	const all = lines.flatMap((line) => (next() < 0.1 ? [line, line] : [line]));
	for (let i = all.length - 1; i > 0; i--) {
		const j = Math.floor(next() * (i + 1));
		[all[i], all[j]] = [all[j], all[i]];
	}
	return all;
}

/** Creates the elicitations of the file, pending. */
async function renew(fixture, lines) {
	const providers = new Map(lines.map((line) => JSON.parse(line)).map(({ id, provider }) => [id, provider]));
	const ids = [...providers.keys()];

	await fixture.stack.sql('DELETE FROM urlmode.payment WHERE elicitation = ANY ($1)', [ids]);
	await fixture.stack.sql('DELETE FROM urlmode.elicitation WHERE id = ANY ($1)', [ids]);
	await eachOf(ids, (id) => fixture.urlmode.create({
		id, ...ownerOf(id), provider: providers.get(id), kind: 'payment', targetUrl: 'https://checkout.example/pay',
		item: id, expected: PRICE, ttl: 24 * 3_600_000,
	}));
	return ids;
}

/**
 * The rows without their times, with the results as a wait returns them, and the
 * stored events. The effect of an event may differ: a `processing` that arrives
 * after the final event has none.
 */
async function rowsOf(fixture, ids) {
	const rows = await fixture.stack.sql(`
		SELECT e.id, e.status, e.action, e.reason, r.rechecks, r.event_type, r.unproven_references,
			(SELECT array_agg(v.identity || ' ' || v.type ORDER BY v.identity)
				FROM urlmode.event v WHERE v.elicitation = e.id) AS events
		FROM unnest($1::uuid[]) WITH ORDINALITY a (id, n) JOIN urlmode.elicitation e USING (id)
		LEFT JOIN urlmode.recheck r ON r.elicitation = e.id ORDER BY n`, [ids]);
	const results = new Map();

	await eachOf(rows.filter(({ status }) => status === 'completed'), async ({ id }) => {
		const { result } = await fixture.urlmode.waitForCompletion(id, { ...ownerOf(id), timeout: 60_000 });
		results.set(id, result);
	});
	return rows.map((row) => JSON.stringify({ ...row, result: results.get(row.id) }));
}
