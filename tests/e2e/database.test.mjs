// The database: how sql/ gets into it, what each role may do, and what is
// announced.

import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import pg from 'pg';

import { bindingOf } from '../../lib/node/src/core/token.js';
import { comeBack, press } from '../support/flow.mjs';
import { openFixture } from '../support/fixture.mjs';
import { waitLongerForLocks } from '../support/locks.mjs';
import { until } from '../support/wait.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const DENIED = '42501'; // insufficient_privilege

let fixture;

before(async () => {
	fixture = await openFixture({ name: 'database', own: true });
	await waitLongerForLocks(fixture.stack);
});

after(() => fixture?.close());

const sql = (...args) => fixture.stack.sql(...args);

/** A connection that is closed at the end. */
async function connectTo(connectionString) {
	const client = new pg.Client({ connectionString });
	await client.connect();
	return fixture.closeAtEnd({ close: () => client.end(), query: (...args) => client.query(...args), on: client.on.bind(client) });
}

/** Connections as the two roles that log in. */
async function connectAs(role) {
	const config = JSON.parse(await readFile(fixture.stack.env.URLMODE_CONFIG, 'utf8'));
	return connectTo({ urlmode_cgi: config.database_url, urlmode_server: fixture.stack.env.URLMODE_DATABASE_URL }[role]);
}

describe('migrations', () => {
	let number = 0;

	/** An empty database of this cluster: its URL. */
	async function emptyDatabase() {
		number += 1;
		const url = new URL(fixture.stack.env.URLMODE_ADMIN_DATABASE_URL);
		url.pathname = `/migrated_${number}`;
		await sql(`CREATE DATABASE migrated_${number}`);
		return url.href;
	}

	/** Runs a command on the database; resolves to its status and output. */
	function run(command, url) {
		return new Promise((resolve) => {
			const env = { ...process.env, URLMODE_ADMIN_DATABASE_URL: url };
			execFile(command[0], command.slice(1), { cwd: ROOT, env }, (error, stdout, stderr) => {
				resolve({ status: error?.code ?? 0, lines: stdout.split('\n').filter(Boolean), stderr });
			});
		});
	}

	const migrate = (url, folder = path.join(ROOT, 'sql')) => run([path.join(folder, 'migrate')], url);

	const files = async () => (await readdir(path.join(ROOT, 'sql/tables'))).filter((name) => /^\d.*\.sql$/.test(name)).sort();

	async function applied(url) {
		const client = await connectTo(url);
		const { rows } = await client.query('SELECT name, applied_at FROM urlmode.migration ORDER BY applied_at, name');
		return rows;
	}

	/** Everything that a migration can make, with who may use it. */
	async function catalog(url) {
		const client = await connectTo(url);
		const { rows } = await client.query(`
			SELECT oid, relname AS name, relacl::text AS acl FROM pg_class WHERE relnamespace = 'urlmode'::regnamespace
			UNION ALL
			SELECT oid, proname, proacl::text FROM pg_proc WHERE pronamespace = 'urlmode'::regnamespace
			ORDER BY oid`);
		return rows;
	}

	test('all are applied in the stack, in order, and those of the frameworks after them', async () => {
		const frameworks = (await readdir(path.join(ROOT, 'sql/frameworks/tables'))).sort().map((name) => `frameworks/${name}`);
		assert.deepEqual((await applied(fixture.stack.env.URLMODE_ADMIN_DATABASE_URL)).map(({ name }) => name), [...await files(), ...frameworks]);
	});

	test('make migrate applies them to any database, in order and once; again it does nothing', async () => {
		const url = await emptyDatabase();
		const first = await run(['make', '-s', 'migrate'], url);
		assert.deepEqual([first.status, first.lines], [0, await files()], first.stderr);
		const before = [await applied(url), await catalog(url)];
		assert.deepEqual(before[0].map(({ name }) => name), await files());
		assert.ok(before[1].length > 10);

		const second = await run(['make', '-s', 'migrate'], url);
		assert.deepEqual([second.status, second.lines], [0, []], second.stderr);
		assert.deepEqual([await applied(url), await catalog(url)], before);
	});

	test('eight runs at the same time apply each of them once', async () => {
		const url = await emptyDatabase();
		const runs = await Promise.all(Array.from({ length: 8 }, () => migrate(url)));

		assert.deepEqual(runs.map(({ status, stderr }) => [status, stderr]), runs.map(() => [0, '']));
		assert.deepEqual(runs.flatMap(({ lines }) => lines).sort(), await files());
	});

	test('one that fails leaves nothing of itself, and is taken up when it is mended', async () => {
		const url = await emptyDatabase();
		const folder = path.join(fixture.stack.runDir, 'sql');
		await cp(path.join(ROOT, 'sql'), folder, { recursive: true });
		const broken = path.join(folder, 'tables/900_broken.sql');
		await writeFile(broken, 'CREATE TABLE urlmode.half ();\nSELECT 1 / 0;\n');
		const before = path.join(folder, 'tables/899_before.sql');
		await writeFile(before, 'SELECT;\n');

		const failed = await migrate(url, folder);
		assert.notEqual(failed.status, 0);
		assert.match(failed.stderr, /900_broken\.sql:2: ERROR: {2}division by zero/);
		assert.deepEqual((await applied(url)).map(({ name }) => name), [...await files(), '899_before.sql']);
		assert.ok(!(await catalog(url)).some(({ name }) => name === 'half'));
		const { rows: [{ digest }] } = await (await connectTo(url)).query("SELECT digest FROM urlmode.migration WHERE name = '899_before.sql'");
		assert.equal(digest, createHash('sha256').update('SELECT;\n').digest('hex'), 'it is kept with what it was applied with');

		await writeFile(broken, 'CREATE TABLE urlmode.half ();\n');
		assert.deepEqual((await migrate(url, folder)).lines, ['900_broken.sql']);
		assert.ok((await catalog(url)).some(({ name }) => name === 'half'));
	});

	/** What looks up the elicitations of a batch: role, function, parameters. create_elicitation is the last, because it inserts. */
	function lookUps(ids, bindings) {
		const all = (value) => ids.map(() => value);
		const cgi = (name, ...parameters) => ['urlmode_cgi', name, [ids, bindings, all('stripe'), ...parameters]];
		const server = (name, ...parameters) => ['urlmode_server', name, [ids, bindings, ...parameters]];
		const sealed = all(Buffer.from('sealed'));
		return [
			cgi('look_up'),
			cgi('open', all(Buffer.alloc(16)), all(null), all(1_000)),
			cgi('complete', all('decline'), all('access_denied'), sealed, all(null)),
			['urlmode_cgi', 'record_events', [ids, all('stripe'), ids, all('paid'), all('paid'), all(1050), all('EUR'), ids, sealed]],
			server('read'),
			server('mark_read'),
			server('expire'),
			server('abandon', all('cancel'), all('aborted')),
			['urlmode_server', 'resume', [bindings, all('report')]],
			['urlmode_server', 'resume_for', [bindings, all('stripe'), all('payment'), all(null), all(true), all(null), all('report:42')]],
			['urlmode_server', 'create_elicitation', [
				ids.map(() => randomUUID()), all('stripe'), all('payment'), all('alice'), all(''), bindings, all('server'),
				all('https://checkout.example/pay'), all({ amount: 1050, currency: 'EUR' }), all(null), all(300_000), all(true), all('another report'),
			]],
		];
	}

	test('a new database is read by its indexes, before PostgreSQL has counted its rows', async () => {
		const url = await emptyDatabase();
		assert.equal((await migrate(url)).status, 0);
		const admin = await connectTo(url);
		for (const table of ['elicitation', 'payment', 'event']) {
			await admin.query(`ALTER TABLE urlmode.${table} SET (autovacuum_enabled = off)`);
		}
		const roles = Object.fromEntries(await Promise.all([['urlmode_cgi', 'URLMODE_PROGRAMS_DATABASE_URL'],
			['urlmode_server', 'URLMODE_DATABASE_URL']].map(async ([role, name]) => [role, await connectTo(
			Object.assign(new URL(fixture.stack.env[name]), { pathname: new URL(url).pathname }).href)])));
		assert.deepEqual((await roles.urlmode_cgi.query('SHOW jit')).rows, [{ jit: 'off' }]);

		/** Calls a function, takes back what it did, and resolves to how many rows it read. */
		async function rowsRead([role, name, parameters]) {
			const count = async () => (await roles[role].query(`
				SELECT coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)::integer AS rows
				FROM pg_stat_xact_user_tables WHERE schemaname = 'urlmode'`)).rows[0].rows;
			await roles[role].query('BEGIN');
			const before = await count();
			await roles[role].query(`SELECT urlmode.${name}(${parameters.map((_, index) => `$${index + 1}`)})`, parameters);
			const rows = await count() - before;
			await roles[role].query('ROLLBACK');
			return rows;
		}

		// Each connection makes its plans now, and keeps them.
		const bindingsOf = (ids) => ids.map((id) => bindingOf(id, ''));
		const unknown = [randomUUID(), randomUUID()];
		for (const some of [unknown, unknown.slice(1)]) {
			for (const call of lookUps(some, bindingsOf(some))) {
				await rowsRead(call);
			}
		}
		const ids = Array.from({ length: 3_000 }, () => randomUUID());
		await admin.query(`
			INSERT INTO urlmode.elicitation (id, provider, kind, subject, binding, requester, target_url, expected, expires_at, resume_key, item)
			SELECT a.id, 'stripe', 'payment', a.id::text, a.binding, 'server', 'https://checkout.example/pay', '"any"',
				now() + interval '5 minutes', 'report', 'report:42' FROM unnest($1::uuid[], $2::bytea[]) AS a (id, binding)`, [ids, bindingsOf(ids)]);
		await admin.query(`
			INSERT INTO urlmode.payment (provider, reference, elicitation, amount, currency, matches, late)
			SELECT 'stripe', a.id::text, a.id, 1050, 'EUR', true, false FROM unnest($1::uuid[]) AS a (id)`, [ids.slice(0, 1_000)]);

		const oneOwner = Array.from({ length: 100 }, () => randomUUID());
		await admin.query(`
			INSERT INTO urlmode.elicitation (id, provider, kind, subject, binding, requester, target_url, expected, expires_at)
			SELECT id, 'stripe', 'payment', 'alice', $2, 'server', 'https://checkout.example/pay', '"any"', now() + interval '5 minutes'
			FROM unnest($1::uuid[]) AS id`, [oneOwner, bindingOf('alice', '')]);

		/** How many rows each function reads to do something with some. */
		async function assertReadsFew(some, calls) {
			const read = {};
			for (const call of calls) {
				read[call[1]] = await rowsRead(call);
			}
			assert.deepEqual(Object.entries(read).filter(([, rows]) => rows < some.length || rows > 8 * some.length), [],
				`${some.length}: ${JSON.stringify(read)}`);
		}
		for (const some of [ids.slice(2_000, 2_002), ids.slice(2_002, 2_003)]) {
			await assertReadsFew(some, lookUps(some, bindingsOf(some)));
		}
		// The last one would be found last by its owner's index.
		const last = oneOwner.slice(-1);
		await assertReadsFew(last, lookUps(last, [bindingOf('alice', '')]).filter(([, name]) => /^(complete|mark_read)$/.test(name)));
	});

	test('without a database they say what is missing', async () => {
		const { status, stderr } = await migrate('');
		assert.equal(status, 2);
		assert.match(stderr, /^migrate: set URLMODE_ADMIN_DATABASE_URL .*\n$/);
	});
});

test('no index depends on the collations of the C library, which an upgrade of it changes', async () => {
	const columns = await sql(`
		SELECT i.relname AS index, a.attname AS column, k.collname AS collation FROM pg_class i
		JOIN pg_attribute a ON a.attrelid = i.oid AND a.attcollation <> 0 JOIN pg_collation k ON k.oid = a.attcollation
		WHERE i.relnamespace IN ('urlmode'::regnamespace, 'urlmode_frameworks'::regnamespace) AND i.relkind = 'i'`);
	assert.ok(columns.length >= 6);
	assert.deepEqual(columns.filter(({ collation }) => collation !== 'C'), []);
});

test('every object has a comment', async () => {
	const objects = await sql(`
		WITH space AS (SELECT oid AS id, nspname AS name FROM pg_namespace WHERE nspname IN ('urlmode', 'urlmode_frameworks'))
		SELECT 'schema' AS kind, name, obj_description(id, 'pg_namespace') AS comment FROM space
		UNION ALL
		SELECT 'relation ' || c.relkind::text, c.relname, obj_description(c.oid, 'pg_class') FROM pg_class c, space
		WHERE c.relnamespace = space.id AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = c.oid)
		AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'i') -- of an identity column
		UNION ALL
		SELECT 'column of ' || c.relname, a.attname, col_description(c.oid, a.attnum) FROM pg_class c
		JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped, space
		WHERE c.relnamespace = space.id AND c.relkind IN ('r', 'v', 'm', 'p')
		UNION ALL
		SELECT 'function', p.oid::regprocedure::text, obj_description(p.oid, 'pg_proc') FROM pg_proc p, space
		WHERE p.pronamespace = space.id
		UNION ALL
		SELECT 'type', t.typname, obj_description(t.oid, 'pg_type') FROM pg_type t, space
		WHERE t.typnamespace = space.id AND t.typtype IN ('d', 'e', 'r')
		UNION ALL
		SELECT 'trigger', g.tgname, obj_description(g.oid, 'pg_trigger') FROM pg_trigger g
		JOIN pg_class c ON c.oid = g.tgrelid, space WHERE c.relnamespace = space.id AND NOT g.tgisinternal
		UNION ALL
		SELECT 'role', r.rolname, shobj_description(r.oid, 'pg_authid') FROM pg_roles r WHERE r.rolname LIKE 'urlmode%'`);

	assert.ok(objects.length > 40);
	assert.deepEqual(objects.filter(({ comment }) => !comment?.trim()), []);
	assert.equal(objects.filter(({ kind }) => kind === 'role').length, 4);
});

test('the cluster is its own, durable, and reached from here alone', async () => {
	const settings = Object.fromEntries((await sql('SELECT name, setting FROM pg_settings'))
		.map(({ name, setting }) => [name, setting]));
	const { runDir } = fixture.stack;

	for (const [name, setting] of Object.entries({
		fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on', listen_addresses: '127.0.0.1',
		data_directory: path.join(runDir, 'pg'), password_encryption: 'scram-sha-256',
	})) {
		assert.equal(settings[name], setting, name);
	}
	const version = execFileSync('sh', ['-c',
		'. tests/stack/versions; exec "${POSTGRES_BIN:-/usr/lib/postgresql/$postgresql/bin}/postgres" --version'], { cwd: ROOT, encoding: 'utf8' });
	assert.equal(version, `postgres (PostgreSQL) ${settings.server_version}\n`);
	const rules = await sql("SELECT DISTINCT auth_method FROM pg_hba_file_rules");
	assert.deepEqual(rules, [{ auth_method: 'scram-sha-256' }]);
	const sockets = (await readdir(path.join(runDir, 'pg'))).filter((name) => name.startsWith('.s.PGSQL'));
	assert.ok(sockets.includes(`.s.PGSQL.${settings.port}`));
	for (const role of ['urlmode_cgi', 'urlmode_server', 'postgres']) {
		const url = new URL(fixture.stack.env.URLMODE_ADMIN_DATABASE_URL);
		[url.username, url.password] = [role, 'guessed'];
		await assert.rejects(connectTo(url.href), { code: '28P01' });
	}
});

describe('what the roles may do', () => {
	/** Tells of each statement how PostgreSQL answers it: an SQLSTATE, or undefined. */
	async function codes(client, statements) {
		const found = [];
		for (const [statement, values] of statements.map((one) => [one].flat(1))) {
			const code = await client.query(statement, values).then(() => undefined, (error) => error.code);
			found.push([statement, code]);
		}
		return found;
	}

	const alike = (statements, code) => statements.map((statement) => [[statement].flat(1)[0], code]);

	for (const role of ['urlmode_cgi', 'urlmode_server']) {
		test(`${role} reads, lists and writes no table`, async () => {
			const client = await connectAs(role);
			const tables = await sql(`
				SELECT oid::regclass::text AS name, attname AS column FROM pg_class JOIN pg_attribute ON attrelid = oid AND attnum = 1
				WHERE relnamespace IN ('urlmode'::regnamespace, 'urlmode_frameworks'::regnamespace) AND relkind IN ('r', 'v')`);
			const sequences = await sql(`
				SELECT oid::regclass::text AS name FROM pg_class WHERE relnamespace IN ('urlmode'::regnamespace, 'urlmode_frameworks'::regnamespace) AND relkind = 'S'`);
			const statements = tables.flatMap(({ name, column }) => [
				`SELECT FROM ${name}`, `SELECT count(*) FROM ${name}`, `SELECT ${column} FROM ${name}`,
				`INSERT INTO ${name} DEFAULT VALUES`, `UPDATE ${name} SET ${column} = DEFAULT`, `DELETE FROM ${name}`,
				`TRUNCATE ${name}`, `COPY ${name} TO STDOUT`, `DO $$ BEGIN LOCK ${name} IN ACCESS SHARE MODE; END $$`,
				`ALTER TABLE ${name} RENAME TO mine`, `DROP TABLE ${name}`,
			]).concat(sequences.flatMap(({ name }) => [`SELECT nextval('${name}')`, `SELECT last_value FROM ${name}`]));

			assert.ok(tables.some(({ name }) => name === 'urlmode.elicitation'));
			assert.deepEqual(await codes(client, statements), alike(statements, DENIED));
		});

		test(`${role} does not become another, and makes nothing`, async () => {
			const client = await connectAs(role);
			const statements = [
				'SET ROLE urlmode_owner', 'SET ROLE postgres', 'SET ROLE pg_read_server_files',
				`SET ROLE ${role === 'urlmode_cgi' ? 'urlmode_server' : 'urlmode_cgi'}`, 'SET SESSION AUTHORIZATION postgres',
				`ALTER ROLE ${role} CREATEROLE`, 'CREATE ROLE mine', `GRANT urlmode_owner TO ${role}`,
				'CREATE TABLE urlmode.mine ()', 'CREATE TABLE public.mine ()', 'CREATE TEMP TABLE mine ()', 'CREATE SCHEMA mine',
				'CREATE FUNCTION urlmode.mine() RETURNS int LANGUAGE sql AS $$ SELECT 1 $$',
				"COPY (SELECT 1) TO PROGRAM 'true'", "COPY (SELECT 1) TO '/tmp/urlmode-test'",
				"SELECT pg_read_file('PG_VERSION')", "SELECT pg_ls_dir('.')", 'SELECT rolpassword FROM pg_authid',
				"ALTER SYSTEM SET fsync = off", 'SELECT pg_reload_conf()', "SELECT lo_create(0)",
			];

			assert.deepEqual(await codes(client, statements), alike(statements, DENIED));
			const [{ rows: [{ super: isSuper }] }] = [await client.query(`
				SELECT rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls AS super
				FROM pg_roles WHERE rolname = current_user`)];
			assert.equal(isSuper, false);
		});
	}

	test('urlmode_cgi neither creates nor reads results; it needs id, binding and provider for what it may', async () => {
		const client = await connectAs('urlmode_cgi');
		const browser = fixture.browser();
		const flow = await fixture.goOn(browser);
		await comeBack(browser, flow.returnTo({ code: 'a-secret-code' }));
		const binding = bindingOf(flow.owner.subject, flow.owner.session);
		const statements = [
			...(await sql(`
				SELECT p.oid::regprocedure::text AS name, pronargs FROM pg_proc p
				WHERE pronamespace = 'urlmode'::regnamespace
				AND proname IN ('create_elicitation', 'read', 'expire', 'resume', 'claim', 'abandon', 'purge_results', 'purge', 'mark_read')`))
				.map(({ name, pronargs }) => `SELECT ${name.split('(')[0]}(${Array(pronargs).fill('NULL').join(', ')})`),
		];

		assert.ok(statements.length >= 3);
		assert.deepEqual(await codes(client, statements), alike(statements, DENIED));
		const lookUp = async (id, bytes, provider) => (await client.query(
			'SELECT * FROM urlmode.look_up(ARRAY[$1::uuid], ARRAY[$2::bytea], ARRAY[$3])', [id, bytes, provider])).rows;
		const [found] = await lookUp(flow.id, binding, 'demo');
		assert.equal(found.outcome, 'completed');
		assert.ok(!Object.keys(found).some((name) => ['result', 'verifier', 'target_url'].includes(name)));
		for (const strange of [
			[null, null, null], [flow.id, null, 'demo'], [flow.id, Buffer.alloc(16), 'demo'], [flow.id, binding, null],
			[flow.id, binding, 'github'], ['00000000-0000-4000-8000-000000000000', binding, 'demo'],
		]) {
			assert.deepEqual((await lookUp(...strange)).map(({ outcome, subject, requester }) => [outcome, subject, requester]),
				[['unknown', null, null]]);
		}
	});

	test('urlmode_cgi asks whether the database is there and can be written, without writing to it', async () => {
		const client = await connectAs('urlmode_cgi');
		await client.query('BEGIN');
		assert.deepEqual((await client.query('SELECT urlmode.ping() AS there')).rows, [{ there: true }]);
		assert.deepEqual((await client.query('SELECT pg_current_xact_id_if_assigned() AS written')).rows, [{ written: null }]);
		await client.query('ROLLBACK');
		await client.query('BEGIN READ ONLY');
		await assert.rejects(client.query('SELECT urlmode.ping()'), { code: '25006' });
		await client.query('ROLLBACK');
	});

	test('urlmode_server reads what it can name, and opens nothing', async () => {
		const client = await connectAs('urlmode_server');
		const { id, owner } = await fixture.create();
		const read = async (ids, bindings) => (await client.query(
			'SELECT id FROM urlmode.read($1::uuid[], $2::bytea[])', [ids, bindings])).rows;

		assert.deepEqual(await read([id], [bindingOf(owner.subject, owner.session)]), [{ id }]);
		assert.deepEqual(await read([id], [bindingOf('mallory', '')]), []);
		assert.deepEqual(await read([id], [null]), []);
		assert.deepEqual(await read(null, null), []);
		const { rows } = await client.query(`
			SELECT proname FROM pg_proc WHERE pronamespace = 'urlmode'::regnamespace
			AND has_function_privilege('urlmode_server', oid, 'EXECUTE') AND proname IN ('open', 'look_up', 'notify')`);
		assert.deepEqual(rows, []);
	});

	test('urlmode_server reads without writing, a result as well', async () => {
		const client = await connectAs('urlmode_server');
		const { id, owner } = await fixture.create({ pkce: true });
		await fixture.urlmode.complete(id, { ...owner, action: 'accept', result: { code: 'c' } });
		const named = [[id], [bindingOf(owner.subject, owner.session)]];

		await client.query('BEGIN READ ONLY');
		const { rows: [row] } = await client.query(
			'SELECT status, result, verifier FROM urlmode.read($1::uuid[], $2::bytea[])', named);
		assert.deepEqual([row.status, Buffer.isBuffer(row.result), Buffer.isBuffer(row.verifier)], ['completed', true, true]);
		await assert.rejects(client.query('SELECT urlmode.mark_read($1::uuid[], $2::bytea[])', named), { code: '25006' });
		await client.query('ROLLBACK');
	});

	test('every function belongs to the owner who never logs in, fixes its search path, and is nobody else’s', async () => {
		const functions = await sql(`
			SELECT p.oid::regprocedure::text AS name, proowner::regrole::text AS owner, prosecdef AS definer,
				coalesce(proconfig::text, '') AS config, coalesce(proacl::text, '{=X}') AS acl
			FROM pg_proc p WHERE pronamespace IN ('urlmode'::regnamespace, 'urlmode_frameworks'::regnamespace)`);
		const [{ login }] = await sql("SELECT rolcanlogin AS login FROM pg_roles WHERE rolname = 'urlmode_owner'");

		assert.equal(login, false);
		assert.ok(functions.length >= 7);
		for (const { name, owner, definer, config, acl } of functions) {
			assert.equal(owner, 'urlmode_owner', name);
			assert.doesNotMatch(acl, /[{,]=/, `PUBLIC may not execute ${name}`);
			if (definer) {
				assert.match(config, /search_path=pg_catalog, pg_temp/, name);
			}
		}
	});
});

describe('a row', () => {
	test('is completed once, however many try at the same time', async () => {
		const { id, owner } = await fixture.create();
		const binding = bindingOf(owner.subject, owner.session);
		const clients = await Promise.all(Array.from({ length: 20 }, () => connectAs('urlmode_cgi')));
		const outcomes = await Promise.all(clients.map(async (client, index) => {
			const { rows } = await client.query(
				"SELECT outcome FROM urlmode.complete(ARRAY[$1::uuid], ARRAY[$2::bytea], ARRAY['demo'], ARRAY['accept'], ARRAY[''], ARRAY[$3::bytea])",
				[id, binding, Buffer.from([index])]);
			return rows[0].outcome;
		}));

		assert.deepEqual(outcomes.filter((outcome) => outcome !== 'already'), ['completed']);
		const { result } = await fixture.stack.elicitation(id);
		assert.equal(result[0], outcomes.indexOf('completed'));
	});

	test('is opened and completed by its user, whoever else comes with it in the same batch', async () => {
		const { id, owner } = await fixture.create();
		const cgi = await connectAs('urlmode_cgi');
		const users = ['eve', owner.subject, 'eve'];
		const links = await cgi.query(`SELECT outcome FROM urlmode.open_link(array_fill($1::uuid, '{3}'), array_fill('demo'::text, '{3}'),
			array_fill($2::bytea, '{3}'), $3)`, [id, Buffer.alloc(16, 7), users]);
		assert.deepEqual(links.rows.map(({ outcome }) => outcome), ['wrong_user', 'opened', 'wrong_user']);
		const returns = await cgi.query(`SELECT outcome FROM urlmode.complete(array_fill($1::uuid, '{3}'), array_fill($2::bytea, '{3}'),
			array_fill('demo'::text, '{3}'), array_fill('decline'::text, '{3}'), array_fill(''::text, '{3}'), array_fill(NULL::bytea, '{3}'), $3, NULL)`,
		[id, bindingOf(owner.subject, owner.session), users]);
		assert.deepEqual(returns.rows.map(({ outcome }) => outcome), ['wrong_user', 'completed', 'wrong_user']);
	});

	test('comes to the same alone and in a batch', async () => {
		const open = { status: 'pending', action: null, kind: 'oauth', closes: '5 minutes' };
		const ended = { ...open, status: 'completed', action: 'decline' };
		const call = { binding: bindingOf('alice', ''), provider: 'demo', action: 'accept', reason: 'r', subject: null };
		const cases = [
			['completed', open, call],
			['completed', { ...open, status: 'opened' }, call],
			['completed', open, { ...call, action: 'decline', subject: 'alice' }],
			['completed', { ...open, kind: 'payment' }, { ...call, action: 'decline' }],
			['unknown', { ...open, kind: 'payment' }, call],
			['unknown', open, { ...call, binding: bindingOf('mallory', '') }],
			['unknown', open, { ...call, binding: null }],
			['unknown', open, { ...call, provider: 'other' }],
			['unknown', open, { ...call, action: null }],
			['unknown', open, { ...call, reason: null }],
			['wrong_user', open, { ...call, subject: 'mallory' }],
			['already', ended, call],
			['wrong_user', ended, { ...call, subject: 'mallory' }],
			['expired', { ...open, closes: '-1 second' }, call],
			['completed', { ...open, status: 'processing' }, call],
			['processing', { ...open, kind: 'payment', status: 'processing' }, { ...call, action: 'decline' }],
		];
		const client = await connectAs('urlmode_cgi');
		const admin = await connectTo(fixture.stack.env.URLMODE_ADMIN_DATABASE_URL);
		let heard = [];
		admin.on('notification', ({ payload }) => heard.push(...[JSON.parse(payload)].flat()));
		await admin.query('LISTEN urlmode');

		/** Rows of the cases, completed in batches of a size: what they came to, without ids and times. */
		async function complete(size) {
			const ids = cases.map(() => randomUUID());
			heard = [];
			for (const [n, [, row]] of cases.entries()) {
				await sql(`
					INSERT INTO urlmode.elicitation (id, provider, kind, subject, binding, requester, target_url, expected, expires_at,
						status, action, completed_at)
					VALUES ($1, 'demo', $2, 'alice', $3, 'server', 'https://provider.example/', '"any"', now() + $4::interval,
						$5, $6::text, CASE WHEN $6::text IS NOT NULL THEN now() END)`,
				[ids[n], row.kind, call.binding, row.closes, row.status, row.action]);
			}
			const outcomes = [];
			for (let n = 0; n < cases.length; n += size) {
				const of = (field) => cases.slice(n, n + size).map(([, , asked]) => asked[field]);
				const bytes = of('reason').map(() => Buffer.from('sealed'));
				const { rows } = await client.query(`SELECT outcome FROM urlmode.complete($1::uuid[], $2::bytea[], $3::text[],
					$4::text[], $5::text[], $6::bytea[], $7::text[], $8::bytea[])`,
				[ids.slice(n, n + size), of('binding'), of('provider'), of('action'), of('reason'), bytes, of('subject'), bytes]);
				outcomes.push(...rows.map(({ outcome }) => outcome));
			}
			await admin.query('SELECT');
			const rows = await sql(`SELECT status, action, reason, result,
				(SELECT count(*)::integer FROM urlmode.purge_queue q WHERE e.id = ANY (q.ids)) AS queued
				FROM unnest($1::uuid[]) WITH ORDINALITY a (id, n) JOIN urlmode.elicitation e USING (id) ORDER BY n`, [ids]);
			const announced = heard.map(({ id, ...rest }) => JSON.stringify([ids.indexOf(id), rest])).sort();
			return { outcomes, rows, announced };
		}

		const alone = await complete(1);
		assert.deepEqual(alone.outcomes, cases.map(([outcome]) => outcome));
		assert.equal(alone.announced.length, 5);
		assert.deepEqual(await complete(2), alone);
		assert.deepEqual(await complete(cases.length), alone);

		const { id } = await fixture.create({ subject: 'alice' });
		const { rows } = await client.query(`SELECT outcome FROM urlmode.complete(ARRAY[$1::uuid], ARRAY[$2::bytea],
			'{demo}', '{accept}', '{r}', '{NULL}', subjects => '[0:0]={mallory}')`, [id, call.binding]);
		assert.deepEqual(rows, [{ outcome: 'wrong_user' }], 'whatever the bounds of the array');
	});

	test('only ever moves forward', async () => {
		const browser = fixture.browser();
		const flow = await fixture.goOn(browser);
		const { opened_at: openedAt } = await fixture.stack.elicitation(flow.id);
		await press(browser, flow.confirm, 'continue');
		assert.deepEqual((await fixture.stack.elicitation(flow.id)).opened_at, openedAt, 'opened once');
		await comeBack(browser, flow.returnTo({ code: 'c' }));
		const before = await fixture.row(flow.id);

		for (const answer of ['continue', 'refuse']) {
			await press(browser, flow.confirm, answer);
		}
		assert.equal(await fixture.urlmode.cancel(flow.id, flow.owner), false);
		assert.equal(await fixture.urlmode.complete(flow.id, { ...flow.owner, action: 'decline' }), false);
		assert.equal(await fixture.row(flow.id), before);
	});
});

test('each step is announced on channel urlmode: the id, the status, and what came back only sealed', async () => {
	const listener = await connectTo(fixture.stack.env.URLMODE_ADMIN_DATABASE_URL);
	const heard = [];
	listener.on('notification', ({ channel, payload }) => {
		const { outcome, ...rest } = JSON.parse(payload);
		assert.doesNotMatch(Buffer.from(outcome ?? '', 'base64').toString('latin1'), /secret|access_denied|accept/);
		heard.push([channel, { ...rest, sealed: outcome !== undefined }]);
	});
	await listener.query('LISTEN urlmode');
	const browser = fixture.browser();
	const [accepted, declined, cancelled] = [
		await fixture.goOn(browser), await fixture.goOn(browser), await fixture.create(),
	];
	const refused = await fixture.create();
	await comeBack(browser, accepted.returnTo({ code: 'a-secret-code' }));
	await comeBack(browser, accepted.returnTo({ code: 'again' }));
	await comeBack(browser, declined.returnTo({ error: 'access_denied' }));
	await press(browser, await browser.open(refused.url), 'refuse');
	await fixture.urlmode.cancel(cancelled.id, cancelled.owner);
	await fixture.urlmode.cancel(cancelled.id, cancelled.owner);

	const said = ({ id }, status, sealed = false) => ['urlmode', { id, status, sealed }];
	const expected = [
		said(accepted, 'opened'), said(declined, 'opened'), said(accepted, 'completed', true), said(declined, 'completed', true),
		said(refused, 'completed'), said(cancelled, 'completed'),
	];
	await until('all of it was heard', () => heard.length >= expected.length);
	await sql(`SELECT pg_notify('urlmode', '{"id":"the end"}')`);
	await until('the end was heard', () => heard.at(-1)[1].id === 'the end');
	assert.deepEqual(heard.slice(0, -1), expected);
});
