// urlmode reconcile: files of a provider beside what is here.

import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';

import { configure } from '../security/deployment.mjs';
import { urlmode } from '../support/command.mjs';
import { sender } from '../support/deliveries.mjs';
import { openFixture } from '../support/fixture.mjs';

const PRICE = { amount: 1050, currency: 'EUR' };
const NOW = Math.floor(Date.now() / 1_000);

let fixture;
let env;
let folder;

before(async () => {
	folder = mkdtempSync(path.join(tmpdir(), 'urlmode reconcile '));
	fixture = await openFixture({ name: 'reconcile', own: true });
	const item = (name) => ({ item: name });
	const books = path.join(folder, 'books.json');
	writeFileSync(books, JSON.stringify({
		name: 'Books', documentation: 'none', trust: 'nothing', verify: [], type: { json: '/type' }, outcomes: [{ effect: 'recheck' }],
		reconcile: {
			documentation: 'none', file: 'csv', time: { from: item('/Paid at'), as: 'rfc3339' }, live: { from: item('/Mode'), is: 'live' },
			elicitation: item('/Order'), amount: { from: item('/Gross'), as: 'decimal' }, currency: item('/Currency'),
			reference: item('/Id~1Payment'), outcomes: [{ when: [{ from: item('/Status'), is: ['paid', 'settled'] }], effect: 'paid' }],
		},
	}));
	const iso = path.join(folder, 'iso.json');
	const stripe = JSON.parse(readFileSync(new URL('../../lib/providers/stripe.json', import.meta.url), 'utf8'));
	writeFileSync(iso, JSON.stringify({ ...stripe, reconcile: { ...stripe.reconcile, amount: { from: item('/amount_total'), as: 'minor' } } }));
	await configure(fixture.stack, ({ providers }) => {
		providers.iso = { kind: 'payment', display_name: 'ISO', description: iso, secrets: ['whsec_test'] };
		providers.books = { kind: 'payment', display_name: 'Books', description: books };
		providers.paypal = { kind: 'payment', display_name: 'PayPal', description: books };
	});
	env = { URLMODE_OPERATOR_DATABASE_URL: fixture.stack.env.URLMODE_OPERATOR_DATABASE_URL, URLMODE_CONFIG: fixture.stack.env.URLMODE_CONFIG };
});

after(async () => {
	await fixture?.close();
	rmSync(folder, { recursive: true, force: true });
});

const NO_REFUNDS = 'no FILE lists a refund: what went back was not compared\n';

/** Writes a file, and compares with it. `compares`: whether what went back was compared. */
async function reconcile(provider, content, options = ['--from', '1d']) {
	const files = [content].flat().map((text, n) => {
		const file = path.join(folder, `${n}`);
		writeFileSync(file, typeof text === 'string' || Buffer.isBuffer(text) ? text : JSON.stringify(text));
		return file;
	});
	const result = await urlmode(['reconcile', provider, ...options, ...files], env);
	return { ...result, out: result.out.replace(NO_REFUNDS, ''), compares: !result.out.includes(NO_REFUNDS) };
}

const session = (more) => ({
	id: `cs_${randomBytes(8).toString('hex')}`, object: 'checkout.session', payment_intent: null, client_reference_id: randomUUID(), amount_total: 1050,
	currency: 'eur', payment_status: 'paid', status: 'complete', livemode: true, created: NOW, payment_link: null, ...more,
});
const page = (...data) => ({ object: 'list', data });

/** A payment that Stripe has told of, as Stripe lists it. */
async function paid(price = PRICE, written = price.amount) {
	const { id } = await fixture.createPayment('stripe', { expected: price });
	const stripe = sender(fixture, 'stripe');
	assert.equal((await stripe.send(stripe.event(id, 'paid', { ...price, amount: written }))).status, 200);
	const [{ reference }] = await fixture.stack.sql('SELECT reference FROM urlmode.payment WHERE elicitation = $1', [id]);
	return session({ id: 'cs_other', payment_intent: reference, client_reference_id: id, amount_total: written, currency: price.currency.toLowerCase() });
}

describe('Stripe', () => {
	test('what both have is the same, in the units of each, also twice and from another page', async () => {
		await fixture.stack.sql('DELETE FROM urlmode.payment');
		const payments = [await paid(), await paid({ amount: 5, currency: 'ISK' }, 500)];
		const { status, out, err } = await reconcile('stripe', [page(...payments), page(payments[0])]);
		assert.deepEqual([status, err, out], [0, '', '2 the same, 0 differ, 0 name no elicitation of this database\n']);
	});

	test('a list that says nothing of its units is in those of ISO 4217, whatever the events are in', async () => {
		for (const [provider, amount] of [['iso', /500 ISK/], ['stripe', /\b5 ISK/]]) {
			const { id } = await fixture.createPayment(provider, { expected: PRICE });
			const listed = page(session({ currency: 'isk', amount_total: 500, payment_intent: 'pi_isk', client_reference_id: id }));
			assert.match((await reconcile(provider, listed)).out, amount);
		}
	});

	test('what only one of them has, and what differs, is said, with what mends it', async () => {
		await fixture.stack.sql('DELETE FROM urlmode.payment');
		const cheaper = { ...await paid(), amount_total: 1 };
		const unlisted = await paid();
		const missing = session({ payment_intent: 'pi_missing', client_reference_id: (await fixture.createPayment('stripe', { expected: PRICE })).id });
		const { status, out } = await reconcile('stripe', page(cheaper, missing, { ...missing, amount_total: 7 }));
		const lines = out.trimEnd().split('\n').map((line) => line.split('\t'));

		assert.equal(status, 1);
		assert.deepEqual(lines.map(([what]) => what), ['differs', 'missing', 'twice', 'unlisted', '0 the same, 4 differ, 0 name no elicitation of this database']);
		assert.equal(lines[0][1], `${cheaper.payment_intent}: 1 EUR there, 1050 EUR here, of ${cheaper.client_reference_id}`);
		assert.ok(lines[1][1].includes(`complete ${missing.client_reference_id}`));
		assert.equal(lines[2][1], 'pi_missing: 1050 EUR, 7 EUR');
		assert.ok(lines[3][1].includes(unlisted.payment_intent));
	});

	test('what is unpaid, of test mode, of a payment link, of another time or of others is left out', async () => {
		await fixture.stack.sql('DELETE FROM urlmode.payment');
		const others = [session({ payment_status: 'unpaid' }), session({ livemode: false }), session({ payment_link: 'plink_1' }),
			session({ created: NOW - 5 * 86_400 }), session({ status: 'open' })];
		const { status, out } = await reconcile('stripe', page(...others, session({ client_reference_id: 'cart-17' })));
		assert.deepEqual([status, out], [0, '0 the same, 0 differ, 1 name no elicitation of this database\n']);
	});

	test('what names no elicitation at the provider and was accepted here is not counted as compared', async () => {
		await fixture.stack.sql('DELETE FROM urlmode.payment');
		const known = await paid();
		const { status, out } = await reconcile('stripe', page({ ...known, client_reference_id: 'cart-17', amount_total: 1 }, known));
		assert.deepEqual([status, out.trimEnd().split('\n')], [0, [
			'1 of ours name no elicitation there, so that their amounts were not compared', '0 the same, 0 differ, 0 name no elicitation of this database',
		]]);
	});

	test('what names an elicitation of another application is not missing', async () => {
		await fixture.stack.sql('DELETE FROM urlmode.payment');
		const theirs = session({ payment_intent: 'pi_theirs' });
		const other = session({ payment_intent: 'pi_of_another_provider', client_reference_id: (await fixture.createPayment('iso', { expected: PRICE })).id });
		const { status, out } = await reconcile('stripe', page(theirs, other));
		assert.deepEqual([status, out], [0, '0 the same, 0 differ, 2 name no elicitation of this database\n']);
	});

	test('refunds are compared: what only one has, and what differs', async () => {
		await fixture.stack.sql('DELETE FROM urlmode.payment; DELETE FROM urlmode.refund');
		const payments = [await paid(), await paid(), await paid(), await paid()];
		const refund = (id, n, amount, more) => ({
			id, object: 'refund', amount, currency: 'eur', payment_intent: payments[n].payment_intent, charge: 'ch_1', status: 'succeeded', created: NOW, ...more,
		});
		const [same, differs, unlisted] = ['re_same', 're_differs', 're_unlisted'];
		for (const [n, id] of [same, differs, unlisted].entries()) {
			await fixture.stack.sql(`SELECT urlmode.receive_events(ARRAY[$1::uuid], '{stripe}', ARRAY[$2], '{refund}', '{refunded}', '{400}', '{EUR}', ARRAY[$3],
				ARRAY[NULL::bytea], refunds => ARRAY[$4])`, [payments[n].client_reference_id, `event ${id}`, payments[n].payment_intent, id]);
		}
		const list = page(refund(same, 0, 400), refund(differs, 1, 500), refund("re_'\"\\missing", 3, 100), refund('re_failed', 3, 1, { status: 'failed' }),
			refund('re_of_others', 3, 1, { payment_intent: 'pi_of_others' }));
		const without = await reconcile('stripe', page(...payments));
		assert.deepEqual([without.status, without.compares], [0, false], 'without a list of refunds, which is said');
		const { status, out, err, compares } = await reconcile('stripe', [page(...payments), list]);
		assert.deepEqual([status, err, out.trimEnd().split('\n')], [1, '', [
			`differs\trefund re_differs: 500 EUR there, 400 EUR here, of ${payments[1].payment_intent}`,
			`missing\trefund re_'"\\missing: 100 EUR of ${payments[3].payment_intent}: have its event sent again`,
			`unlisted\trefund re_unlisted: 400 EUR of ${payments[2].payment_intent}: look for it at the provider`,
			'4 the same, 3 differ, 0 name no elicitation of this database',
		]]);
		assert.equal(compares, true);
		assert.equal((await reconcile('stripe', page(refund('', 0, 1)))).err.includes('/refund is not there'), true);
	});

	test('of a subscription the session names the invoice, and the invoices have each renewal', async () => {
		await fixture.stack.sql('DELETE FROM urlmode.payment; DELETE FROM urlmode.refund');
		const { id } = await fixture.createPayment('stripe', { expected: PRICE, subscription: true, item: 'pro' });
		const stripe = sender(fixture, 'stripe');
		const parent = { type: 'subscription_details', subscription_details: { subscription: `sub_${id}`, metadata: { elicitation_id: id } } };
		const invoice = (n, reason) => ({
			id: `in_${id}_${n}`, object: 'invoice', status: 'paid', billing_reason: reason, amount_paid: 1050, currency: 'eur', metadata: {}, livemode: true, created: NOW, parent,
		});
		const first = session({ mode: 'subscription', client_reference_id: id, subscription: `sub_${id}`, invoice: `in_${id}_1` });
		const [begun, renewal] = [invoice(1, 'subscription_create'), invoice(2, 'subscription_cycle')];
		for (const [type, object] of [['checkout.session.completed', first], ['invoice.paid', begun], ['invoice.paid', renewal]]) {
			assert.equal((await stripe.send({ id: `evt_${randomUUID()}`, object: 'event', type, livemode: true, created: NOW, data: { object } })).status, 200);
		}
		assert.equal((await fixture.stack.sql('SELECT FROM urlmode.payment')).length, 2);
		const open = { ...invoice(3, 'subscription_cycle'), status: 'open' };
		const others = { ...invoice(4, 'manual'), parent: null };
		const { status, out } = await reconcile('stripe', [page(first), page(begun, renewal, open, others)]);
		assert.deepEqual([status, out], [0, '2 the same, 0 differ, 1 name no elicitation of this database\n']);
		const without = await reconcile('stripe', [page(first)]);
		assert.match(without.out, new RegExp(`^unlisted\\tin_${id}_2: .*, of ${id}: `));
		assert.match(without.out, /^1 the same, 1 differ/m);
	});

	test('it reads only: rows and events stay as they are', async () => {
		const state = () => fixture.stack.sql(`SELECT (SELECT md5(string_agg(e::text, '' ORDER BY id)) FROM urlmode.elicitation e) AS rows,
			(SELECT count(*) FROM urlmode.event) AS events, (SELECT count(*) FROM urlmode.payment) AS payments`);
		const before = await state();
		await reconcile('stripe', page(session({}), await session({ client_reference_id: randomUUID() })));
		assert.deepEqual(await state(), before);
	});

	for (const [title, content, reason] of [
		['no JSON', 'Id,Amount\n', /0: byte \d+: /],
		['JSON without the list', { data: {} }, /there is no list at `rows`/],
		['no row', page(), /no row could be read: it is empty, or another list/],
		['other members', page({ ...session({}), amount_total: undefined }), /row 1: \/amount or \/currency is not there/],
		['no reference', page(session({ id: null })), /row 1: \/reference is not there/],
		['another time', page(session({ created: 'yesterday' })), /row 1: \/time is not there, or has another form/],
		['a fraction of the unit', page(session({}), session({ currency: 'isk', amount_total: 550 })), /row 2: \/amount is not a whole number/],
		['a member twice', '{"data":[{"id":1,"id":2}]}', /byte \d+: /],
		['bad UTF-8', Buffer.from('{"data":["\xff"]}', 'latin1'), /byte \d+: /],
		['what a terminal obeys', page(session({ payment_intent: 'a\x1b[31mb' })), /row 1: \/reference/],
	]) {
		test(`a file with ${title} is refused, with the place`, async () => {
			const { status, out, err } = await reconcile('stripe', content);
			assert.deepEqual([status, out], [1, '']);
			assert.match(err, reason);
			assert.doesNotMatch(err, /\x1b/);
		});
	}

	test('a file that is too large, and one that is not there', async () => {
		const { status, err } = await reconcile('stripe', Buffer.alloc(64 * 1_024 * 1_024 + 1, ' '));
		assert.equal(status, 1);
		assert.match(err, /more than|too large|67108864/);
		assert.equal((await urlmode(['reconcile', 'stripe', '--from', '1d', path.join(folder, 'none')], env)).status, 1);
	});

	test('ten thousand rows', async () => {
		await fixture.stack.sql('DELETE FROM urlmode.payment');
		const rows = Array.from({ length: 10_000 }, (_, n) => session({ client_reference_id: `cart-${n}` }));
		const { status, out } = await reconcile('stripe', page(...rows));
		assert.deepEqual([status, out], [0, '0 the same, 0 differ, 10000 name no elicitation of this database\n']);
	});
});

describe('CSV', () => {
	const HEADER = 'Id/Payment,Order,Paid at,Status,Gross,Currency,Mode,Note';
	const at = new Date(NOW * 1_000).toISOString();
	const row = (id, more = '') => `p1,${id},${at},paid,10.50,EUR,live,${more}`;

	test('quotes, commas and new lines in a field, a byte order mark, and both ends of a line', async () => {
		const { id } = await fixture.createPayment('books', { expected: PRICE });
		for (const text of [`${HEADER}\r\n${row(id, '"a, ""b""\r\nc"')}\r\n`, `\ufeff${HEADER}\n${row(id)}`, `${HEADER}\n"p1",${row(id).slice(3)}\n`]) {
			const { status, out, err } = await reconcile('books', text);
			assert.deepEqual([status, err], [1, '']);
			assert.match(out, new RegExp(`^missing\tp1: 1050 EUR, of ${id}`));
		}
	});

	for (const [title, text, reason] of [
		['other columns', 'Id,Amount\np1,10.50\n', /no row has a \/reference/],
		['no row', `${HEADER}\n`, /no row could be read/],
		['too few fields', `${HEADER}\n${row(randomUUID())}\np2,x\n`, /line 3 has another number of fields/],
		['an open quote', `${HEADER}\n"p1`, /line 2 has a quote that is not closed/],
		['text after a quote', `${HEADER}\n"p1"x,,,,,,,\n`, /line 2 has text after a quoted field/],
		['a column twice', `${HEADER},Note\n${row(randomUUID())},x\n`, /line 2: /],
		['bad UTF-8', Buffer.from(`${HEADER}\n\xff,,,,,,,\n`, 'latin1'), /line 2 is not UTF-8/],
		['a fraction of a cent', `${HEADER}\n${row(randomUUID()).replace('10.50', '10.505')}\n`, /line 2: \/amount is not a decimal number/],
	]) {
		test(`a file with ${title} is refused, with the place`, async () => {
			const { status, out, err } = await reconcile('books', text);
			assert.deepEqual([status, out], [1, '']);
			assert.match(err, reason);
		});
	}
});

test('a provider without a list is refused, and so is one that is not configured', async () => {
	for (const provider of ['demo', 'nobody', '../x']) {
		const { status, err } = await reconcile(provider, page());
		assert.equal(status, 1);
		assert.match(err, /has no such provider, or its description has no `reconcile`/);
	}
});
