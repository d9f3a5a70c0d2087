// With the login of the callback programs in hand: an elicitation whose id one
// knows can be completed, and nothing else can be done in the database.
//
// Three things PostgreSQL lets every login do, whatever its rights: LISTEN,
// NOTIFY, and change its own password. What they are good for is tested too.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';

import pg from 'pg';

import { openFixture } from '../support/fixture.mjs';
import { bindingOf } from '../../lib/node/src/core/token.js';
import { comeBack } from '../support/flow.mjs';
import { until } from '../support/wait.mjs';

const DENIED = '42501'; // insufficient_privilege
const CHECK = '23514'; // check_violation
const SECRETS = ['a-target-that-is-secret', 'session-that-is-secret', 'user-that-is-secret'];

let fixture;
let thief;
let victim; // whose id is known, and who it belongs to
let binding;

before(async () => {
	fixture = await openFixture({ name: 'database' });
	const { database_url: connectionString } = JSON.parse(await readFile(fixture.stack.env.URLMODE_CONFIG, 'utf8'));
	thief = new pg.Client({ connectionString });
	await thief.connect();
	victim = await fixture.create({
		subject: SECRETS[2], session: SECRETS[1], targetUrl: `https://localhost/${SECRETS[0]}`, pkce: true,
	});
	binding = bindingOf(victim.owner.subject, victim.owner.session);
});

after(async () => {
	await thief?.end();
	await fixture?.close();
});

/** Runs a statement, which must fail with this SQLSTATE and say nothing of any row. */
async function refused(text, code = DENIED, values = undefined) {
	const untouched = await fixture.row(victim.id);
	const error = await thief.query(text, values).then(
		() => assert.fail(`${text} was carried out`), (reason) => reason);

	assert.equal(error.code, code, `${text}: ${error.message}`);
	const said = JSON.stringify(error, Object.getOwnPropertyNames(error));
	for (const secret of SECRETS) {
		assert.ok(!said.includes(secret), `${text} said ${secret}`);
	}
	assert.equal(await fixture.row(victim.id), untouched, 'the row is as it was');
	return error;
}

function all(statements, code) {
	for (const text of statements) {
		test(text.replace(/\s+/g, ' '), () => refused(text, code));
	}
}

test('the login is what the contract says: no attribute, no membership', async () => {
	const [role] = await fixture.stack.sql(`
		SELECT rolsuper, rolinherit, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls
		FROM pg_roles WHERE rolname = 'urlmode_cgi'`);
	const memberships = await fixture.stack.sql(`
		SELECT roleid::regrole AS of FROM pg_auth_members WHERE member = 'urlmode_cgi'::regrole`);

	assert.deepEqual(role, {
		rolsuper: false, rolinherit: true, rolcreaterole: false, rolcreatedb: false,
		rolreplication: false, rolbypassrls: false,
	});
	assert.deepEqual(memberships, []);
});

test('it may execute the functions of the programs, and hold no other right in the schema', async () => {
	const { rows: functions } = await thief.query(`
		SELECT proname FROM pg_proc WHERE pronamespace IN ('urlmode'::regnamespace, 'urlmode_frameworks'::regnamespace)
			AND has_function_privilege(oid, 'EXECUTE') ORDER BY proname`);
	const { rows: relations } = await thief.query(`
		SELECT relname FROM pg_class WHERE relnamespace IN ('urlmode'::regnamespace, 'urlmode_frameworks'::regnamespace) AND relkind IN ('r', 'v', 'm', 'S', 'p')
			AND (has_table_privilege(oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
				OR (relkind <> 'S' AND has_any_column_privilege(oid, 'SELECT, INSERT, UPDATE, REFERENCES')))`);

	assert.deepEqual(functions.map(({ proname }) => proname),
		['answer_form', 'answer_form_noted', 'assign_providers', 'beat', 'complete', 'gauges', 'held', 'leader', 'link_tenant', 'look_up', 'look_up_form', 'look_up_link', 'measure', 'open', 'open_form', 'open_link', 'ping', 'readings', 'receive_events', 'record_events', 'record_unreadable']);
	assert.deepEqual(relations, []);
});

describe('read and list', () => {
	all([
		'SELECT * FROM urlmode.elicitation',
		'SELECT id FROM urlmode.elicitation LIMIT 1',
		'SELECT count(*) FROM urlmode.elicitation',
		'SELECT xmin, ctid FROM urlmode.elicitation',
		'SELECT * FROM urlmode.event',
		'SELECT * FROM urlmode.purge_queue',
		'SELECT * FROM urlmode.purge_pass',
		'SELECT * FROM urlmode.migration',
		'TABLE urlmode.elicitation',
		'SELECT * FROM urlmode.elicitation TABLESAMPLE SYSTEM (100)',
		'COPY urlmode.elicitation TO STDOUT',
		'COPY (SELECT * FROM urlmode.elicitation) TO STDOUT',
		'SELECT * FROM urlmode.elicitation FOR SHARE',
		'DO $$BEGIN LOCK TABLE urlmode.elicitation IN ACCESS SHARE MODE; END$$',
		'EXPLAIN ANALYZE SELECT * FROM urlmode.elicitation',
		'ANALYZE urlmode.elicitation; SELECT * FROM urlmode.elicitation',
		'SELECT * FROM pg_statistic',
		'SELECT * FROM pg_authid',
		'SELECT * FROM pg_largeobject',
		"SELECT pg_read_file('postgresql.conf')",
		"SELECT pg_ls_dir('.')",
		"SELECT lo_import('/etc/passwd')",
		"COPY (SELECT 1) TO PROGRAM 'true'",
		"COPY (SELECT 1) TO '/tmp/urlmode-was-here'",
	]);

	test('statistics say nothing of what stands in the rows', async () => {
		await fixture.stack.sql('ANALYZE urlmode.elicitation');
		const { rows } = await thief.query("SELECT * FROM pg_stats WHERE schemaname = 'urlmode'");
		assert.deepEqual(rows, []);
	});

	test('other sessions show it no statement, and no parameter', async () => {
		const { rows } = await thief.query(`
			SELECT usename, query FROM pg_stat_activity WHERE usename <> 'urlmode_cgi' AND query <> ''`);
		for (const { query } of rows) {
			assert.equal(query, '<insufficient privilege>');
		}
		const { rows: own } = await thief.query("SELECT query FROM pg_stat_activity WHERE usename = 'urlmode_cgi'");
		assert.ok(!JSON.stringify(own).includes(victim.id));
	});
});

describe('create, change and delete', () => {
	all([
		'DELETE FROM urlmode.elicitation',
		'TRUNCATE urlmode.elicitation',
		"UPDATE urlmode.elicitation SET status = 'pending'",
		'INSERT INTO urlmode.elicitation DEFAULT VALUES',
		'INSERT INTO urlmode.event DEFAULT VALUES',
		'DELETE FROM urlmode.purge_queue',
		`MERGE INTO urlmode.elicitation e USING (SELECT 1) x ON true WHEN MATCHED THEN DELETE`,
		'CREATE TABLE urlmode.mine (a int)',
		'CREATE TABLE public.mine (a int)',
		'CREATE TEMPORARY TABLE mine (a int)',
		'CREATE SCHEMA mine',
		'CREATE VIEW public.mine AS SELECT 1',
		'CREATE FUNCTION public.mine() RETURNS int LANGUAGE sql AS $$SELECT 1$$',
		'CREATE FUNCTION urlmode.mine() RETURNS int LANGUAGE sql AS $$SELECT 1$$',
		`CREATE OR REPLACE FUNCTION urlmode.notify(notifications text[]) RETURNS void LANGUAGE sql AS $$$$`,
		'CREATE TYPE public.mine AS (a int)',
		'CREATE SEQUENCE public.mine',
		'CREATE EXTENSION hstore',
		'CREATE PUBLICATION mine',
		'CREATE DATABASE mine',
		'SELECT lo_create(0)',
		'SELECT lo_creat(-1)',
		"SELECT lo_from_bytea(0, 'x')",
		"SELECT pg_create_physical_replication_slot('mine')",
		"SELECT pg_create_restore_point('mine')",
	]);
});

describe('other functions of the schema', () => {
	all([
		"SELECT urlmode.notify(ARRAY['x'])",
		"SELECT urlmode.notification(gen_random_uuid(), 'completed')",
		"SELECT urlmode.create_elicitation(ARRAY[gen_random_uuid()], ARRAY['demo'], ARRAY['oauth'], ARRAY['s'], ARRAY[''], ARRAY['\\x00'::bytea], ARRAY['r'], ARRAY['u'], NULL, NULL, ARRAY[1])",
		"SELECT urlmode.resume(ARRAY['\\x00'::bytea], ARRAY['k'])",
		"SELECT * FROM urlmode.read(ARRAY[gen_random_uuid()], ARRAY['\\x00'::bytea])",
		"SELECT urlmode.mark_read(ARRAY[gen_random_uuid()], ARRAY['\\x00'::bytea])",
		'SELECT urlmode.purge_results()',
		'SELECT urlmode.purge()',
		"SELECT urlmode.purge_kind('oauth', now(), 1)",
		'SELECT urlmode.purge_stored(1)',
		'SELECT urlmode.is_purgeable(NULL, now())',
		"SELECT urlmode.expire(ARRAY[gen_random_uuid()], ARRAY['\\x00'::bytea])",
		"SELECT * FROM urlmode.decide_event('payment', 'pending', 'paid', NULL)",
		"SELECT urlmode.keep_events(ARRAY[gen_random_uuid()], ARRAY['demo'], ARRAY['e'], ARRAY['t'], ARRAY['paid'], ARRAY[1::bigint], ARRAY['EUR'], ARRAY['r'], ARRAY['r'], ARRAY['c'], ARRAY[NULL::bytea], ARRAY[NULL], ARRAY[NULL], ARRAY[NULL::jsonb])",
		"SELECT urlmode.keep_refunds(ARRAY[gen_random_uuid()], ARRAY['demo'], ARRAY['refunded'], ARRAY[1::bigint], ARRAY['EUR'], ARRAY['r'], ARRAY['r'], ARRAY[true], ARRAY[NULL::jsonb])",
		"SELECT urlmode.gone_back(NULL, 1)",
		"SELECT urlmode.rename_payment('demo', 'a', 'b')",
		"SELECT urlmode.make_room('\\x00')",
		"SELECT urlmode.claim_rank(NULL)",
		"SELECT urlmode.is_leased(gen_random_uuid(), '')",
		"SELECT urlmode.is_unclaimed(NULL)",
		"SELECT urlmode.awaits_claim(NULL)",
		"SELECT urlmode.find_claim(gen_random_uuid(), '\\x00', NULL, 'accept', true)",
		"SELECT urlmode.end_claim(gen_random_uuid(), '', 0)",
		"SELECT urlmode.claim(gen_random_uuid(), '\\x00')",
		"SELECT urlmode.begin_lease(gen_random_uuid(), '\\x00', NULL, 1000)",
		"SELECT urlmode.renew_lease(gen_random_uuid(), '\\x00', 1, 1000)",
		"SELECT urlmode.fulfil_lease(gen_random_uuid(), '\\x00', 1, 'x')",
		"SELECT * FROM urlmode.undelivered()",
		"SELECT urlmode.begin_claim(gen_random_uuid(), '\\x00', NULL, 1000)",
		"SELECT urlmode.renew_claim(gen_random_uuid(), '\\x00', 1, 1000)",
		"SELECT urlmode.fulfil_claim(gen_random_uuid(), '\\x00', 1, 'x')",
		"SELECT urlmode.confirm_claim(gen_random_uuid(), '\\x00', 1)",
		"SELECT urlmode.release_claim(gen_random_uuid(), '\\x00', 1)",
		"SELECT * FROM urlmode.refunds()",
		"SELECT * FROM urlmode.show_refunds(gen_random_uuid())",
		"SELECT * FROM urlmode.show_decisions(gen_random_uuid())",
		'SELECT * FROM urlmode.show_key(1, now())',
		"SELECT urlmode.decide_payment('demo', 'r', 'released', 'cgi')",
		"SELECT urlmode.is_under_way(gen_random_uuid())",
		"SELECT urlmode.prove_payments(ARRAY[gen_random_uuid()], ARRAY['demo'], ARRAY['r'], ARRAY[1::bigint], ARRAY['EUR'], ARRAY[true], ARRAY[false], ARRAY[NULL::bytea])",
		'SELECT urlmode.transitions()',
		'SELECT urlmode.transitions_by_key()',
		"SELECT urlmode.transition('oauth', 'opened', false, 'return accept')",
		"SELECT urlmode.next('oauth', 'opened', false, 'return accept')",
		"SELECT urlmode.move_rows(ARRAY[gen_random_uuid()], ARRAY['{}'::jsonb])",
		'SELECT urlmode.take_back(ARRAY[gen_random_uuid()], true)',
		"SELECT urlmode.is_completable(NULL, 'accept', '', NULL, NULL)",
		"SELECT urlmode.effective_status(NULL)",
		"SELECT urlmode.awaits_late_payment(NULL)",
		"SELECT urlmode.apply_events(ARRAY[gen_random_uuid()], ARRAY['accept'], ARRAY['{}'::jsonb], ARRAY['t'], ARRAY['r'], ARRAY[false], ARRAY[NULL::bytea], ARRAY[NULL::bytea])",
		"SELECT urlmode.apply_refunds(ARRAY[gen_random_uuid()])",
		"SELECT urlmode.closes_at('oauth', 'opened', now(), '1 day')",
		'SELECT urlmode.end_due_checks()',
		"SELECT urlmode.take_check(gen_random_uuid(), '')",
		"SELECT urlmode.end_check(gen_random_uuid(), '', 1)",
	]);
});

describe('escalate', () => {
	all([
		'SET ROLE urlmode_owner',
		'SET ROLE urlmode_server',
		'SET ROLE postgres',
		'SET SESSION AUTHORIZATION urlmode_owner',
		'ALTER ROLE urlmode_cgi SUPERUSER',
		'ALTER ROLE urlmode_cgi CREATEROLE',
		"ALTER ROLE urlmode_server PASSWORD 'mine'",
		'GRANT urlmode_owner TO urlmode_cgi',
		'CREATE ROLE mine LOGIN',
		'DROP ROLE urlmode_server',
		'ALTER TABLE urlmode.elicitation OWNER TO urlmode_cgi',
		'ALTER FUNCTION urlmode.read(uuid[], bytea[]) OWNER TO urlmode_cgi',
		'ALTER FUNCTION urlmode.complete(uuid[], bytea[], text[], text[], text[], bytea[], text[], bytea[], text[]) RESET search_path',
		'DROP FUNCTION urlmode.notify(text[])',
		'ALTER DOMAIN urlmode.reason DROP CONSTRAINT reason_check',
		'DROP SCHEMA urlmode CASCADE',
		'ALTER DATABASE urlmode SET search_path = mine',
		"ALTER SYSTEM SET log_statement TO 'all'",
		"LOAD '/tmp/mine.so'",
		'SET log_statement = none',
		"SELECT set_config('session_replication_role', 'replica', false)",
		'SELECT pg_reload_conf()',
		"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'postgres'",
	]);

	test('GRANT on what it may execute: a warning, and nobody gets anything', async () => {
		await thief.query('GRANT EXECUTE ON FUNCTION urlmode.measure() TO PUBLIC');
		const [{ granted }] = await fixture.stack.sql(
			"SELECT has_function_privilege('public', 'urlmode.measure()', 'EXECUTE') AS granted");
		assert.equal(granted, false);
	});

	test('a search path of its own leads no function elsewhere', async () => {
		const { rows } = await thief.query(`
			SELECT p.proname FROM pg_proc p
			WHERE p.pronamespace IN ('urlmode'::regnamespace, 'urlmode_frameworks'::regnamespace) AND p.prosecdef
				AND NOT coalesce('search_path=pg_catalog, pg_temp' = ANY (p.proconfig), false)`);
		assert.deepEqual(rows, []);
	});
});

describe('read through what is said of an error', () => {
	const complete = (action, reason, result) => [
		`SELECT outcome FROM urlmode.complete(ARRAY[$1::uuid], ARRAY[$2::bytea], ARRAY['demo'],
			ARRAY[$3::text], ARRAY[$4::text], ARRAY[$5::bytea])`,
		[victim.id, binding, action, reason, result],
	];
	const event = (type, ref, result) => [
		`SELECT outcome FROM urlmode.record_events(ARRAY[$1::uuid], ARRAY['demo'], ARRAY['an-event'], ARRAY[$2::text],
			ARRAY['recheck'], ARRAY[NULL::bigint], ARRAY[NULL], ARRAY[$3::text], ARRAY[$4::bytea])`,
		[victim.id, type, ref, result],
	];

	for (const [name, make, code = CHECK] of [
		['an action that is none', () => complete('grab', '', null)],
		['a reason that is none', () => complete('accept', 'Not A Code', null)],
		['a result that is too long', () => complete('accept', '', Buffer.alloc(65_537))],
		['a type that is too long', () => event('t'.repeat(513), 'r', null)],
		['a reference that is too long', () => event('t', 'r'.repeat(801), null)],
		['a type that is none', () => event(null, 'r', null), '23502'],
	]) {
		test(`${name}: refused, and nothing of the row in the error`, async () => {
			const [text, values] = make();
			const error = await refused(text, code, values);
			assert.ok(!JSON.stringify(error).includes(binding.toString('hex')));
		});
	}

	test('a browser that is none: refused likewise', async () => {
		const open = `SELECT outcome FROM urlmode.open(ARRAY[$1::uuid], ARRAY[$2::bytea], ARRAY['demo'], ARRAY[$3::bytea])`;
		await refused(open, CHECK, [victim.id, binding, Buffer.alloc(15)]);
	});

	test('no action, or no reason, is nothing to complete with', async () => {
		for (const [action, reason] of [[null, ''], ['accept', null]]) {
			const { rows } = await thief.query(...complete(action, reason, null));
			assert.deepEqual(rows, [{ outcome: 'unknown' }]);
		}
		assert.equal((await fixture.stack.elicitation(victim.id)).status, 'pending');
	});
});

describe('what a stolen login can still do', () => {
	test('LISTEN, which PostgreSQL lets nobody be denied: ids and statuses are heard, and nothing else', async () => {
		const heard = [];
		thief.on('notification', ({ channel, payload }) => heard.push([channel, JSON.parse(payload)]));
		await thief.query('LISTEN urlmode');
		const { id } = await fixture.goOn(fixture.browser());
		await thief.query('SELECT 1');
		await thief.query('UNLISTEN *');

		assert.ok(heard.some(([, said]) => said.id === id));
		for (const [channel, said] of heard) {
			assert.equal(channel, 'urlmode');
			assert.deepEqual(Object.keys(said).sort(), ['id', 'status']);
		}
	});

	test('NOTIFY wakes who waits, who reads the row and sleeps on: the row is the truth', async () => {
		const heard = [];
		thief.on('notification', ({ payload }) => heard.push(JSON.parse(payload)));
		await thief.query('LISTEN urlmode');
		const browser = fixture.browser();
		await comeBack(browser, (await fixture.goOn(browser)).returnTo({ code: 'a' }));
		await until('an outcome is heard', async () => {
			await thief.query('SELECT 1');
			return heard.some(({ outcome }) => outcome);
		});
		await thief.query('UNLISTEN *');
		const { outcome } = heard.find((each) => each.outcome);
		const { id, owner } = await fixture.create();
		const controller = new AbortController();
		const wait = fixture.urlmode.waitForCompletion(id, { ...owner, signal: controller.signal });
		await thief.query(`NOTIFY urlmode, '{"id":"${id}","status":"completed"}'`);
		// Somebody else's, with which this wait would end.
		await thief.query(`NOTIFY urlmode, '{"id":"${id}","status":"completed","outcome":"${outcome}"}'`);
		await thief.query("NOTIFY urlmode, 'no JSON at all'");
		assert.equal((await fixture.stack.elicitation(id)).status, 'pending');
		controller.abort(new Error('still waiting'));
		await assert.rejects(wait, /still waiting/);
	});

	test('a guessed id, or the id with another binding, finds nothing', async () => {
		const call = async (id, with_) => (await thief.query(
			`SELECT outcome, subject FROM urlmode.look_up(ARRAY[$1::uuid], ARRAY[$2::bytea], ARRAY['demo'])`,
			[id, with_])).rows[0];
		const strange = 'b3b7c1d2-0000-4000-8000-000000000000';

		assert.deepEqual(await call(strange, binding), { outcome: 'unknown', subject: null });
		assert.deepEqual(await call(victim.id, Buffer.alloc(16)), { outcome: 'unknown', subject: null });
	});

	test('an elicitation whose id is known can be completed: the price of the login', async () => {
		const { rows: [{ outcome }] } = await thief.query(
			`SELECT outcome FROM urlmode.complete(ARRAY[$1::uuid], ARRAY[$2::bytea], ARRAY['demo'],
				ARRAY['decline'], ARRAY['access_denied'], ARRAY[NULL::bytea])`, [victim.id, binding]);
		assert.equal(outcome, 'completed');
	});

	test('but a result that it puts there is not sealed with the keys: the SDK refuses it', async () => {
		const { id, owner, provider } = await fixture.create();
		const forged = Buffer.concat([Buffer.of(1, 1), Buffer.alloc(12), Buffer.from('{"code":"forged"}'), Buffer.alloc(16)]);
		await thief.query(
			`SELECT urlmode.complete(ARRAY[$1::uuid], ARRAY[$2::bytea], ARRAY[$3], ARRAY['accept'], ARRAY[''], ARRAY[$4::bytea])`,
			[id, bindingOf(owner.subject, owner.session), provider, forged]);
		await assert.rejects(fixture.urlmode.waitForCompletion(id, owner), { code: 'ELICITATION_SEAL' });
	});
});
