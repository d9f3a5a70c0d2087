// One MCP server's waiting side in a process of its own. It gets commands to create and to
// wait, and reports the outcome of each wait. It tries again when the database is unavailable,
// as a tool's client would.

import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';

import { UrlMode } from 'urlmode';

const HOURS = 3_600_000;
const urlmode = new UrlMode({
	databaseUrl: process.env.URLMODE_DATABASE_URL, keysFile: process.env.URLMODE_KEYS_FILE, baseUrl: process.env.URLMODE_BASE_URL,
});
process.removeAllListeners('warning');

const ACTS = {
	/** Longer than any clock of the lab is off. */
	create: ({ options }) => urlmode.create({ ...options, ttl: 6 * HOURS, ...!options.form && { targetUrl: 'http://localhost:9/' } }),

	wait: ({ id, owner, key }) => urlmode.waitForCompletion(id, {
		...owner, timeout: HOURS,
		...key && { verify: ({ values }) => (values.key === key ? undefined : { field: 'key', problem: 'Not this one.' }) },
	}),

	async claim({ id, owner }) {
		for (let failures = 0; ; failures += 1) {
			try {
				return { claimed: await urlmode.claim(id, owner), failures };
			} catch {
				await sleep(200);
			}
		}
	},
};

process.on('message', async (message) => {
	const { call, act, ...rest } = message;
	try {
		process.send({ call, value: await ACTS[act](rest) });
	} catch (error) {
		process.send({ call, error: String(error?.message ?? error) });
	}
});
process.on('disconnect', () => process.exit(0));
