// Faults that others make on a database that they share, and MCP servers that stop.

import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';

import pg from 'pg';

import { processes } from '../support/processes.mjs';

/** Longer than a program waits for its database. */
const LONG = 4_000;
/** Longer than the SDK waits for an answer. */
const VERY_LONG = 12_000;
const SESSIONS = 100;

/** Lets a role have no more connections than this; those that it has end. */
async function limit(lab, role, connections) {
	await lab.sql(`ALTER ROLE ${role} CONNECTION LIMIT ${connections}`);
	await lab.sql('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1', [role]);
}

/** @type {Record<string, (lab: import('./lab.mjs').Lab) => Promise<unknown>>} */
export const LOAD_FAULTS = {
	/** Its notifications stay in the queue, and its waits end late. */
	'an MCP server stopped': async (lab) => {
		const children = (await processes()).filter(({ parent, command }) => parent === process.pid && !/^(postgres|sh|bash)$/.test(command));
		const { pid } = lab.any(children);
		process.kill(pid, 'SIGSTOP');
		await sleep(VERY_LONG);
		process.kill(pid, 'SIGCONT');
	},

	'no connections for the programs': async (lab) => {
		await limit(lab, 'urlmode_cgi', 0);
		await sleep(LONG);
		await lab.sql('ALTER ROLE urlmode_cgi CONNECTION LIMIT -1');
	},
	'two connections for all MCP servers': async (lab) => {
		await limit(lab, 'urlmode_server', 2);
		await sleep(LONG);
		await lab.sql('ALTER ROLE urlmode_server CONNECTION LIMIT -1');
	},

	/** Each holds all rows for a moment, one after the other. */
	'a hundred sessions that wait for the same rows': async (lab) => {
		const until = performance.now() + LONG;
		const sessions = Array.from({ length: SESSIONS }, async () => {
			const client = new pg.Client({ connectionString: lab.stack.env.URLMODE_ADMIN_DATABASE_URL });
			await client.connect();
			try {
				while (performance.now() < until) {
					await client.query(`BEGIN; SELECT FROM urlmode.elicitation WHERE status <> 'completed' ORDER BY id FOR UPDATE; COMMIT`);
				}
			} finally {
				await client.end();
			}
		});
		await Promise.all(sessions);
	},
};
