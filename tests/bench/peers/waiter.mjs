// A process that waits: for every id of a file, and writes when each was
// there, as int64 nanoseconds of CLOCK_MONOTONIC in the order of the file.
//
//   waiter.mjs urlmode|plain|listen IDS TIMES
//
//   urlmode   the package's promises
//   plain     what one would write beside the Node programs: a notification,
//             the row read, its result parsed, a promise resolved
//   listen    the notification alone

import { readFileSync, writeFileSync } from 'node:fs';

import pg from 'pg';

import { UrlMode } from '../../../lib/node/src/index.js';

const [mode, idsFile, timesFile] = process.argv.slice(2);
const elicitations = readFileSync(idsFile, 'utf8').trim().split('\n').map((line) => {
	const [id, subject] = line.split(' ');
	return { id, subject };
});
const times = new BigInt64Array(elicitations.length);

const { URLMODE_DATABASE_URL: databaseUrl, URLMODE_KEYS_FILE: keysFile, URLMODE_BASE_URL: baseUrl } = process.env;

async function openUrlMode() {
	const urlmode = new UrlMode({ databaseUrl, keysFile, baseUrl, name: 'Bench' });
	return {
		wait: ({ id, subject }) => urlmode.waitForCompletion(id, { subject, timeout: 600_000 }),
		close: () => urlmode.close(),
	};
}

async function openPlain({ reads }) {
	const connectionString = process.env.URLMODE_ADMIN_DATABASE_URL;
	const pool = new pg.Pool({ connectionString, max: 10 });
	const listener = new pg.Client({ connectionString });
	const waiting = new Map();

	await listener.connect();
	listener.on('notification', async ({ payload }) => {
		const resolve = waiting.get(payload);
		if (!resolve) return;
		if (reads) {
			const { rows: [row] } = await pool.query({
				name: 'read', text: 'SELECT result FROM bench.elicitation WHERE id = $1', values: [payload],
			});
			resolve(JSON.parse(row.result));
		} else {
			resolve();
		}
	});
	await listener.query('LISTEN bench');
	return {
		wait: ({ id }) => new Promise((resolve) => waiting.set(id, resolve)),
		close: () => Promise.all([listener.end(), pool.end()]),
	};
}

const side = mode === 'urlmode' ? await openUrlMode() : await openPlain({ reads: mode === 'plain' });
const waits = elicitations.map(async (elicitation, index) => {
	await side.wait(elicitation);
	times[index] = process.hrtime.bigint();
});
// The package reads each row once, after it listens; then all is quiet.
setTimeout(() => process.send('ready'), 1_000);
await Promise.all(waits);
writeFileSync(timesFile, Buffer.from(times.buffer));
await side.close();
process.disconnect();
