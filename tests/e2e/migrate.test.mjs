// What sql/migrate, npx urlmode migrate and python -m urlmode migrate do with a database that is not empty: one of
// before tables/ and functions/, one that nobody knows, and one with newer functions. What a file of sql/ does alone
// is tested by one of them.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import pg from 'pg';

import { functionsVersion, migrationDigests } from '../../lib/node/src/commands/migrations.js';
import { bindingOf } from '../../lib/node/src/core/token.js';
import { Cluster } from '../../lib/node/test/support/cluster.js';
import { catalog } from '../support/catalog.mjs';
import { changed, recorded, signatures } from '../support/functions.mjs';
import { PYTHON, PYTHON_ENV } from '../support/python.mjs';
import { until } from '../support/wait.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SQL = path.join(ROOT, 'sql');
const OLD = await readFile(path.join(ROOT, 'tests/support/old-schema.sql'), 'utf8');
const MIGRATE = {
	'sql/migrate': [path.join(SQL, 'migrate')],
	'npx urlmode migrate': [process.execPath, path.join(ROOT, 'lib/node/bin/urlmode.mjs'), 'migrate'],
	'python -m urlmode migrate': ['env', ...Object.entries(PYTHON_ENV).map((pair) => pair.join('=')), PYTHON, '-m', 'urlmode', 'migrate'],
};

/** Databases that were migrated once, and of which the others are copies. Nobody is connected to them. */
const [MIGRATED, WITH_FRAMEWORKS] = ['migrated', 'with_frameworks'];

const ends = [];
let cluster;
let maker;
let number = 0;

before(async () => {
	cluster = await Cluster.start({ after: (end) => ends.push(end) });
	maker = new pg.Client({ connectionString: urlOf('template1') });
	await maker.connect();
	ends.unshift(() => maker.end());
	await maker.query(`ALTER DATABASE postgres RENAME TO ${MIGRATED}`);
	await maker.query(`CREATE DATABASE ${WITH_FRAMEWORKS} TEMPLATE ${MIGRATED}`);
	await migrate({ url: urlOf(WITH_FRAMEWORKS) }, undefined, '--frameworks');
});

after(async () => {
	for (const end of ends) await end();
});

const urlOf = (name) => Object.assign(new URL(cluster.adminUrl), { pathname: `/${name}` }).href;

/** A database of this cluster in which these statements were executed: its URL and a connection to it. Empty, or like another one. */
async function database(statements = '', like = 'template0') {
	number += 1;
	await maker.query(`CREATE DATABASE other_${number} TEMPLATE ${like}`);
	const url = urlOf(`other_${number}`);
	const client = new pg.Client({ connectionString: url });
	await client.connect();
	ends.unshift(() => client.end());
	await client.query(statements);
	return { url, query: async (...args) => (await client.query(...args)).rows };
}

const digestsOf = ({ query }) => query('SELECT name, digest FROM urlmode.migration ORDER BY name');

/**
 * @param {string[]} command of MIGRATE
 * @returns {Promise<{ status: number, lines: string[], stderr: string }> & { says: (words: string) => Promise<void> }}
 */
function migrate({ url }, command = MIGRATE['sql/migrate'], ...options) {
	let child;
	const ended = new Promise((resolve) => {
		child = execFile(command[0], [...command.slice(1), ...options], { env: { ...process.env, URLMODE_ADMIN_DATABASE_URL: url } }, (error, stdout, stderr) => {
			resolve({ status: error?.code ?? 0, lines: stdout.split('\n').filter(Boolean), stderr });
		});
	});
	let said = '';
	child.stderr.on('data', (text) => { said += text; });
	return Object.assign(ended, { says: (words) => until(`it says ${words}`, () => said.includes(words), { timeout: 120_000 }) });
}

/** A connection that ends with the test. */
async function connected(t, url) {
	const client = new pg.Client({ connectionString: url });
	await client.connect();
	t.after(() => client.end());
	return client;
}

async function refusesUnknown(statements, command) {
	const other = await database(statements);
	const objects = () => other.query("SELECT classid, objid FROM pg_depend WHERE refobjid = 'urlmode'::regnamespace ORDER BY 1, 2");
	const before = await objects();
	const { status, lines, stderr } = await migrate(other, command);
	assert.notEqual(status, 0);
	assert.deepEqual(lines, []);
	assert.match(stderr, /the schema urlmode of this database is unknown, or a part of it is missing; nothing was changed/);
	assert.match(stderr, /run the sql\/migrate of the last version that has 018_refund\.sql in sql\/ first\. Otherwise migrate another database, which is empty/);
	assert.deepEqual(await objects(), before);
}

for (const [name, command] of Object.entries(MIGRATE)) {
	describe(name, () => {
		test('adopts the last schema of before: it is then like a new one, and again nothing is done', async () => {
			const [adopted, fresh] = [await database(OLD), await database()];
			const later = (await readdir(path.join(SQL, 'tables'))).filter((file) => !OLD.includes(`'${file}'`)).sort();
			assert.deepEqual(await migrate(adopted, command), { status: 0, lines: [...later, 'frameworks/001_schema.sql'], stderr: '' });
			assert.equal((await migrate(fresh, command, '--frameworks')).status, 0);
			const first = await catalog(adopted);
			assert.deepEqual(first, await catalog(fresh));
			assert.ok(first.length > 500);
			assert.deepEqual(await digestsOf(fresh), Object.entries(migrationDigests()).map(([name, digest]) => ({ name, digest })).sort((a, b) => (a.name < b.name ? -1 : 1)));
			assert.deepEqual(await migrate(adopted, command), { status: 0, lines: [], stderr: '' });
			assert.deepEqual(await catalog(adopted), first);
		});

		test('refuses a schema that nobody knows, changes nothing, and says what to do', () => refusesUnknown(`${OLD} DROP FUNCTION urlmode.ping();`, command));

		test('makes the schema of frameworks only where it is asked for, and replaces its functions from then on', async () => {
			const one = await database('', MIGRATED);
			assert.deepEqual(await migrate(one, command), { status: 0, lines: [], stderr: '' });
			assert.equal((await one.query("SELECT urlmode.purge() AS taken"))[0].taken, '0');
			assert.deepEqual(await one.query("SELECT FROM pg_namespace WHERE nspname = 'urlmode_frameworks'"), []);
			assert.match((await migrate(one, command, '--frameworks')).lines.join(), /^frameworks\/001_schema\.sql,frameworks\/010/);
			const before = await catalog(one);
			await one.query(`DROP FUNCTION urlmode_frameworks.stored_get; GRANT EXECUTE ON FUNCTION urlmode_frameworks.publish TO urlmode_cgi;
				INSERT INTO urlmode_frameworks.stored VALUES ('gone', 'x', now() - interval '1 s')`);
			assert.deepEqual(await migrate(one, command), { status: 0, lines: [], stderr: '' });
			assert.deepEqual(await catalog(one), before);
			assert.equal((await one.query("SELECT urlmode.purge(kind => 'stored') AS taken"))[0].taken, '1');
		});

		test('gives way where a transaction holds a table, names its process, and goes on when it has ended', async (t) => {
			const one = await database('', MIGRATED);
			await one.query(`DELETE FROM urlmode.migration WHERE name = '045_refresh.sql'; ALTER TABLE urlmode.account DROP COLUMN holder,
				DROP COLUMN server_started_at, DROP COLUMN sent_lease, DROP COLUMN first_sent_at, DROP COLUMN reuse_ms, DROP COLUMN gone_at`);
			const [reader, writer] = await Promise.all([1, 2].map(() => connected(t, one.url)));
			await reader.query('BEGIN; SELECT FROM urlmode.account');
			const { rows: [{ pid }] } = await reader.query('SELECT pg_backend_pid() AS pid');
			let written = 0;
			let isOver = false;
			const given = migrate(one, command, '--tries', '2').finally(() => { isOver = true; });
			for (; !isOver; written++) await writer.query('UPDATE urlmode.account SET tokens = tokens');
			assert.ok(written > 0);
			const { status, lines, stderr } = await given;
			assert.notEqual(status, 0);
			assert.deepEqual(lines, []);
			assert.match(stderr, /045_refresh\.sql has waited too long for a lock, and has changed nothing \(try 2 of 2\)/);
			assert.match(stderr, new RegExp(`process ${pid} \\(.*idle in transaction\\) has locked account.*, its transaction began \\d+ s ago`));
			assert.match(stderr, /gave up\. Try again when these transactions have ended/);

			const later = migrate(one, command);
			await later.says('(try 1 of 20)');
			await reader.query('COMMIT');
			const end = await later;
			assert.deepEqual([end.status, end.lines], [0, ['045_refresh.sql']]);
			assert.match(end.stderr, /\(try 1 of 20\)/);
		});

		test('refuses a file that is not as it was applied, changes nothing, and says the way out, which works', async () => {
			const one = await database('', WITH_FRAMEWORKS);
			const before = await digestsOf(one);
			const other = '0'.repeat(64);
			await one.query(`UPDATE urlmode.migration SET digest = $1 WHERE name IN ('045_refresh.sql', 'frameworks/012_storage.sql')`, [other]);
			await one.query("DELETE FROM urlmode.migration WHERE name = '052_watched.sql'");
			const objects = await catalog(one);
			const { status, lines, stderr } = await migrate(one, command);
			assert.notEqual(status, 0);
			assert.deepEqual(lines, []);
			assert.match(stderr, /not as it was applied to this database: 045_refresh\.sql, frameworks\/012_storage\.sql; nothing was changed/);
			assert.match(stderr, /take it from the release/);
			assert.deepEqual(await catalog(one), objects);
			// sql/migrate has no dry run: that of the command is tested in tests/operate.
			if (name !== 'sql/migrate') {
				const dry = await migrate(one, command, '--dry-run');
				assert.deepEqual([dry.status, dry.lines], [1, [...['045_refresh.sql', 'frameworks/012_storage.sql'].map((each) => `${each} is not as it was applied, and migrate would refuse`),
					'052_watched.sql would be applied']]);
			}
			await one.query("INSERT INTO urlmode.migration (name) VALUES ('052_watched.sql')");

			let refused = stderr;
			for (const file of ['045_refresh.sql', 'frameworks/012_storage.sql']) {
				const [, way] = /(UPDATE urlmode\.migration SET digest = NULL WHERE name = '[^']*')/.exec(refused);
				assert.ok(way.includes(file));
				await one.query(way);
				refused = (await migrate(one, command)).stderr;
			}
			assert.equal(refused, '');
			assert.deepEqual(await digestsOf(one), before, 'what has no digest is adopted');
		});

		test('adopts what was applied before digests were kept, and knows of a newer version only the names', async () => {
			const one = await database('', MIGRATED);
			const before = await digestsOf(one);
			await one.query("ALTER TABLE urlmode.migration DROP COLUMN digest; DELETE FROM urlmode.migration WHERE name = '055_digest.sql'");
			await one.query("INSERT INTO urlmode.migration (name) VALUES ('999_news.sql')");
			assert.deepEqual(await migrate(one, command), { status: 0, lines: ['055_digest.sql'], stderr: '' });
			assert.deepEqual(await digestsOf(one), [...before, { name: '999_news.sql', digest: null }]);
		});

		test('refuses to replace newer functions, changes nothing, and says what to do', async () => {
			const newer = await database('', MIGRATED);
			await newer.query("CREATE OR REPLACE FUNCTION urlmode.functions_version() RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT 900'");
			await newer.query("CREATE OR REPLACE FUNCTION urlmode.ping() RETURNS boolean LANGUAGE sql STABLE AS 'SELECT true /* newer */'");
			const before = await catalog(newer);
			const { status, stderr } = await migrate(newer, command);
			assert.notEqual(status, 0);
			assert.match(stderr, /the functions of this database have version 900, and would be replaced by older ones of version \d+; nothing was changed/);
			assert.match(stderr, /Migrate with the newest version that uses this database/);
			assert.deepEqual(await catalog(newer), before);
		});
	});
}

for (const [what, statements] of Object.entries({
	'with half of the migrations': `${OLD} DELETE FROM urlmode.migration WHERE name > '010';`,
	'with a column of its own': `${OLD} ALTER TABLE urlmode.payment ADD note text;`,
	'with a table of somebody else': 'CREATE SCHEMA urlmode; CREATE TABLE urlmode.mine ();',
})) {
	test(`a schema ${what} is refused`, () => refusesUnknown(statements));
}

test('adopts the last schema of before also in its last hours, when functions were no migrations any more', async () => {
	const last = await database(`${OLD} DELETE FROM urlmode.migration WHERE name IN ('006_create.sql', '007_callback.sql', '009_wait.sql', '018_refund.sql')`);
	assert.equal((await migrate(last)).status, 0);
	assert.deepEqual(await catalog(last), await catalog(await database('', WITH_FRAMEWORKS)));
});

test('grants what the files say, and takes away what they do not', async () => {
	const one = await database('', MIGRATED);
	const before = await catalog(one);
	const spoil = `
		GRANT EXECUTE ON FUNCTION urlmode.read TO urlmode_cgi;
		GRANT EXECUTE ON FUNCTION urlmode.ping TO PUBLIC;
		GRANT EXECUTE ON FUNCTION urlmode.purge TO pg_monitor WITH GRANT OPTION;
		REVOKE EXECUTE ON FUNCTION urlmode.open FROM urlmode_cgi`;
	await one.query(spoil);
	assert.notDeepEqual(await catalog(one), before);
	assert.deepEqual(await migrate(one), { status: 0, lines: [], stderr: '' });
	assert.deepEqual(await catalog(one), before);
});

for (const name of ['npx urlmode migrate', 'python -m urlmode migrate']) {
	test(`${name} says what it would do, and what it does not understand`, async () => {
		let one = await database();
		const dry = () => migrate(one, MIGRATE[name], '--dry-run');
		const all = (await readdir(path.join(SQL, 'tables'))).sort().map((file) => `${file} would be applied`);
		assert.deepEqual(await dry(), { status: 0, lines: [...all, `functions of version ${functionsVersion()} would be applied`], stderr: '' });
		assert.deepEqual(await one.query("SELECT to_regnamespace('urlmode') AS there"), [{ there: null }]);
		one = await database('', MIGRATED);
		assert.deepEqual(await dry(), { status: 0, lines: [], stderr: '' });
		await one.query("CREATE OR REPLACE FUNCTION urlmode.functions_version() RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT 900'");
		const newer = await dry();
		assert.equal(newer.status, 1);
		assert.match(newer.lines.join(), /^the functions are newer, of version 900, and would not be replaced by version \d+$/);
		for (const [wrong, said] of [[['--tries', '0'], /--tries needs a number/], [['--deployment', 'B'], /a deployment has a name/], [['--revoke-others'], /needs --deployment/], [['--nothing'], /nothing/]]) {
			const { status, stderr } = await migrate(one, MIGRATE[name], ...wrong);
			assert.deepEqual([status, said.test(stderr)], [name.startsWith('npx') ? 64 : 2, true], stderr);
		}
	});
}

describe('a schema that was adopted', () => {
	const [id, asked, paid, signed, subject] = [randomUUID(), randomUUID(), randomUUID(), randomUUID(), 'alice'];
	const binding = bindingOf(subject, '');
	let old;

	before(async () => {
		old = await database(OLD);
		await old.query(`
			INSERT INTO urlmode.elicitation (id, provider, kind, subject, binding, requester, target_url, expires_at, resume_key)
			VALUES ($1, 'github', 'oauth', $2, $3, 'server', 'https://id.example/authorize', now() + interval '5 minutes', 'account')`,
		[id, subject, binding]);
		await old.query("INSERT INTO urlmode.stored (key, value) VALUES ('before', 'one')");
		await old.query(`
			INSERT INTO urlmode.elicitation (id, provider, kind, subject, binding, requester, expires_at, form, problem, verify_ms, checks, check_taken)
			VALUES ('${asked}', 'keys', 'input', 'alice', $1, 'server', now() + interval '5 minutes', 'form', 'problem', 20000, 3, 3)`, [binding]);
		await old.query(`
			INSERT INTO urlmode.elicitation (id, provider, kind, subject, binding, requester, target_url, expected, expires_at,
				rechecks, rechecked, event_type, unproven_references, recheck_lease)
			VALUES ('${paid}', 'shop', 'payment', 'alice', $1, 'server', 'https://shop.example', '{"amount": 100, "currency": "EUR"}', now() + interval '5 minutes',
				4, 2, 'payment', '{tr_1,tr_2}', 7)`, [binding]);
		await old.query(`
			INSERT INTO urlmode.elicitation (id, provider, kind, subject, binding, requester, target_url, expires_at, status, action, completed_at)
			VALUES ('${signed}', 'signer', 'signature', 'alice', $1, 'server', 'https://sign.example', now() + interval '5 minutes', 'completed', 'accept', now())`, [binding]);
		await old.query(`INSERT INTO urlmode.lease (elicitation, reference, fence, ends_at, fulfilled_at, fulfilled)
			VALUES ('${signed}', '', 9, 'infinity', now(), 'done')`);
		assert.equal((await migrate(old)).status, 0);
	});

	beforeEach(() => old.query('RESET ROLE'));

	test('has its rows go on', async () => {
		await old.query("INSERT INTO urlmode_frameworks.stored (key, value) VALUES ('later', 'two')");
		assert.deepEqual(await old.query("SELECT value FROM urlmode_frameworks.stored_get(ARRAY['before', 'later'])"), [{ value: 'one' }, { value: 'two' }]);
		await old.query('SET ROLE urlmode_cgi');
		const [opened] = await old.query('SELECT outcome FROM urlmode.open($1, $2, $3, $4, $5, $6)',
			[[id], [binding], ['github'], [Buffer.alloc(16, 1)], [null], [0]]);
		assert.equal(opened.outcome, 'opened');
		await old.query('SET ROLE urlmode_server');
		const [row] = await old.query('SELECT status, subject FROM urlmode.read($1, $2), (SELECT $3::text AS subject) s', [[id], [binding], subject]);
		assert.deepEqual(row, { status: 'opened', subject });
	});

	test('has its forms, rechecks and claims go on', async () => {
		await old.query('SET ROLE urlmode_cgi');
		const form = [[asked], [binding], ['keys'], ['input'], ['alice'], [true]];
		const [page] = await old.query(`SELECT outcome, convert_from(form, 'UTF8') AS form, convert_from(problem, 'UTF8') AS problem
			FROM urlmode.look_up_form($1, $2, $3, $4, $5, $6)`, form);
		assert.deepEqual(page, { outcome: 'pending', form: 'form', problem: 'problem' });
		const sealed = [Buffer.from('value')];
		assert.deepEqual(await old.query('SELECT outcome FROM urlmode.answer_form($1, $2, $3, $4, $7, $5, $6, $8, $9, $10, $10, $10)',
			[...form, [Buffer.alloc(16, 1)], ['accept'], [''], sealed]), [{ outcome: 'processing' }]);
		await old.query('SET ROLE urlmode_server');
		assert.deepEqual(await old.query('SELECT lease, result FROM urlmode.take_check($1, $2)', [asked, binding]), [{ lease: 4, result: sealed[0] }]);
		assert.deepEqual(await old.query('SELECT lease, rechecks, event_type, unproven_references AS refs FROM urlmode.take_recheck($1, $2, 1000)', [paid, binding]),
			[{ lease: 8, rechecks: 4, event_type: 'payment', refs: ['tr_1', 'tr_2'] }]);
		assert.deepEqual(await old.query(`SELECT outcome, fence, convert_from(fulfilled, 'UTF8') AS fulfilled FROM urlmode.begin_claim($1, $2, NULL, 1000)`, [signed, binding]),
			[{ outcome: 'fulfilled', fence: '9', fulfilled: 'done' }]);
		assert.deepEqual(await old.query('SELECT urlmode.confirm_claim($1, $2, 9) AS confirmed', [signed, binding]), [{ confirmed: true }]);
		await old.query('RESET ROLE');
		await old.query('DELETE FROM urlmode.elicitation');
		for (const table of ['form', 'recheck', 'lease', 'kept_result']) assert.deepEqual(await old.query(`SELECT FROM urlmode.${table}`), [], table);
	});
});

test('each function of the database has a file, and each of the files is there', async () => {
	const one = await database('', WITH_FRAMEWORKS);
	const files = (await readdir(SQL, { recursive: true })).filter((file) => /functions\/.*\.sql$/.test(file));
	const texts = await Promise.all(files.map((file) => readFile(path.join(SQL, file), 'utf8')));
	const written = texts.flatMap((text) => [...text.matchAll(/CREATE OR REPLACE FUNCTION (urlmode(?:_frameworks)?\.\w+)/g)].map(([, name]) => name));
	const there = await one.query(`SELECT DISTINCT format('%s.%s', pronamespace::regnamespace, proname) AS name FROM pg_proc
		WHERE pronamespace::regnamespace::text ~ '^urlmode'`);
	assert.deepEqual(there.map(({ name }) => name).sort(), [...new Set(written)].sort());
});

test('a function whose parameters, result or defaults change has a new name: older programs call the old one', async () => {
	const one = await database('', WITH_FRAMEWORKS);
	assert.deepEqual(changed(recorded(), await signatures(one.query)), [],
		'give what has changed a new name, and keep the old one; what nobody has yet is recorded by tests/upgrade/freeze');
	await one.query('ALTER FUNCTION urlmode.ping() RENAME TO pong');
	assert.deepEqual(changed(recorded(), await signatures(one.query)), ['urlmode.ping() RETURNS boolean']);
});
