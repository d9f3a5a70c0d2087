// A migration that names the elicitations locks their table first (sql/lock.sql). It gets whatever else it needs if the calls that
// wait for that table hold no other one that they write, and soon enough if they do.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';

import pg from 'pg';

import { openFixture } from '../support/fixture.mjs';
import { ROOT } from '../stack/harness.mjs';
import { until } from '../support/wait.mjs';

/** What each function is called with, by the types of its parameters. */
const VALUES = {
	uuid: "'00000000-0000-4000-8000-000000000000'", bytea: String.raw`'\x00'`, text: "'x'", integer: '1', smallint: '1', bigint: '7776000000',
	boolean: 'true', jsonb: "'{}'", 'timestamp with time zone': 'now()', interval: "'1 hour'",
};

let fixture;
let url;

before(async () => {
	fixture = await openFixture({ name: 'migrate-waits', own: true });
	url = fixture.stack.env.URLMODE_ADMIN_DATABASE_URL;
});

after(() => fixture?.close());

async function connect(t) {
	const client = new pg.Client({ connectionString: url });
	await client.connect();
	t.after(() => client.end());
	return client;
}

const literal = (type) => (type.endsWith('[]') ? `ARRAY[${literal(type.slice(0, -2))}]` : VALUES[type] ?? 'NULL') + `::${type}`;

test('a call that waits for the elicitations has locked no other table yet that it writes', async (t) => {
	const functions = await fixture.stack.sql(`SELECT p.oid::regproc::text AS name, ARRAY(SELECT format_type(a.type, NULL) FROM unnest(p.proargtypes) AS a (type)) AS types
		FROM pg_proc p WHERE p.pronamespace = 'urlmode'::regnamespace AND p.prokind = 'f'
			AND EXISTS (SELECT FROM aclexplode(p.proacl) a WHERE a.grantee <> p.proowner) ORDER BY 1`);
	const [migration, client] = [await connect(t), await connect(t)];
	await migration.query('BEGIN; LOCK TABLE urlmode.elicitation IN ACCESS EXCLUSIVE MODE');
	const locked = {};
	let count = 0;
	for (const { name, types } of functions) {
		let isOver = false;
		const over = client.query(`SELECT * FROM ${name}(${types.map(literal).join(', ')})`).catch(() => {}).then(() => { isOver = true; });
		const waits = async () => (await fixture.stack.sql("SELECT FROM pg_locks WHERE pid = $1 AND NOT granted AND relation = 'urlmode.elicitation'::regclass", [client.processID])).length > 0;
		await until(`${name} waits, or is over`, async () => isOver || await waits());
		if (isOver) continue;
		count++;
		const held = await fixture.stack.sql(`SELECT DISTINCT c.relname AS table FROM pg_locks l JOIN pg_class c ON c.oid = l.relation AND c.relkind = 'r' AND c.relnamespace = 'urlmode'::regnamespace
			WHERE l.pid = $1 AND l.granted AND l.mode <> 'AccessShareLock'`, [client.processID]);
		if (held.length > 0) locked[name] = held.map(({ table }) => table);
		await fixture.stack.sql('SELECT pg_cancel_backend($1)', [client.processID]);
		await over;
	}
	await migration.query('ROLLBACK');
	assert.ok(count > 30, `${count} functions wait`);
	assert.deepEqual(locked, {});
});

test('a call of before, which locks another table first, is let through, and the migration comes after it', async (t) => {
	const folder = await mkdtemp(path.join(tmpdir(), 'migrate-waits-'));
	t.after(() => rm(folder, { recursive: true }));
	await cp(path.join(ROOT, 'sql'), folder, { recursive: true });
	await writeFile(path.join(folder, 'tables/999_more.sql'), `ALTER TABLE urlmode.purge_queue ADD COLUMN more text;
		ALTER TABLE urlmode.elicitation ADD COLUMN more text;`);
	const call = await connect(t);
	await call.query('BEGIN; LOCK TABLE urlmode.purge_queue IN ROW EXCLUSIVE MODE');
	const migrated = promisify(execFile)(path.join(folder, 'migrate'), { env: { ...process.env, URLMODE_ADMIN_DATABASE_URL: url } });
	migrated.catch(() => {});
	await until('it pauses', async () => (await fixture.stack.sql("SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep'")).length > 0);
	await call.query('SELECT FROM urlmode.elicitation; COMMIT');
	assert.deepEqual((await migrated).stdout, '999_more.sql\n');
});
