// The same with everything that is known to help: no framework, and whatever
// arrives while a statement is under way goes into the next one together. So do
// their outcomes: as few notifications as hold them, of which PostgreSQL lets
// each have 7999 bytes. `pg` sends one statement at a time over a connection, so
// there are two: the next statement is at work while the first waits for the disk.

import { createServer } from 'node:http';

import pg from 'pg';

import { check } from './state.mjs';

const COMPLETE = `
	WITH done AS (
		UPDATE bench.elicitation e
		SET status = 'completed', action = 'accept', result = a.result, completed_at = now()
		FROM unnest($1::uuid[], $2::text[]) AS a (id, result)
		WHERE e.id = a.id AND e.status <> 'completed' AND e.expires_at > now()
		RETURNING e.id, '{"id":"' || e.id || '","result":'
			|| CASE WHEN octet_length(e.result) < 3900 THEN e.result ELSE 'null' END || '}' AS outcome
	), parts AS (
		SELECT id, outcome, sum(octet_length(outcome) + 1) OVER (ROWS UNBOUNDED PRECEDING) / 4000 AS part FROM done
	)
	SELECT string_agg(id::text, ' '), pg_notify('bench', '[' || string_agg(outcome, ',') || ']')
	FROM parts GROUP BY part`;

const idle = [];
for (let n = 0; n < 2; n++) {
	const client = new pg.Client({ connectionString: process.env.URLMODE_ADMIN_DATABASE_URL });
	await client.connect();
	idle.push(client);
}

const waiting = [];
let underWay = [];

function complete(id, result, answer) {
	waiting.push({ id, result, answer });
	start();
}

/**
 * The next one begins once as many wait as are under way, with half of what is
 * pending, so that both are of one size.
 */
function start() {
	if (idle.length === 0 || waiting.length < (underWay[0]?.length ?? 1)) return;
	const size = underWay[0] ? Math.ceil((underWay[0].length + waiting.length) / 2) : waiting.length;
	void writeBatch(idle.pop(), waiting.splice(0, size));
}

async function writeBatch(client, batch) {
	underWay.push(batch);
	const { rows } = await client.query({
		name: 'complete',
		text: COMPLETE,
		values: [batch.map(({ id }) => id), batch.map(({ result }) => result)],
		rowMode: 'array',
	});
	underWay = underWay.filter((other) => other !== batch);
	idle.push(client);
	start();
	const done = new Set(rows.flatMap(([ids]) => ids.split(' ')));
	for (const { id, answer } of batch) answer(done.has(id));
}

const ROUTE = /^\/oauth\/([a-z0-9_-]+)\/return\?(.*)$/;

createServer((request, response) => {
	const [, provider, query] = ROUTE.exec(request.url) ?? [];
	const found = provider && check(provider, new URLSearchParams(query), request.headers.cookie);
	if (!found) {
		response.writeHead(400).end('state_invalid');
		return;
	}
	complete(found.id, found.result, (done) => {
		response.writeHead(done ? 303 : 409, { location: '/done', 'content-length': 0 }).end();
	});
}).listen(Number(process.env.PORT), '127.0.0.1');
