// The MCP server's side: elicitations created, and waited for.
//
//   urlmode   the package
//   plain     what one would write beside the Node programs: one INSERT; a
//             notification, the row read, its result parsed, a promise resolved
//   listen    the notification alone

import { readFileSync } from 'node:fs';

import pg from 'pg';

import { UrlMode } from '../../../lib/node/src/index.js';
import { parseKeys } from '../../../lib/node/src/keys.js';
import { bindingOf, mintState } from '../../../lib/node/src/token.js';

const TTL_MS = 600_000;
const TARGET_URL = 'https://provider.example.com/authorize?client_id=mcp-server-8f2b&response_type=code'
	+ '&redirect_uri=https%3A%2F%2Fcallback.example.com%2Foauth%2Fdemo%2Freturn&scope=openid%20profile%20email';

const { URLMODE_DATABASE_URL: databaseUrl, URLMODE_KEYS_FILE: keysFile, URLMODE_BASE_URL: baseUrl } = process.env;

/** @param {string} mode */
export async function openSide(mode) {
	return mode === 'urlmode' ? openUrlMode() : openPlain({ reads: mode === 'plain' });
}

function openUrlMode() {
	const urlmode = new UrlMode({ databaseUrl, keysFile, baseUrl, name: 'Bench' });
	return {
		create: ({ id, subject }) => urlmode.create({
			id, subject, provider: 'demo', kind: 'oauth', targetUrl: TARGET_URL, ttl: TTL_MS,
		}),
		wait: ({ id, subject }) => urlmode.waitForCompletion(id, { subject, timeout: TTL_MS }),
		close: () => urlmode.close(),
	};
}

async function openPlain({ reads }) {
	const connectionString = process.env.URLMODE_ADMIN_DATABASE_URL;
	const pool = new pg.Pool({ connectionString, max: 10 });
	const listener = new pg.Client({ connectionString });
	const keys = parseKeys(readFileSync(keysFile, 'latin1'), keysFile);
	const waiting = new Map();

	await listener.connect();
	listener.on('notification', async ({ payload }) => {
		const resolve = waiting.get(payload);
		if (!resolve) return;
		waiting.delete(payload);
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
		async create({ id, subject }) {
			const expires = new Date(Date.now() + TTL_MS);
			await pool.query({
				name: 'create', text: 'INSERT INTO bench.elicitation (id, subject, target_url, expires_at) VALUES ($1, $2, $3, $4)',
				values: [id, subject, TARGET_URL, expires],
			});
			const state = { id, expires: Math.ceil(expires / 1_000), binding: bindingOf(subject, '') };
			return { url: `${baseUrl}/connect/demo?state=${mintState(keys, 'connect', 'demo', state)}` };
		},
		wait: ({ id }) => new Promise((resolve) => waiting.set(id, resolve)),
		close: () => Promise.all([listener.end(), pool.end()]),
	};
}
