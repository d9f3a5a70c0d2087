// The operator's command against the stack's database: show, events, purge and
// migrate, as the role urlmode_operator and nobody else.

import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';

import pg from 'pg';

import { functionsVersion } from '../../lib/node/src/commands/migrations.js';
import { bindingOf } from '../../lib/node/src/core/token.js';
import { ALL, noteArguments, ROOT, urlmode } from '../support/command.mjs';
import { sender } from '../support/deliveries.mjs';
import { openFixture } from '../support/fixture.mjs';

const PRICE = { amount: 1050, currency: 'EUR' };
const DAY = 86_400_000;
const TRACE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
/** What a terminal obeys: CSI, OSC, their C1 forms, and a change of direction. */
const HOSTILE = 'a\x1b[31mb\x1b]0;title\x07c\u009b2Jd\u202ee\nf';
const CONTROLS = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/;

let fixture;
let env;

before(async () => {
	fixture = await openFixture({ name: 'command' });
	env = { URLMODE_OPERATOR_DATABASE_URL: fixture.stack.env.URLMODE_OPERATOR_DATABASE_URL };
});

after(() => fixture?.close());

const run = (...args) => urlmode(args, env);

/** What the command prints as JSON. */
async function json(...args) {
	const { status, out, err } = await run(...args, '--json');
	assert.deepEqual([status, err], [0, '']);
	return JSON.parse(out);
}

/** A payment, opened in a browser and then told of by its provider. */
async function pay(whats = ['paid'], options = {}) {
	const payment = await fixture.createPayment('stripe', { expected: PRICE, ...options });
	const stripe = sender(fixture, 'stripe');
	for (const what of whats) {
		const { status } = await stripe.send(stripe.event(payment.id, what, PRICE));
		assert.equal(status, 200);
	}
	return payment;
}

/** An event as record_events keeps it, of whatever a provider may say. */
function record(id, { provider = 'stripe', identity = randomUUID(), type = 'a.type', effect = 'ignore', reference = null }) {
	return fixture.stack.sql(`SELECT outcome FROM urlmode.record_events(ARRAY[$1::uuid], ARRAY[$2], ARRAY[$3], ARRAY[$4],
		ARRAY[$5], ARRAY[NULL::bigint], ARRAY[NULL], ARRAY[$6], ARRAY[NULL::bytea])`, [id, provider, identity, type, effect, reference]);
}

describe('the login', () => {
	let thief;

	before(async () => {
		thief = new pg.Client({ connectionString: env.URLMODE_OPERATOR_DATABASE_URL });
		await thief.connect();
	});
	after(() => thief?.end());

	test('may execute the functions of the command, and hold no other right in the schema', async () => {
		const { rows: functions } = await thief.query(`
			SELECT proname FROM pg_proc WHERE pronamespace = 'urlmode'::regnamespace
				AND has_function_privilege(oid, 'EXECUTE') ORDER BY proname`);
		const { rows: relations } = await thief.query(`
			SELECT relname FROM pg_class WHERE relnamespace = 'urlmode'::regnamespace AND relkind IN ('r', 'v', 'm', 'p')
				AND has_table_privilege(oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')`);
		const memberships = await fixture.stack.sql(
			"SELECT FROM pg_auth_members WHERE member = 'urlmode_operator'::regrole");

		assert.deepEqual(functions.map(({ proname }) => proname),
			['begin_walk', 'changed_objects', 'count_ended', 'count_events', 'count_refusals', 'counted_until', 'decide_payment', 'decide_shown', 'end_walk',
				'export_user', 'find_elicitations', 'forget_user', 'functions_version', 'known_elicitations', 'known_providers', 'leader', 'list_audit',
				'list_checks', 'list_events', 'list_hosts', 'list_migrations', 'list_paid', 'list_unclaimed', 'list_undelivered', 'list_unknown',
				'list_unreadable', 'list_waiting', 'migration_digests', 'minted_kids', 'purge', 'read_walk', 'reconcile_refunds', 'record_check', 'refund_payment', 'show_asks',
				'show_decisions', 'show_elicitation', 'show_ends', 'show_events', 'show_item', 'show_key', 'show_payments', 'show_provider', 'show_refunds',
				'show_state', 'show_subscriptions', 'show_timeline', 'tenant_events', 'tenant_of', 'tenant_unclaimed', 'tenant_undelivered', 'tenant_unknown',
				'user_rows', 'waiting']);
		assert.deepEqual([relations, memberships], [[], []]);
	});

	test('is told nothing that is sealed, or that opens a door, but of the walk of check', async () => {
		const { rows } = await thief.query(`
			SELECT proname, unnest(proargnames) AS name FROM pg_proc WHERE pronamespace = 'urlmode'::regnamespace
				AND has_function_privilege(oid, 'EXECUTE') AND proname NOT IN ('begin_walk', 'read_walk', 'end_walk')`);
		// The session of leader() is the number of its process.
		const names = rows.filter(({ proname, name }) => proname !== 'leader' || name !== 'session').map(({ name }) => name);

		assert.deepEqual(names.filter((name) => /^(result|verifier|binding|browser|session|target_url)$/.test(name)), []);
		assert.deepEqual(rows.filter(({ name }) => name === 'subject').map(({ proname }) => proname).sort(),
			['export_user', 'find_elicitations', 'forget_user', 'list_audit', 'list_waiting', 'show_elicitation', 'user_rows']);
	});
});

describe('show', () => {
	test('says what became of a payment: whose it is, what was paid, what came', async () => {
		const { id, owner } = await pay(['processing', 'settled'], {
			session: 'a-session-id', targetUrl: 'https://checkout.example/a-secret', clientId: 'https://host.example/client',
			traceparent: TRACE,
		});
		const { status, out, err } = await run('show', id);

		assert.deepEqual([status, err], [0, '']);
		for (const said of [id, owner.subject, 'completed', 'accept', 'Tests & Co', 'https://host.example/client', '1050 EUR', 'async_payment_succeeded', `cs_test_${id}`]) {
			assert.ok(out.replaceAll(/ +/g, ' ').includes(said), `${said} is not in ${out}`);
		}
		assert.doesNotMatch(out, /a-session-id|a-secret|\\x01/);
		assert.deepEqual(await run('show', id.toUpperCase()), { status, out, err });

		const { elicitation, payments, events } = await json('show', id);
		assert.deepEqual([elicitation.elicitation, elicitation.status, elicitation.has_result], [id, 'completed', true]);
		assert.deepEqual(payments.map(({ amount, currency, late, claimed_at: claimed }) => [amount, currency, late, claimed]), [[1050, 'EUR', false, null]]);
		assert.deepEqual(events.map(({ action }) => action), ['processing', 'accept']);

		// From a line of the log to the call: the provider has sent no trace of ours.
		const lines = (await fixture.stack.programLog()).filter(({ elicitation: of }) => of === id);
		assert.deepEqual(new Set(lines.map(({ program, traceparent }) => `${program} ${traceparent}`)), new Set(['webhook undefined']));
		assert.equal(elicitation.traceparent, TRACE);
		assert.ok(out.includes(TRACE), out);
	});

	for (const [how, end, said] of [
		['while its code is exchanged', async () => {}, 'exchanging'],
		['that is connected', (claim) => claim.fulfil(), 'connected'],
		['whose exchange has failed', (claim) => claim.release('exchange_refused'), 'exchange_refused'],
	]) {
		test(`of an account ${how}`, async () => {
			const browser = fixture.browser();
			const { id, owner, returnTo } = await fixture.goOn(browser);
			await browser.open(returnTo({ code: 'c' }));
			assert.equal((await json('show', id)).elicitation.exchange, null, 'nobody exchanges it yet');
			await end(await fixture.urlmode.beginClaim(id, owner));
			assert.equal((await json('show', id)).elicitation.exchange, said);
			assert.match((await run('show', id)).out, new RegExp(`exchange +${said}\\b`));
		});
	}

	test('of a payment that comes after the end: late, of no call, and for what', async () => {
		const payment = await fixture.createPayment('stripe', { expected: PRICE, item: 'report:42' });
		await fixture.urlmode.cancel(payment.id, payment.owner);
		const stripe = sender(fixture, 'stripe');
		await stripe.send(stripe.event(payment.id, 'paid', PRICE));

		const { elicitation, payments, events } = await json('show', payment.id);
		assert.deepEqual([elicitation.action, elicitation.item, payments[0].late, events.map(({ action }) => action)], ['cancel', 'report:42', true, ['late']]);
		assert.match((await run('show', payment.id)).out, /^ *item +report:42$/m);
	});

	test('of clients that did not open it: what they have answered, in their order', async () => {
		const { id } = await fixture.create();
		const digest = (name) => createHash('sha256').update(name).digest('hex').slice(0, 32);
		for (const [name, said] of [['one', 'asked'], ['other', 'declined'], ['one', 'failed']]) {
			await fixture.stack.sql("SELECT urlmode.remember_ask($1, decode($2, 'hex'), $3)", [id, digest(name), said]);
		}
		const { clients } = await json('show', id);
		assert.deepEqual(clients.map(({ answer, client }) => [answer, client]), [['declined', digest('other')], ['failed', digest('one')]]);
		const { out } = await run('show', id);
		assert.match(out, /^Clients that did not open it:$/m);
		for (const said of ['declined', digest('one')]) assert.ok(out.includes(said), out);
	});

	test('of an account there are neither payments nor events', async () => {
		const { id } = await fixture.create();
		const { out } = await run('show', id);
		assert.match(out, /pending/);
		assert.doesNotMatch(out, /Payments|Events/);
	});

	for (const [end, refund] of [['delivered', null], ['refunded', 're_17']]) test(`of a claim: that it has ended as ${end}`, async () => {
		const { id, owner } = await pay();
		const binding = bindingOf(owner.subject, owner.session);
		const [{ fence }] = await fixture.stack.sql('SELECT fence FROM urlmode.begin_lease($1, $2, NULL, 60000)', [id, binding]);
		const { payments: [before] } = await json('show', id);
		assert.deepEqual([before.claim_end, before.claim_refund], [null, null]);
		await fixture.stack.sql('SELECT urlmode.fulfil_lease($1, $2, $3, NULL, $4, $5)', [id, binding, fence, end, refund]);
		const { payments: [payment] } = await json('show', id);
		assert.deepEqual([payment.claim_end, payment.claim_refund], [end, refund]);
		assert.match((await run('show', id)).out, new RegExp(`claim_end +claim_refund[^]*${end}${refund ? ` +${refund}` : ''}`));
	});

	test('of one that was purged: what was paid for it', async () => {
		const { id, owner } = await pay();
		await fixture.stack.sql('SELECT urlmode.claim($1, $2)', [id, bindingOf(owner.subject, owner.session)]);
		await fixture.stack.sql('DELETE FROM urlmode.elicitation WHERE id = $1', [id]);
		const { status, out, err } = await run('show', id);
		assert.equal(status, 0);
		assert.match(err, /was purged/);
		assert.match(out, /1050 EUR/);
		const said = JSON.parse((await run('show', '--json', id)).out);
		assert.deepEqual([said.elicitation, said.payments.length], [null, 1]);
	});

	test('an id that is none of the database’s ends with 1', async () => {
		const { status, out, err } = await run('show', randomUUID());
		assert.deepEqual([status, out], [1, '']);
		assert.match(err, /there is no elicitation/);
	});

	test('what a terminal obeys is not printed, whoever has sent it', async () => {
		const once = HOSTILE + randomUUID();
		const { id } = await fixture.createPayment('stripe', { expected: PRICE, subject: once, item: once });
		await record(id, { type: HOSTILE, identity: once, effect: 'recheck', reference: once });
		for (const args of [['show', id], ['show', '--json', id], ['events', '--limit', '1'], ['events', '--json', '--limit', '1']]) {
			const { status, out } = await run(...args);
			assert.equal(status, 0);
			assert.ok(out.includes('title'), 'its text is there');
			assert.doesNotMatch(out, CONTROLS, args.join(' '));
		}
	});
});

describe('events', () => {
	test('lists the last ones, the newest last, without whose they are', async () => {
		const { id, owner } = await pay(['processing', 'settled']);
		const { out } = await run('events');
		const listed = await json('events');

		assert.ok(out.includes(id) && out.includes('async_payment_succeeded'));
		assert.ok(!out.includes(owner.subject));
		assert.deepEqual(listed.slice(-2).map((event) => [event.elicitation, event.provider_name, event.action]),
			[[id, 'stripe', 'processing'], [id, 'stripe', 'accept']]);
		assert.deepEqual((await json('events', '--limit', '1')).map(({ action }) => action), ['accept']);
	});

	test('of one provider; a name is a value and no SQL', async () => {
		const { id } = await fixture.createPayment('square', { expected: PRICE });
		await record(id, { provider: 'square', type: 'of.square' });

		const listed = await json('events', '--provider', 'square');
		assert.ok(listed.length > 0 && listed.every((event) => event.provider_name === 'square'));
		for (const name of ["x' OR 'a' = 'a", "'; DELETE FROM urlmode.event; --", ':provider', '$1', '\\q', '`id`', "\\'"]) {
			assert.deepEqual(await json('events', '--provider', name), []);
		}
		assert.deepEqual(await json('events', '--provider', 'square'), listed);
	});

	test('late: only those that came after the end', async () => {
		const { id } = await pay(['paid', 'expired']);
		const listed = await json('events', '--late');
		assert.ok(listed.every(({ action }) => action === 'late'));
		assert.deepEqual(listed.at(-1).elicitation, id);
	});

	test('since: a time or an age', async () => {
		const { id } = await pay(['ignored']);
		await fixture.stack.sql("UPDATE urlmode.event SET received_at = now() - interval '3 days' WHERE elicitation = $1", [id]);
		const has = async (...args) => (await json('events', ...ALL, ...args)).some(({ elicitation }) => elicitation === id);

		assert.deepEqual([await has(), await has('--since', '2d'), await has('--since', '4d'), await has('--since', '1w')], [false, false, true, true]);
		const at = (days) => new Date(Date.now() - days * DAY).toISOString();
		assert.deepEqual([await has('--since', at(2)), await has('--since', at(4)), await has('--since', at(4).slice(0, 10))], [false, true, true]);
		const { status, out, err } = await run('events', '--since', "yesterday'; --");
		assert.deepEqual([status, out], [1, '']);
		assert.match(err, /invalid input syntax for type timestamp/);
	});

	test('a payment that was not accepted: events and show have its reference, its amount and its request', async () => {
		const [first, second] = [await fixture.createPayment('stripe', { expected: PRICE }), await fixture.createPayment('stripe', { expected: PRICE })];
		const stripe = sender(fixture, 'stripe');
		const reference = `cs_test_${first.id}`;
		const requests = [];
		for (const { id } of [first, second]) {
			const { status, headers } = await stripe.send(stripe.event(id, 'paid', { ...PRICE, reference }));
			assert.equal(status, 200);
			requests.push(headers['x-request-id']);
		}
		const [event] = (await json('events', ...ALL)).filter(({ elicitation }) => elicitation === second.id);
		const { events: [shown] } = await json('show', second.id);
		for (const said of [event, shown]) {
			assert.deepEqual([said.action, said.reference, said.amount], ['reference_taken', reference, 1050]);
			assert.equal(said.request, requests[1]);
		}
		for (const args of [['events', ...ALL], ['show', second.id]]) assert.ok((await run(...args)).out.includes(requests[1]), args[0]);
		assert.equal((await json('show', first.id)).events[0].request, requests[0], 'of an accept, too');
	});

	test('unknown: what was paid for an elicitation that nobody knows, until it is known', async () => {
		const id = randomUUID();
		const stripe = sender(fixture, 'stripe');
		assert.equal((await stripe.send(stripe.event(id, 'paid', PRICE))).status, 200);
		const unknown = async () => (await json('events', '--unknown', ...ALL)).filter(({ elicitation }) => elicitation === id);

		assert.deepEqual((await unknown()).map(({ effect, amount, currency, reference }) => [effect, amount, currency, reference]),
			[['paid', 1050, 'EUR', `cs_test_${id}`]]);
		assert.ok((await run('events', '--unknown', '--provider', 'stripe', ...ALL)).out.includes(id));
		const { owner } = await fixture.createPayment('stripe', { expected: PRICE, id });
		assert.equal((await fixture.urlmode.waitForCompletion(id, owner)).action, 'accept');
		assert.deepEqual(await unknown(), []);
	});

	test('unreadable: where, how often, and the request, of whatever a provider may be called', async () => {
		const provider = `unread-${randomUUID().slice(0, 8)}`;
		const record = (place, request) => fixture.stack.sql('SELECT recorded FROM urlmode.record_unreadable(ARRAY[$1], ARRAY[decode(md5($2), \'hex\')], ARRAY[$3], ARRAY[$2], ARRAY[$4])',
			[provider, place, 'body_malformed', request]);
		await record('/amount: is not a decimal number', 'request-1');
		await record('/amount: is not a decimal number', 'request-2');
		await record(HOSTILE, 'request-3');

		const found = await json('events', '--unreadable', '--provider', provider);
		assert.deepEqual(found.map(({ provider_name: name, reason, place, request, times }) => [name, reason, place, request, times]), [
			[provider, 'body_malformed', '/amount: is not a decimal number', 'request-2', 2], [provider, 'body_malformed', HOSTILE.replaceAll(/[\u0080-\u009f\u202a-\u202e]/g, ''), 'request-3', 1],
		]);
		assert.deepEqual(await json('events', '--unreadable', '--provider', provider, '--limit', '1'), found.slice(1));
		assert.deepEqual(await json('events', '--unreadable', '--provider', 'nobody'), []);
		const { status, out, err } = await run('events', '--unreadable', '--provider', provider);
		assert.deepEqual([status, err], [0, '']);
		assert.match(out, /first_seen_at +\| +last_seen_at +\| times \| +provider +\| +reason +\| +place +\| +request/);
		for (const said of ['/amount: is not a decimal number', 'request-2', ' 2 ']) assert.ok(out.includes(said), out);
		assert.doesNotMatch(out.replaceAll('\n', ''), CONTROLS);
	});

	test('undelivered: what was done, and whose answer nobody knows to be written', async () => {
		const { id, owner } = await pay(['paid'], { item: 'report:42' });
		const undelivered = async () => (await json('events', '--undelivered', ...ALL)).filter(({ elicitation }) => elicitation === id);
		assert.deepEqual(await undelivered(), []);
		const claim = await fixture.urlmode.beginClaim(id, owner);
		await claim.fulfil('The report.');
		assert.deepEqual((await undelivered()).map(({ kind, item, amount, currency, has_result: kept }) => [kind, item, amount, currency, kept]), [['payment', 'report:42', 1050, 'EUR', true]]);
		const { out } = await run('events', '--undelivered', ...ALL);
		assert.match(out, /fulfilled_at +\| +provider +\| +kind +\| +elicitation +\| +reference/);
		assert.ok(out.includes(id) && out.includes('report:42') && !out.includes('The report.'));
		await claim.confirm();
		assert.deepEqual(await undelivered(), []);
	});

	test('--tenant: each list, and show, has what is of this tenant alone, also of a row that was purged', async () => {
		const tenants = { acme: 'acme', 'acme-2': 'acme-2', none: '' };
		const ids = {};
		const payments = [];
		for (const [name, tenant] of Object.entries(tenants)) {
			const { id, owner } = await fixture.createPayment('stripe', { expected: PRICE });
			await fixture.stack.sql('UPDATE urlmode.elicitation SET tenant = $2 WHERE id = $1', [id, tenant]);
			const stripe = sender(fixture, 'stripe');
			assert.equal((await stripe.send(stripe.event(id, 'paid', PRICE))).status, 200);
			ids[name] = id;
			payments.push({ id, owner });
		}
		const seen = async (...args) => Object.keys(ids).filter((name) => args.some((rows) => rows.some(({ elicitation }) => elicitation === ids[name])));
		const lists = async (what) => Promise.all(['acme', 'acme-2', '-'].map(async (tenant) => seen(await json('events', ...what, '--tenant', tenant, ...ALL))));
		const apart = [['acme'], ['acme-2'], ['none']];
		assert.deepEqual(await lists([]), apart);
		assert.deepEqual(await lists(['--unclaimed']), apart);
		const claims = await Promise.all(payments.map(({ id, owner }) => fixture.urlmode.beginClaim(id, owner)));
		await Promise.all(claims.map((claim) => claim.fulfil('done')));
		assert.deepEqual(await lists(['--undelivered']), apart);
		assert.deepEqual(await seen(await json('events', ...ALL)), Object.keys(ids), 'without the option all of them');

		const lost = {};
		for (const [name, tenant] of Object.entries(tenants)) {
			lost[name] = randomUUID();
			const stripe = sender(fixture, 'stripe');
			await stripe.send(stripe.event(lost[name], 'paid', PRICE));
			await fixture.stack.sql("UPDATE urlmode.unknown_event SET tenant = nullif($2, '') WHERE elicitation = $1", [lost[name], tenant]);
		}
		const unknown = async (...args) => (await json('events', '--unknown', ...args, ...ALL)).map(({ elicitation }) => elicitation);
		const own = Object.values(lost);
		assert.deepEqual(await Promise.all(['acme', 'acme-2', '-'].map(async (tenant) => (await unknown('--tenant', tenant)).filter((id) => own.includes(id)))), own.map((id) => [id]));

		const shown = async (name, ...args) => (await run('show', ...args, ids[name])).status;
		assert.equal((await json('show', ids.acme)).elicitation.tenant, 'acme');
		assert.deepEqual([await shown('acme', '--tenant', 'acme'), await shown('acme', '--tenant', 'acme-2'), await shown('acme', '--tenant', '-'), await shown('none', '--tenant', '-')], [0, 1, 1, 0]);
		await claims[0].confirm();
		await fixture.stack.sql('DELETE FROM urlmode.elicitation WHERE id = $1', [ids.acme]);
		assert.deepEqual([await shown('acme', '--tenant', 'acme'), await shown('acme', '--tenant', 'acme-2')], [0, 1]);
		const { err } = await run('show', '--tenant', 'acme-2', ids.acme);
		assert.equal(err, (await run('show', ids.acme.replace(/^./, (c) => (c === '0' ? '1' : '0')))).err.replace(/elicitation \S+,/, `elicitation ${ids.acme},`), 'as one that does not exist');
	});

	test('unclaimed: what was paid and no call has taken', async () => {
		const { id, owner } = await pay();
		const unclaimed = async () => (await json('events', '--unclaimed', ...ALL)).filter(({ elicitation }) => elicitation === id);

		assert.deepEqual((await unclaimed()).map(({ amount, currency, matches, late }) => [amount, currency, matches, late]), [[1050, 'EUR', true, false]]);
		assert.ok((await run('events', '--unclaimed', ...ALL)).out.includes(id));
		assert.equal((await fixture.urlmode.waitForCompletion(id, owner)).action, 'accept');
		await fixture.stack.sql('SELECT urlmode.claim($1, $2)', [id, bindingOf(owner.subject, owner.session)]);
		assert.deepEqual(await unclaimed(), []);
	});
});

describe('purge', () => {
	/** One that ended so many days ago. */
	async function old(days, options = {}) {
		const elicitation = await fixture.create(options);
		await fixture.urlmode.cancel(elicitation.id, elicitation.owner);
		await fixture.stack.sql(`UPDATE urlmode.elicitation SET created_at = created_at - $2 * interval '1 day', grace = '0',
			expires_at = expires_at - $2 * interval '1 day', completed_at = completed_at - $2 * interval '1 day',
			claimed_at = claimed_at - $2 * interval '1 day' WHERE id = $1`, [elicitation.id, days]);
		return elicitation.id;
	}

	/** What an earlier purge has been through was not there then: here days pass at once. */
	beforeEach(() => fixture.stack.sql("UPDATE urlmode.purge_pass SET since = '-infinity', expires_at = '-infinity'"));

	const there = async (ids) => (await Promise.all(ids.map((id) => fixture.stack.elicitation(id)))).map((row) => row !== undefined);

	test('deletes what has been over for ninety days, or as long as it is told, of a kind', async () => {
		const input = { provider: 'intake', kind: 'input', targetUrl: undefined, form: { title: 'Key', fields: [{ name: 'key', type: 'secret', label: 'Key' }] } };
		const approval = { provider: 'approvals', kind: 'approval', targetUrl: undefined, form: { title: 'Terms' } };
		const ids = [await old(91), await old(89), await old(20), await old(1), await old(89, { kind: 'signature', provider: 'docusign' })];
		const forms = [await old(91, input), await old(91, approval), await old(20, input), await old(20, approval)];
		const said = await run('purge');
		assert.deepEqual([said.status, said.err], [0, '']);
		assert.match(said.out, /^purged: [1-9]\d* oauth, \d+ payment, \d+ signature, [1-9]\d* input, [1-9]\d* approval, \d+ result, \d+ stored\n$/);
		assert.deepEqual(await there(ids), [false, true, true, true, true]);
		assert.deepEqual(await there(forms), [false, false, true, true]);
		assert.match((await run('purge', '--older-than', '8d', '--kind', 'input')).out, /^purged: [1-9]\d* input\n$/);
		assert.deepEqual(await there(forms), [false, false, false, true]);
		await run('purge', '--older-than', '8d', '--kind', 'oauth');
		assert.deepEqual(await there(ids), [false, false, false, true, true]);
		await run('purge', '--older-than', '4w');
		assert.deepEqual(await there(ids), [false, false, false, true, false]);
	});

	test('takes more than one batch holds', async () => {
		await fixture.stack.sql(`INSERT INTO urlmode.elicitation (id, provider, kind, subject, binding, requester, target_url, expires_at,
				status, action, completed_at)
			SELECT gen_random_uuid(), 'demo', 'oauth', 's', '\\x00000000000000000000000000000000', 'r', 'u', now() - interval '200 days',
				'completed', 'cancel', now() - interval '200 days' FROM generate_series(1, 2500)`);
		assert.deepEqual(await run('purge', '--kind', 'oauth'), { status: 0, out: 'purged: 2500 oauth\n', err: '' });
		assert.deepEqual(await fixture.stack.sql("SELECT id FROM urlmode.elicitation WHERE target_url = 'u'"), []);
	});

	test('says that less than a week is refused', async () => {
		const { status, err } = await run('purge', '--older-than', '6d');
		assert.equal(status, 1);
		assert.match(err, /less than seven days/);
	});
});

describe('migrate', () => {
	test('says that the schema is up to date', async () => {
		const admin = { URLMODE_ADMIN_DATABASE_URL: fixture.stack.env.URLMODE_ADMIN_DATABASE_URL };
		for (const args of [['migrate'], ['migrate', '--dry-run']]) {
			assert.deepEqual(await urlmode(args, admin), { status: 0, out: 'The schema is up to date.\n', err: '' });
		}
	});

	test('a second database, of an administrator who may not change the roles', async () => {
		await fixture.stack.sql('DROP DATABASE IF EXISTS migrated_by_clerk');
		await fixture.stack.sql('DROP ROLE IF EXISTS clerk');
		await fixture.stack.sql("CREATE ROLE clerk LOGIN CREATEDB PASSWORD 'not secret' IN ROLE urlmode_owner");
		await fixture.stack.sql('CREATE DATABASE migrated_by_clerk OWNER clerk');
		const url = Object.assign(new URL(fixture.stack.env.URLMODE_ADMIN_DATABASE_URL), { pathname: '/migrated_by_clerk' });
		const clerk = Object.assign(new URL(url), { username: 'clerk', password: 'not secret' });
		const { status, out, err } = await urlmode(['migrate'], { URLMODE_ADMIN_DATABASE_URL: clerk.href });
		assert.deepEqual([status, out.split('\n')[0]], [0, '001_schema.sql'], err);
		assert.match(err, /the administrator of the role urlmode_server must execute ALTER ROLE urlmode_server IN DATABASE migrated_by_clerk SET/);

		const cgi = new pg.Client({ connectionString: url.href });
		await cgi.connect();
		await cgi.query('SET SESSION AUTHORIZATION urlmode_cgi');
		const { rows } = await cgi.query("SELECT urlmode.ping() AS ping, current_setting('enable_seqscan') AS seqscan, current_setting('jit') AS jit");
		assert.deepEqual(rows, [{ ping: true, seqscan: 'off', jit: 'off' }]);
		await cgi.end();
	});

	test('applies what is missing to a database of its own, and before that says it', async () => {
		const url = new URL(fixture.stack.env.URLMODE_ADMIN_DATABASE_URL);
		url.pathname = '/migrated_by_command';
		await fixture.stack.sql('DROP DATABASE IF EXISTS migrated_by_command');
		await fixture.stack.sql('CREATE DATABASE migrated_by_command');
		const admin = { URLMODE_ADMIN_DATABASE_URL: url.href };
		const files = (await readdir(path.join(ROOT, 'sql/tables'))).filter((name) => /^\d.*\.sql$/.test(name)).sort();

		assert.equal((await urlmode(['migrate', '--dry-run'], admin)).out, [...files, `functions of version ${functionsVersion()}`].map((name) => `would apply ${name}\n`).join(''));
		assert.deepEqual(await urlmode(['migrate'], admin), { status: 0, out: files.map((name) => `${name}\n`).join(''), err: '' });
		assert.equal((await urlmode(['migrate', '--dry-run'], admin)).out, 'The schema is up to date.\n');

		const client = new pg.Client({ connectionString: url.href });
		await client.connect();
		await client.query("UPDATE urlmode.migration SET digest = repeat('0', 64) WHERE name = '045_refresh.sql'");
		await client.end();
		assert.deepEqual(await urlmode(['migrate', '--dry-run'], admin), { status: 1, out: '', err: 'urlmode: not as it was applied, so that migrate would refuse: 045_refresh.sql\n' });
	});

	test('says who cannot be reached', async () => {
		const { status, err } = await urlmode(['migrate'], { URLMODE_ADMIN_DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/urlmode' });
		assert.equal(status, 1);
		assert.match(err, /urlmode cannot be reached/);
	});
});

describe('the connection', () => {
	const PASSWORD = 'do-not-show';

	test('has no password on a command line, and no message shows it', async () => {
		const folder = await mkdtemp(path.join(tmpdir(), 'urlmode-notes-'));
		const noting = await noteArguments(path.join(folder, 'bin'), ['psql', 'env', 'sed', 'cat', 'openssl', 'rm']);
		const password = new URL(env.URLMODE_OPERATOR_DATABASE_URL).password;

		assert.equal((await urlmode(['events'], { ...env, PATH: noting.PATH })).status, 0);
		const notes = await noting.notes();
		assert.match(notes, /^psql .*service=operator/m);
		assert.ok(!notes.includes(password));
		await rm(folder, { recursive: true });
	});

	for (const [name, url] of [
		['a wrong password', (good) => good.replace(/:[^:@]*@/, `:${PASSWORD}@`)],
		['no connection string', () => `postgresql://a:${PASSWORD}@b:c:d`],
		['a second section in it', () => `host=a\n[operator]\npassword=${PASSWORD}`],
		['an unknown keyword', () => `password=${PASSWORD} colour=blue`],
	]) {
		test(`${name}: said, without the password`, async () => {
			const { status, out, err } = await urlmode(['events'], {
				URLMODE_OPERATOR_DATABASE_URL: url(env.URLMODE_OPERATOR_DATABASE_URL),
			});
			assert.deepEqual([status, out], [1, '']);
			assert.notEqual(err, '');
			assert.ok(!err.includes(PASSWORD), err);
		});
	}

	test('without one it is said where it comes from', async () => {
		const { status, err } = await urlmode(['events'], { URLMODE_CONFIG: '/nonexistent/config.json' });
		assert.equal(status, 1);
		assert.match(err, /set URLMODE_OPERATOR_DATABASE_URL; urlmode setup writes it into \/nonexistent\/operator\.env/);
	});
});
