// Deployments on one cluster: each has logins of its own, and none of them can connect to the database
// of another one. A database whose logins another deployment has as well gets its own beside them.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import pg from 'pg';

import { openFixture } from '../support/fixture.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const DENIED = '42501'; // insufficient_privilege
const PASSWORD = 'of this test';
const LOGINS = ['cgi', 'server', 'operator'];
const MIGRATE = {
	'sql/migrate': [path.join(ROOT, 'sql/migrate')],
	'npx urlmode migrate': [process.execPath, path.join(ROOT, 'lib/node/bin/urlmode.mjs'), 'migrate'],
};

let fixture;
let sql;

before(async () => {
	fixture = await openFixture({ name: 'database-deployments', own: true });
	sql = (...args) => fixture.stack.sql(...args);
});

after(() => fixture?.close());

/** How a login, or the administrator, reaches a database of the cluster. */
function urlOf(database, login) {
	const url = Object.assign(new URL(fixture.stack.env.URLMODE_ADMIN_DATABASE_URL), { pathname: `/${database}` });
	return login ? Object.assign(url, { username: login, password: PASSWORD }).href : url.href;
}

async function withClient(database, login, use) {
	const client = new pg.Client({ connectionString: urlOf(database, login) });
	try {
		await client.connect();
		return await use(async (...args) => (await client.query(...args)).rows);
	} finally {
		await client.end().catch(() => {});
	}
}

const query = (database, text, login) => withClient(database, login, (ask) => ask(text));

function migrate(database, args, command = MIGRATE['sql/migrate']) {
	return new Promise((resolve) => {
		execFile(command[0], [...command.slice(1), ...args], { env: { ...process.env, URLMODE_ADMIN_DATABASE_URL: urlOf(database) } }, (error, stdout, stderr) => {
			resolve({ status: error?.code ?? 0, out: stdout, err: stderr });
		});
	});
}

const setPasswords = (prefix) => Promise.all(LOGINS.map((login) => sql(`ALTER ROLE ${prefix}_${login} PASSWORD '${PASSWORD}'`)));

/** Owners and rights of everything in a database, with the names of a prefix as another one's. */
async function rights(database, prefix) {
	const rows = await query(database, `
		SELECT oid::regprocedure::text AS name, proowner::regrole::text AS owner, array(SELECT a::text FROM unnest(proacl) a ORDER BY 1)::text AS acl
		FROM pg_proc WHERE pronamespace::regnamespace::text ~ '^urlmode'
		UNION ALL SELECT oid::regclass::text, relowner::regrole::text, relacl::text FROM pg_class WHERE relnamespace::regnamespace::text ~ '^urlmode'
		UNION ALL SELECT nspname, nspowner::regrole::text, array(SELECT a::text FROM unnest(nspacl) a ORDER BY 1)::text FROM pg_namespace WHERE nspname ~ '^urlmode'
		UNION ALL SELECT 'default', defaclrole::regrole::text, defaclacl::text FROM pg_default_acl
		UNION ALL SELECT 'database', '', array(SELECT a::text FROM unnest(datacl) a WHERE a::text ~ 'urlmode|^=' ORDER BY 1)::text FROM pg_database WHERE datname = current_database()
		UNION ALL SELECT 'settings', setrole::regrole::text, setconfig::text FROM pg_db_role_setting
			WHERE setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database())
		ORDER BY 1, 2, 3`);
	return generic(rows, new RegExp(`\\b${prefix}_(owner|cgi|server|operator)\\b`, 'g'));
}

/** Without the prefix in the names, and then in order. */
const generic = (rows, pattern) => JSON.parse(JSON.stringify(rows).replaceAll(pattern, '$1'))
	.map(({ name, owner, acl }) => [name, owner, acl?.replace(/^\{(.*)\}$/, (_, all) => all.split(',').sort().join())].join(' ')).sort();

/** The rights of a line in order, whatever its owner is called. */
const sorted = (line) => line.split(/[ ,]/).sort().join(' ');

/** A statement for each function of a database that a login may execute, and the login. */
const calls = (database) => query(database, `
	SELECT format('SELECT %s(%s)', p.oid::regproc, (SELECT string_agg('NULL::' || format_type(t, NULL), ', ' ORDER BY n) FROM unnest(p.proargtypes) WITH ORDINALITY AS a (t, n))) AS call,
		substring(pg_get_userbyid(a.grantee) FROM '[a-z]+$') AS login
	FROM pg_proc p, aclexplode(p.proacl) a WHERE p.pronamespace::regnamespace::text ~ '^urlmode' AND a.grantee <> p.proowner`);

const refused = (database, login, text = 'SELECT urlmode.ping()') => assert.rejects(query(database, text, login),
	({ code, message }) => code === DENIED && message === `permission denied for database "${database}"`, `${login}: ${text}`);

describe('two deployments', () => {
	before(async () => {
		await setPasswords('urlmode');
		for (const [name, command] of [['b', MIGRATE['sql/migrate']], ['c', MIGRATE['npx urlmode migrate']]]) {
			await sql(`CREATE DATABASE urlmode_${name}`);
			const { status, err } = await migrate(`urlmode_${name}`, ['--frameworks', '--deployment', name], command);
			assert.deepEqual([status, err], [0, '']);
			await setPasswords(`urlmode_${name}`);
		}
	});

	test('each function of b refuses the logins of the first one where they connect, and has its own', async () => {
		const all = await calls('urlmode_b');
		assert.ok(all.length > 150, `${all.length}`);
		for (const { call, login } of all) await refused('urlmode_b', `urlmode_${login}`, call);
		for (const login of LOGINS) {
			assert.equal((await query('urlmode_b', 'SELECT current_user', `urlmode_b_${login}`))[0].current_user, `urlmode_b_${login}`);
			for (const [database, other] of [['urlmode', 'urlmode_b'], ['urlmode', 'urlmode_c'], ['urlmode_c', 'urlmode_b'], ['urlmode_b', 'urlmode_c']]) {
				await refused(database, `${other}_${login}`);
			}
		}
		// Also for a login that an operator lets connect.
		const open = await query('urlmode_b', `SELECT p.oid::regprocedure::text FROM pg_proc p, pg_roles r
			WHERE p.pronamespace::regnamespace::text ~ '^urlmode' AND r.rolname ~ '^urlmode(_c)?_(owner|cgi|server|operator)$' AND has_function_privilege(r.oid, p.oid, 'EXECUTE')`);
		assert.deepEqual(open, []);
	});

	test('each has an owner of its own, and everything else as the first one has it', async () => {
		const first = await rights('urlmode', 'urlmode');
		assert.ok(first.length > 200);
		assert.deepEqual(await rights('urlmode_b', 'urlmode_b'), first);
		assert.deepEqual(await rights('urlmode_c', 'urlmode_c'), first);
	});

	test('npx urlmode check knows what a server of b needs', async () => {
		const check = (login) => new Promise((resolve) => {
			execFile(process.execPath, [path.join(ROOT, 'lib/node/bin/urlmode.mjs'), 'check'], { env: { ...process.env, ...fixture.stack.env, URLMODE_DATABASE_URL: urlOf('urlmode_b', login) } },
				(_, stdout) => resolve(stdout));
		});
		const out = await check('urlmode_b_server');
		assert.match(out, /^ok +schema /m);
		assert.doesNotMatch(out, /role/);
		assert.match(await check('urlmode_b_cgi'), /^error +role +no right to execute [^\n]*create_elicitation[^]*connect as urlmode_b_server, or as a member of it/m);
	});

	test('a later migrate knows whose database it is, and closes it again', async () => {
		await sql('CREATE ROLE of_operator LOGIN');
		const before = await rights('urlmode_b', 'urlmode_b');
		for (const command of Object.values(MIGRATE)) {
			await sql('GRANT CONNECT, TEMPORARY ON DATABASE urlmode_b TO PUBLIC; GRANT CONNECT ON DATABASE urlmode_b TO urlmode_cgi, urlmode_c_server, of_operator');
			assert.deepEqual(await migrate('urlmode_b', [], command), { status: 0, out: '', err: '' });
			await refused('urlmode_b', 'urlmode_cgi');
			await refused('urlmode_b', 'urlmode_c_server');
			assert.deepEqual(await rights('urlmode_b', 'urlmode_b'), before);
			assert.equal((await sql("SELECT has_database_privilege('of_operator', 'urlmode_b', 'CONNECT') AS can"))[0].can, true);
		}
	});

	for (const [index, [name, command]] of Object.entries(MIGRATE).entries()) {
		test(`${name} gives a restored database, which everybody may enter, to its logins alone, and says who had come in so`, async () => {
			const database = `restored_${index}`;
			await sql(`CREATE DATABASE ${database} TEMPLATE urlmode_b`);
			await sql(`CREATE ROLE monitor_${index} LOGIN PASSWORD '${PASSWORD}'`);
			await withClient(database, `monitor_${index}`, async () => {
				const { status, err } = await migrate(database, [], command);
				assert.deepEqual([status, err.match(/GRANT CONNECT ON DATABASE .*/)?.[0]], [0, `GRANT CONNECT ON DATABASE ${database} TO monitor_${index}`]);
			});
			await refused(database, `monitor_${index}`);
			await refused(database, 'urlmode_cgi');
			for (const login of LOGINS) assert.equal((await query(database, 'SELECT current_user', `urlmode_b_${login}`)).length, 1);
		});

		test(`${name} refuses a name that is none, and to revoke without one`, async () => {
			for (const [args, said] of [[['--deployment', 'B'], /name of 1 to 16 of a-z and 0-9/], [['--deployment', 'a_b'], /name of 1 to 16/], [['--deployment', '9'], /name of 1/],
				[['--deployment', 'abcdefghijklmnopq'], /name of 1 to 16/], [['--revoke-others'], /--revoke-others needs --deployment/]]) {
				const { status, err } = await migrate('urlmode_b', args, command);
				assert.notEqual(status, 0);
				assert.match(err, said);
			}
		});
	}
});

for (const [index, [name, command]] of Object.entries(MIGRATE).entries()) {
	test(`${name} gives a database of before logins of its own beside the old ones, and revokes those in a second command`, async () => {
		const [deployment, database] = [`t${index}`, `tenant_${index}`];
		await sql(`CREATE DATABASE ${database}`);
		assert.equal((await migrate(database, ['--frameworks'])).status, 0);
		await setPasswords('urlmode');
		// A list of names, and a text with a comma.
		await sql(`ALTER ROLE urlmode_server IN DATABASE ${database} SET search_path = public, pg_catalog; ALTER ROLE urlmode_server IN DATABASE ${database} SET my.own = 'a, b'`);
		const before = await rights(database, 'urlmode');

		assert.deepEqual(await migrate(database, ['--deployment', deployment], command), { status: 0, out: '', err: '' });
		await setPasswords(`urlmode_${deployment}`);
		const both = await calls(database);
		for (const login of LOGINS) {
			const grants = both.filter((each) => each.login === login).map(({ call }) => call).sort();
			assert.equal(new Set(grants).size * 2, grants.length, login);
		}
		const settings = await query(database, `SELECT current_setting('enable_seqscan') || current_setting('statement_timeout') AS has,
			current_schemas(false)::text AS schemas, current_setting('my.own') AS own`, `urlmode_${deployment}_server`);
		assert.deepEqual(settings, [{ has: 'off25s', schemas: '{public,pg_catalog}', own: 'a, b' }]);
		for (const prefix of ['urlmode', `urlmode_${deployment}`]) {
			assert.deepEqual(await query(database, `SELECT * FROM urlmode.changed_objects('${prefix}_cgi')`, `${prefix}_operator`), []);
		}
		const beside = await rights(database, 'urlmode');
		assert.deepEqual(await migrate(database, [], command), { status: 0, out: '', err: '' });
		assert.deepEqual(await rights(database, 'urlmode'), beside);

		await withClient(database, 'urlmode_server', async () => {
			const { status, err } = await migrate(database, ['--deployment', deployment, '--revoke-others'], command);
			assert.notEqual(status, 0);
			assert.match(err, new RegExp(`somebody is connected to this database as urlmode_server; nothing was changed[^]*urlmode_${deployment}_cgi and urlmode_${deployment}_server`));
			assert.deepEqual(await rights(database, 'urlmode'), beside);
		});
		assert.deepEqual(await migrate(database, ['--deployment', deployment, '--revoke-others'], command), { status: 0, out: '', err: '' });
		for (const { call, login } of both.slice(0, 30)) await refused(database, `urlmode_${login}`, call);
		for (const login of LOGINS) {
			await refused(database, `urlmode_${login}`);
			assert.equal((await query('urlmode', 'SELECT current_user', `urlmode_${login}`)).length, 1, 'the other database has them still');
		}
		// As a new one of this deployment, but for the owner, who stays.
		const after = await rights(database, `urlmode_${deployment}`);
		assert.ok(after.filter((line) => line.includes('urlmode_owner')).length > 200);
		assert.deepEqual(after.map((line) => sorted(line.replaceAll('urlmode_owner', 'owner'))).sort(), before.map(sorted).sort());
		assert.deepEqual(await query(database, `SELECT * FROM urlmode.changed_objects('urlmode_${deployment}_cgi')`, `urlmode_${deployment}_operator`), []);
		assert.deepEqual(await migrate(database, [], command), { status: 0, out: '', err: '' });
		assert.deepEqual(await rights(database, `urlmode_${deployment}`), after);
	});
}
