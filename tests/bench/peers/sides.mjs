// The MCP server's side: elicitations created, and waited for.
//
//   urlmode   the package
//   api       the same over HTTP
//   plain     what one would write beside the Node programs: one INSERT; a
//             notification parsed, and a promise resolved with the result that it
//             brings; a result that is too long for one is read
//   listen    the notification alone, of an id

import { readFileSync } from 'node:fs';

import pg from 'pg';

import { UrlMode } from '../../../lib/node/src/index.js';
import { parseKeys } from '../../../lib/node/src/core/keys.js';
import { bindingOf, mintState } from '../../../lib/node/src/core/token.js';
import { openApi } from './api-side.mjs';
import { TARGET_URL, TTL_MS } from './elicitation.mjs';

const { URLMODE_DATABASE_URL: databaseUrl, URLMODE_KEYS_FILE: keysFile, URLMODE_BASE_URL: baseUrl } = process.env;

/** The outcomes that a notification tells of; where a result is null, it is to be read. */
const PARSERS = {
	plain: (payload) => [JSON.parse(payload)].flat(),
	listen: (id) => [{ id, result: {} }],
};

/** @param {string} mode */
export async function openSide(mode) {
	if (mode === 'api') return openApi({ targetUrl: TARGET_URL, ttlMs: TTL_MS });
	return mode === 'urlmode' ? openUrlMode() : openPlain(PARSERS[mode]);
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

async function openPlain(parse) {
	const connectionString = process.env.URLMODE_ADMIN_DATABASE_URL;
	const pool = new pg.Pool({ connectionString, max: 10 });
	const listener = new pg.Client({ connectionString });
	const keys = parseKeys(readFileSync(keysFile, 'latin1'), keysFile);
	const waiting = new Map();

	async function read(id) {
		const { rows: [row] } = await pool.query({
			name: 'read', text: 'SELECT result FROM bench.elicitation WHERE id = $1', values: [id],
		});
		return JSON.parse(row.result);
	}

	await listener.connect();
	listener.on('notification', ({ payload }) => {
		for (const { id, result } of parse(payload)) {
			const resolve = waiting.get(id);
			waiting.delete(id);
			resolve?.(result ?? read(id));
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
