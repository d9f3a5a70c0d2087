// No function of the database tells one tenant that another's row exists: each answers about it as about a row that does not
// exist, and leaves it as it is. A function without a place in these tables fails the test. What reaches them is in
// ../e2e/tenants.test.mjs.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import pg from 'pg';

import { useStack } from '../support/stack.mjs';
import { SqlFiles } from './files.mjs';

const [TOKENS, OTHER_TOKENS] = ['a', 'b'].map((letter) => `test.sealed(repeat('${letter}', 30))`);

/**
 * By id and binding. ID, IDS, OWNER and OWNERS are the row and whose binding comes; FENCE is that of the claim of the row. As
 * acme each does something with one of the rows.
 */
const BY_BINDING = {
	abandon: "IDS, OWNERS, '{cancel}', '{timeout}'",
	answer_form: "IDS, OWNERS, '{shop}', '{input}', ARRAY[test.digest('browser')], '{ann}', '{false}', '{accept}', '{\"\"}', ARRAY['\\x01'::bytea], ARRAY[NULL::bytea], ARRAY['\\x01'::bytea]",
	answer_form_noted: "IDS, OWNERS, '{shop}', '{input}', ARRAY[test.digest('browser')], '{ann}', '{false}', '{accept}', '{\"\"}', ARRAY['\\x01'::bytea], ARRAY[NULL::bytea], ARRAY['\\x01'::bytea], ARRAY['x']",
	answer_recheck: "ID, OWNER, 1, 1, '[{\"reference\": \"new\", \"amount\": 1000, \"currency\": \"EUR\", \"status\": \"paid\", \"result\": \"eA==\"}]', '[]'",
	answer_task_input: "ID, OWNER, 1, 'k', '\\x01'",
	begin_ask: "ID, OWNER, test.digest('client'), true",
	begin_claim: 'ID, OWNER, NULL, 60000, 60000',
	begin_lease: 'ID, OWNER, NULL, 60000, 60000, NULL, true, NULL',
	begin_recheck: 'ID, OWNER, 60000, 0',
	begin_task: 'ID, OWNER, 60000, 0',
	cancel_task: 'ID, OWNER',
	claim: "ID, OWNER, NULL, 60000, 'accept', false",
	claim_at_once: "ID, OWNER, NULL, 60000, 'accept', false, NULL",
	claim_outcome: "ID, OWNER, NULL, 60000, 'accept', false, NULL",
	complete: "IDS, OWNERS, '{shop}', '{accept}', '{\"\"}', ARRAY['\\x01'::bytea], ARRAY[NULL], ARRAY[NULL::bytea], '{oauth}'",
	confirm_claim: 'ID, OWNER, FENCE, 60000',
	confirm_task: 'ID, OWNER, 60000',
	continue_lease: 'ID, OWNER, FENCE, 60000',
	continue_task: "ID, OWNER, 1, test.id(1), '\\x01'",
	create_task: "test.id(900), OWNER, ID, '\\x01'",
	end_ask: "ID, OWNER, test.digest('client'), 'declined'",
	end_check: 'ID, OWNER, 1, NULL, false, NULL',
	end_exchange: "ID, OWNER, ''",
	end_recheck: 'ID, OWNER, 1, 1, false',
	end_task: "ID, OWNER, 1, '\\x01', '{}', '{}', 60000",
	expire: 'IDS, OWNERS',
	find_created: 'IDS, OWNERS',
	fulfil_claim: "ID, OWNER, FENCE, '\\x01'",
	fulfil_lease: "ID, OWNER, FENCE, '\\x01', NULL, NULL, 60000",
	look_up: "IDS, OWNERS, '{shop}'",
	look_up_form: "IDS, OWNERS, '{shop}', '{input}', '{ann}', '{false}'",
	mark_read: 'IDS, OWNERS, 60000',
	mark_shown: 'IDS, OWNERS, 60000',
	open: "IDS, OWNERS, '{shop}', ARRAY[test.digest('another')]",
	read: 'IDS, OWNERS',
	read_exchange: 'ID, OWNER',
	read_paid: 'IDS, OWNERS',
	read_task: 'ID, OWNER',
	read_waiting: 'IDS, OWNERS',
	release_claim: 'ID, OWNER, FENCE',
	release_unsent: 'ID, OWNER, test.id(77)',
	renew_claim: 'ID, OWNER, FENCE, 60000',
	renew_lease: 'ID, OWNER, FENCE, 60000',
	resume: "OWNERS, '{k}', ARRAY[NULL::boolean]",
	resume_for: "OWNERS, '{shop}', '{payment}', '{k}', ARRAY[NULL::boolean], ARRAY[NULL::bytea], '{report}', ARRAY['{\"amount\": 1000, \"currency\": \"EUR\"}'::jsonb]",
	settle: "ID, OWNER, 'accept', '', '\\x01', 1000, 'EUR', 'settled'",
	store_exchanged: `ID, OWNER, 'a', '{}', '{}', ${TOKENS}, NULL, NULL`,
	take_check: 'ID, OWNER',
	take_recheck: 'ID, OWNER, 60000',
};

/** By the name of a tenant, T, in which the other has nothing. LEASE is that of acme's consumer. */
const BY_TENANT = {
	acknowledge_ledger: "'books', LEASE, 1, 60000, T",
	begin_ledger: "'books', 60000, T",
	begin_recheck_of: "T, '[\"shop\"]', 60000",
	delivered: "'ann', 'got', NULL, T",
	end_ledger: "'books', LEASE, T",
	entitlements: "T, 'ann', NULL",
	export_user: "T, 'ann', 'operator', ''",
	forget_owner: "T, 'ann'",
	forget_user: "T, 'ann', 'operator', ''",
	list_audit: "T, 'erin', 10",
	list_waiting: "'unclaimed', NULL, T, NULL, NULL, NULL, 10",
	page_of_entitlements: "T, 'ann', NULL, NULL, 10",
	page_of_entitlements_since: "T, 'ann', NULL, NULL, NULL, 10",
	page_of_ledger: "T, 'books', LEASE, 0, 60000, 10",
	page_of_ledger_since: "T, 'books', LEASE, 0, NULL, 60000, 10",
	page_of_paid: "T, 'ann', 'paper', NULL, false, NULL, 10",
	page_of_refunds: 'T, NULL, NULL, NULL, 10',
	page_of_unclaimed: 'T, NULL, NULL, NULL, 10',
	paid: "'ann', 'paper', NULL, T",
	read_ledger: "'books', LEASE, 10, T",
	reconcile: "'shop', now() - interval '1 hour', now() + interval '1 hour', '[]', '[]', T",
	refunds_of: 'T, NULL, NULL, NULL',
	refunds_with_item: 'T, NULL, NULL, NULL',
	tenant_events: 'T, NULL, NULL, false, 10',
	tenant_unclaimed: 'T, NULL, NULL, 10',
	tenant_undelivered: 'T, NULL, NULL, 10',
	tenant_unknown: 'T, NULL, NULL, 10',
	unclaimed_of: 'T, NULL, NULL, NULL',
	undelivered_of: 'T, NULL, NULL, NULL',
	user_rows: "T, 'ann'",
	vault_keys_of: 'T',
};

/** By the owner of an account, O, which has the tenant's name in it. VERSION and HOLDS are those of acme's account. */
const BY_ACCOUNT = {
	begin_disconnect: "O, 'shop', 'main', 60000, NULL",
	begin_lease_of: "O, 'shop', 'main', VERSION, 60000, NULL, false",
	begin_refresh: "O, 'shop', 'main', VERSION, 60000",
	commit_refresh: `O, 'shop', 'main', VERSION, '{}', ${OTHER_TOKENS}, NULL`,
	delete_account: "O, 'shop', 'main', VERSION",
	end_refresh: "O, 'shop', 'leased', VERSION, HOLDS, 'invalid_grant', NULL, NULL",
	fail_refresh: "O, 'shop', 'leased', VERSION, HOLDS, 'invalid_grant', false, false",
	find_accounts: "O, 'shop', NULL",
	list_accounts: 'O, NULL, NULL',
	mark_sending: "O, 'shop', 'leased', HOLDS, 60000, false, NULL",
	mark_sent: "O, 'shop', 'leased', HOLDS, 60000, false",
	read_accounts: "O, 'shop', NULL",
	reseal_account: `O, 'shop', 'main', ${TOKENS}, ${OTHER_TOKENS}`,
	store_refreshed: `O, 'shop', 'leased', VERSION, HOLDS, true, '{}', ${OTHER_TOKENS}, NULL`,
};

/** Of the empty tenant, which is another one. */
const OF_NONE = {
	begin_due_recheck: "'[\"shop\"]', 60000",
	forget_subject: "'ann'",
	refunds: 'NULL, NULL, NULL',
	unclaimed: 'NULL, NULL, NULL',
	unclaimed_payments: 'NULL, NULL, NULL',
	undelivered: 'NULL, NULL, NULL',
	undelivered_claims: 'NULL, NULL, NULL',
};

/** Why the others take nothing by which a tenant could ask for another's row. */
const OTHERS = {
	'makes what is its own; of an id that is used it says so, as the constraint of any table': ['create_elicitation', 'store_account'],
	'the id is that of a link, which a program has opened with its keys': ['link_tenant', 'look_up_link', 'open_form', 'open_link'],
	'a provider has signed it; tenants.sql has what an entry that names a tenant refuses': ['assign_providers', 'receive_events', 'record_events', 'record_unreadable'],
	'of the deployment: a program asks it of itself, and no caller hears of it': [
		'beat', 'functions_version', 'gauges', 'held', 'hold', 'leader', 'list_migrations', 'list_sealed', 'measure', 'migration_digests', 'ping', 'purge', 'purge_results',
		'readings', 'vault_keys',
	],
	'of the operator, who has all tenants': [
		'begin_walk', 'changed_objects', 'count_ended', 'count_events', 'count_refusals', 'counted_until', 'decide_payment', 'decide_shown', 'end_walk', 'find_elicitations',
		'known_elicitations', 'known_providers', 'list_checks', 'list_events', 'list_hosts', 'list_paid', 'list_unclaimed', 'list_undelivered', 'list_unknown', 'list_unreadable',
		'minted_kids', 'read_walk', 'reconcile_refunds', 'record_check', 'refund_payment', 'show_asks', 'show_decisions', 'show_elicitation', 'show_ends', 'show_events',
		'show_item', 'show_key', 'show_payments', 'show_provider', 'show_refunds', 'show_state', 'show_subscriptions', 'show_timeline', 'tenant_of', 'waiting',
	],
};

/** What acme has. */
const ROWS = [
	"make(1, key => 'k', item => 'report')",
	"make(2, 'oauth'), open(2)",
	"make(3, item => 'paper'), pay(3, 'p3'), event(3, 'recheck')",
	"make(4), pay(4, 'p4')",
	"make(5), pay(5, 'p5')",
	"make(6, 'input', verify => '1 min'), open_form(6), answer(6)",
	"make(7), event(7, 'recheck')",
	"make(8, 'oauth'), complete(8, 'accept', '')",
	"make(9, ttl => '-1 hour')",
	"make(10, 'input', verify => '1 min'), open_form(10)",
	"make(11), pay(11, 'p11'), back(11, '1.00 EUR', 'p11', 'r11')",
	"make(12, 'input', verify => '1 min'), open_form(12), answer(12), take_check(12)",
	"make(13, rechecks => true), event(13, 'recheck'), take_recheck(13)",
	"make(14, 'oauth'), complete(14, 'accept', ''), begins('c14', 14, claim => 77)",
	"make(16, item => 'got'), pay(16, 'p16'), claim(16)",
	"make(15, 'oauth', subject => 'erin')",
	'task(101, 1)',
	'task(102, 3), task_begin(102)',
	"task(103, 11), task_begin(103), task_end(103, 1)",
	'task(104, 7)',
	"pay(50, 'p50')",
];
const NUMBERS = [...Array.from({ length: 16 }, (_, n) => n + 1), 101, 102, 103, 104];
const NOBODY = 999;

let stack;
let files;
let client;
let tables;

const sql = async (text) => (await client.query(text)).rows;

/** All of what there is, line by line. Numbers and times of the clock are later in each call. */
async function dump() {
	const [{ all }] = await sql(`SELECT concat_ws(E'\\n', ${tables.map((table) => `(SELECT string_agg('${table} ' || t::text, E'\\n' ORDER BY t::text) FROM urlmode.${table} t)`).join()}) AS all`);
	return all.split('\n');
}

const withoutClock = (text) => text.replaceAll(/\d{13,}/g, 'N').replaceAll(/\d{4}-\d\d-\d\d[ T][\d:.]+/g, 'TIME');

/** What a call answers, and what it changes; nothing of it stays. */
async function outcomeOf(name, values) {
	await sql('SAVEPOINT call');
	try {
		const was = await dump();
		const answer = await sql(`SELECT * FROM urlmode.${name}(${values})`);
		const there = await dump();
		const had = new Set(was);
		const has = new Set(there);
		const changes = [...was.filter((line) => !has.has(line)).map((line) => `- ${line}`), ...there.filter((line) => !had.has(line)).map((line) => `+ ${line}`)];
		return withoutClock(JSON.stringify([answer, changes]));
	} catch (error) {
		if (error.code === undefined) throw error;
		return `SQLSTATE ${error.code}`;
	} finally {
		await sql('ROLLBACK TO call');
	}
}

before(async () => {
	stack = await useStack({ name: 'foreign' });
	files = await SqlFiles.open(stack.env.URLMODE_ADMIN_DATABASE_URL);
	client = new pg.Client({ connectionString: files.url, options: '-c search_path=test,pg_catalog' });
	await client.connect();
	tables = (await sql("SELECT relname FROM pg_class WHERE relnamespace = 'urlmode'::regnamespace AND relkind = 'r' ORDER BY relname")).map(({ relname }) => relname);
	await sql('BEGIN');
	for (const calls of ROWS) {
		const [made, ...then] = calls.split(/, (?=\w+\(\d+)/);
		await sql(`SELECT ${made}`);
		await sql("UPDATE urlmode.elicitation SET tenant = 'acme' WHERE tenant = ''");
		for (const call of then) await sql(`SELECT ${call}`);
	}
	await sql("UPDATE urlmode.unknown_event SET tenant = 'acme'");
	await sql("INSERT INTO urlmode.entitlement (provider, subscription, tenant, subject, item, opened_at, status) VALUES ('shop', 's', 'acme', 'ann', 'pro', now(), 'active')");
	await sql("SELECT urlmode.export_user('acme', 'erin', 'operator', '')");
	await sql("SELECT outcome FROM begins('c4', 4)");
	await sql("SELECT outcome FROM begins('c5', 5)");
	await sql("SELECT fulfils('c5', 5)");
	await sql("SELECT follow('a', lease => '1 day', tenant => 'acme')");
	await sql(`SELECT urlmode.store_account('acme\u001fann', 'shop', a, '{}', '{}', ${TOKENS}, NULL, NULL, NULL) FROM unnest('{main,leased}'::text[]) AS a`);
	await sql("SELECT urlmode.begin_refresh('acme\u001fann', 'shop', 'leased', (SELECT version FROM urlmode.account WHERE account = 'leased'), 60000)");
});

after(async () => {
	await client?.end();
	await files?.close();
	await stack?.close();
});

test('each function that a program may call has a place here', async () => {
	const functions = await sql(`SELECT DISTINCT proname AS name FROM pg_proc CROSS JOIN unnest('{urlmode_server,urlmode_cgi,urlmode_operator}'::regrole[]) AS role
		WHERE pronamespace = 'urlmode'::regnamespace AND has_function_privilege(role, pg_proc.oid, 'EXECUTE')`);
	assert.deepEqual([...[BY_BINDING, BY_TENANT, BY_ACCOUNT, OF_NONE].flatMap(Object.keys), ...Object.values(OTHERS).flat()].sort(), functions.map(({ name }) => name).sort());
});

describe('by id and binding', () => {
	for (const [name, values] of Object.entries(BY_BINDING)) {
		test(name, async () => {
			const call = (n, owner) => outcomeOf(name, values.replaceAll(/IDS|OWNERS|ID|OWNER|FENCE/g, (what) => ({
				ID: `test.id(${n})`, IDS: `ARRAY[test.id(${n})]`, OWNER: owner, OWNERS: `ARRAY[${owner}]`, FENCE: `coalesce(test.fence('c${n}'), 1)`,
			})[what]));
			const south = "test.owner('ann', 'of another tenant')";
			const nothing = await call(NOBODY, south);
			let differs = false;
			for (const n of NUMBERS) {
				assert.equal(await call(n, south), nothing, `of row ${n}`);
				differs ||= await call(n, "test.owner('ann')") !== nothing;
			}
			assert.ok(differs, 'whose it is hears of it');
		});
	}
});

describe('by the name of a tenant', () => {
	for (const [name, values] of Object.entries(BY_TENANT)) {
		test(name, async () => {
			const lease = "(SELECT lease FROM urlmode.ledger_consumer WHERE tenant = 'acme')";
			const call = async (tenant) => (await outcomeOf(name, values.replaceAll('LEASE', lease).replaceAll(/\bT\b/g, `'${tenant}'`))).replaceAll(tenant, 'TENANT');
			const nothing = await call('nobody');
			assert.equal(await call('south'), nothing);
			assert.notEqual(await call('acme'), nothing, 'whose it is hears of it');
		});
	}
});

describe('by the owner of an account', () => {
	for (const [name, values] of Object.entries(BY_ACCOUNT)) {
		test(name, async () => {
			const of = (column) => `(SELECT ${column} FROM urlmode.account WHERE account = '${values.includes("'leased'") ? 'leased' : 'main'}')`;
			const call = async (owner) => (await outcomeOf(name, values.replaceAll('VERSION', of('version')).replaceAll('HOLDS', of('lease')).replaceAll(/\bO\b/g, `'${owner}'`))).replaceAll(owner, 'OWNER');
			const nothing = await call('south\u001fzoe');
			assert.equal(await call('south\u001fann'), nothing);
			assert.notEqual(await call('acme\u001fann'), nothing, 'whose it is hears of it');
		});
	}
});

describe('of the empty tenant', () => {
	for (const [name, values] of Object.entries(OF_NONE)) {
		test(name, async () => {
			const nothing = '[[],[]]';
			assert.equal(await outcomeOf(name, values), nothing);
			await sql('SAVEPOINT given');
			await sql("UPDATE urlmode.elicitation SET tenant = ''; UPDATE urlmode.payment SET tenant = ''; UPDATE urlmode.refund SET tenant = ''");
			assert.notEqual(await outcomeOf(name, values), nothing, 'whose it is has it');
			await sql('ROLLBACK TO given');
		});
	}
});
