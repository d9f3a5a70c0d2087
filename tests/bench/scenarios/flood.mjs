// Invalid and expired states, which are refused without the database; and the same with one
// valid state in a hundred, which completes its row.

import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { load } from '../load.mjs';
import { FOLDER } from '../paths.mjs';
import { forge, returnRequest, writeRequests } from '../requests.mjs';

const VALID_EVERY = 100;
const BAD = 0;
const VALID = 1;

const WAYS = [
	{ status: 400, change: { bend: forge } },
	{ status: 410, change: { expires: Math.floor(Date.now() / 1000) - 60 } },
	{ status: 400, change: { bend: (state) => state.slice(0, 80) } },
];

const file = (name) => path.join(FOLDER, `flood.${name}`);

/** @param {import('../bed.mjs').Bed} bed */
export async function writeFlood(bed, count) {
	const { deployment, elicitations } = bed;
	const bad = (n) => {
		const { status, change } = WAYS[n % WAYS.length];
		return { status, kind: BAD, request: returnRequest(deployment, elicitations[n % elicitations.length], change) };
	};

	await writeRequests(file('bad'), function* () {
		for (let n = 0; n < 3_000; n++) yield bad(n);
	}());
	await writeRequests(file('null'), function* () {
		for (let n = 0; n < 3_000; n++) yield { ...bad(n), status: WAYS[0].status };
	}());
	await writeRequests(file('mixed'), function* () {
		for (let n = 0; n < count; n++) {
			yield n % VALID_EVERY === 0
				? { status: 303, kind: VALID, request: returnRequest(deployment, elicitations[n / VALID_EVERY]) }
				: bad(n);
		}
	}());
	return Math.ceil(count / VALID_EVERY);
}

export async function flood(bed, options) {
	const { classes: { [BAD]: tally } } = await load({ port: bed.port, file: file('bad'), loop: true, ...options });
	return tally;
}

/**
 * @param {import('../bed.mjs').Bed} bed
 * @param {{ seconds: number, warmUp: number, valid: number }} options valid: how many there are in the file
 * @returns {Promise<object>} of the valid ones
 */
export async function mixed(bed, { valid, ...options }) {
	await bed.fill('urlmode', { to: valid });
	const { classes: { [VALID]: tally } } = await load({ port: bed.port, file: file('mixed'), ...options });
	return tally;
}

/** The same to a program that does nothing but to give the answer that the first of them gets. */
export async function nothing(bed, options) {
	const { classes: { [BAD]: tally } } = await load({
		port: bed.peer('null page').port, file: file('null'), loop: true, ...options,
	});
	return tally;
}

/** So many requests, over and over the same ones, on fresh rows each time. */
export async function floods(bed, count) {
	const valid = await writeFlood(bed, 100_000);
	let all = 0;
	while (all < count) {
		await bed.fill('urlmode', { to: valid });
		const { sent } = await load({ port: bed.port, file: file('mixed') });
		all += sent;
	}
	return all;
}

/**
 * What PostgreSQL did during a flood without a valid state: transactions of
 * the database beyond those of the counting itself.
 */
export async function transactions(bed, { seconds }) {
	const counts = [];
	// autovacuum counts as well: the lowest of some tries is what the flood did.
	while (counts.length < 3 && counts.at(-1) !== 0) {
		const before = await counter(bed);
		await load({ port: bed.port, file: file('bad'), seconds, loop: true });
		counts.push(await counter(bed) - before - 1);
	}
	return Math.min(...counts);
}

async function counter(bed) {
	// A session reports its counters within a second of becoming idle.
	await sleep(1_500);
	const [{ sum }] = await bed.sql(`SELECT (xact_commit + xact_rollback)::integer AS sum
		FROM pg_stat_database WHERE datname = current_database()`);
	return sum;
}
