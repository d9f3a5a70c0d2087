// The calls of an MCP server: elicitations that are created, and the time from there, through
// the browser's return, to the promise.

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { load } from '../load.mjs';
import { FOLDER } from '../paths.mjs';
import { TARGET_URL, TTL_MS } from '../peers/elicitation.mjs';
import { run } from '../processes.mjs';
import { writeRequests } from '../requests.mjs';

const SERVER = fileURLToPath(new URL('../peers/server.mjs', import.meta.url));

/** The columns that `create` fills, of a row as the package makes it. */
const INSERT = `INSERT INTO urlmode.elicitation
	(id, provider, kind, subject, binding, requester, target_url, expires_at)
VALUES (gen_random_uuid(), 'demo', 'oauth', 'user-42', decode('00112233445566778899aabbccddeeff', 'hex'), 'Bench',
	'https://provider.example.com/authorize?client_id=mcp-server-8f2b&response_type=code'
	'&redirect_uri=https%3A%2F%2Fcallback.example.com%2Foauth%2Fdemo%2Freturn&scope=openid%20profile%20email',
	now() + interval '10 minutes')`;

const SIDES = {
	urlmode: { schema: 'urlmode', mode: 'urlmode' },
	api: { schema: 'urlmode', mode: 'api' },
	hono: { schema: 'bench', mode: 'plain' },
};

const file = (name) => path.join(FOLDER, `creates.${name}`);

/** Elicitations of before, with statistics of them: PostgreSQL plans for a table in use. */
const OLDER = 10_000;

/** Bare prepared INSERTs of so many clients of PostgreSQL. */
export async function inserts(bed, { clients, seconds, warmUp }) {
	await bed.fill('urlmode', { to: OLDER });
	writeFileSync(file('sql'), `${INSERT}\n`);
	const url = bed.stack.env.URLMODE_ADMIN_DATABASE_URL;
	const printed = await run(['pgbench', '-n', '-M', 'prepared', '-f', file('sql'), '-c', String(clients), '-j', '2',
		'-T', String(Math.ceil(seconds + warmUp)), url]);
	const figure = (pattern) => Number(pattern.exec(printed)[1]);
	return { rate: figure(/^tps = ([\d.]+)/m), mean: figure(/^latency average = ([\d.]+) ms/m) };
}

/** @param {{ side?: 'urlmode' | 'api', atOnce: number, count: number, seconds: number, warmUp: number }} options count: elicitations at the most */
export async function creates(bed, { side = 'urlmode', ...options }) {
	const { done, ...figures } = await serve(bed, side, options);
	const [{ count }] = await bed.sql('SELECT count(*)::integer FROM urlmode.elicitation');
	if (count !== OLDER + done) throw new Error(`${done} elicitations were created, but there are ${count - OLDER}`);
	return figures;
}

/** The same where load.c calls the api: what a caller makes of its language costs nothing. */
export async function createsThroughApi(bed, { atOnce, count, ...time }) {
	const { URLMODE_API_URL: url, URLMODE_API_KEY: key } = bed.stack.env;
	await bed.fill('urlmode', { from: count, to: count + OLDER });
	await writeRequests(file('requests'), function* () {
		for (const { subject } of bed.elicitations.slice(0, count)) yield { status: 201, request: createRequest(key, subject) };
	}());
	const { sent, classes: { 0: figures } } = await load({ port: Number(new URL(url).port), file: file('requests'), connections: atOnce, ...time });
	const [{ created }] = await bed.sql('SELECT count(*)::integer AS created FROM urlmode.elicitation');
	if (created !== OLDER + sent) throw new Error(`${sent} elicitations were created, but there are ${created - OLDER}`);
	return figures;
}

function createRequest(key, subject) {
	const body = JSON.stringify({ subject, provider: 'demo', kind: 'oauth', target_url: TARGET_URL, ttl_ms: TTL_MS });
	return 'POST /v1/create HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n'
		+ `Authorization: Bearer ${key}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** @param {'urlmode' | 'hono'} side */
export async function wholeWay(bed, side, options) {
	const port = side === 'urlmode' ? bed.port : bed.peer(side).port;
	await bed.writeReturns(file('requests'), 0, options.count);
	const { done, ...figures } = await serve(bed, side, options, [String(port), file('requests')]);
	const rows = await bed.completed(SIDES[side].schema);
	if (rows !== done) throw new Error(`${side}: ${done} outcomes, but ${rows} rows are completed`);
	return figures;
}

async function serve(bed, side, { atOnce, count, seconds, warmUp }, more = []) {
	const { schema, mode } = SIDES[side];
	await bed.fill(schema, { from: count, to: count + OLDER });
	writeFileSync(file('ids'), bed.elicitations.slice(0, count).map(({ id, subject }) => `${id} ${subject}\n`).join(''));
	return JSON.parse(await run([process.execPath, SERVER, mode, file('ids'), ...[atOnce, seconds, warmUp].map(String), ...more],
		{ env: bed.stack.env }));
}
