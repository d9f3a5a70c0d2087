// Claims, checks and rechecks over HTTP, and the whole way of a payment in five calls. Everything goes through nginx.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';

import { sharedOf } from '../../lib/node/src/core/internals.js';
import { UrlMode as NodeUrlMode } from '../../lib/node/src/index.js';
import { UrlMode } from '../../lib/node/src/http/index.js';
import { startApi } from '../support/api.mjs';
import { Browser } from '../support/browser.mjs';
import { sender } from '../support/deliveries.mjs';
import { press } from '../support/flow.mjs';

let api;

before(async () => {
	api = await startApi('api-claims');
});

after(() => api?.close());

const PRICE = { amount: 1_050, currency: 'EUR' };
const rowOf = (id) => api.stack.elicitation(id);
let number = 0;

/** A payment that is paid. */
async function paid(subject = 'ada') {
	const { id } = await api.ok('create', { provider: 'stripe', kind: 'payment', subject, item: randomUUID(), expected: PRICE, target_url: 'https://checkout.stripe.com/c/pay' }, 201);
	const reference = `pi_${number += 1}`;
	await api.ok('complete', { id, subject, action: 'accept', ...PRICE, reference });
	return { id, subject, reference };
}

const begin = ({ id, subject }, more = {}) => api.ok('begin_claim', { id, subject, lease_ms: 30_000, ...more });
const owner = ({ id, subject }) => ({ id, subject });

test('the whole way of a payment in five calls, as nginx/API.md shows it, with a webhook that its provider has signed', async () => {
	const text = await readFile(new URL('../../nginx/API.md', import.meta.url), 'utf8');
	const [, section] = /^## The way of a payment[^]*?\n([^]*?)^## /m.exec(text);
	const blocks = (language) => [...section.matchAll(new RegExp(`^   \`\`\`${language}\\n([^]*?)^   \`\`\`$`, 'gm'))].map(([, block]) => block.replaceAll(/^ {3}/gm, ''));
	const [calls, shown] = [blocks('sh'), blocks('json').map((json) => JSON.parse(json))];
	assert.deepEqual([calls.length, shown.length], [5, 5]);
	const env = { PATH: process.env.PATH, URL: api.stack.env.URLMODE_API_URL, KEY: api.key, CHECKOUT: 'cs_five', CHECKOUT_URL: 'https://checkout.stripe.com/c/pay/cs_five', SEEN: '', CLAIM_ID: randomUUID() };
	/** Runs the next call; its answer has the members that the document shows. */
	const next = async (more = {}) => {
		const { stdout } = await promisify(execFile)('bash', ['-euc', calls.shift()], { env: { ...env, ...more } });
		const [answer, expected] = [JSON.parse(stdout), shown.shift()];
		const [one, other] = [answer, expected].map(({ elicitations: [first] = [], ...rest }) => Object.keys(first ?? rest).sort());
		assert.deepEqual(one, other, stdout);
		return answer;
	};
	const { needs, id, amount } = await next();
	assert.deepEqual([needs, amount, await rowOf(id)], ['target_url', 1_050, undefined]);
	env.ID = id;
	const { url } = await next();
	const { elicitations: [{ seen }] } = await api.ok('wait', { of: [{ id, subject: 'ada' }], for_ms: 0 });
	const waiting = next({ SEEN: seen });
	const browser = new Browser();
	assert.equal((await press(browser, await browser.open(url), 'continue')).location, env.CHECKOUT_URL);
	const stripe = sender({ stack: api.stack, url: (where) => new URL(where, api.stack.baseUrl) }, 'stripe');
	assert.equal((await stripe.send(stripe.event(id, 'paid', { ...PRICE, reference: env.CHECKOUT }))).status, 200);
	let { elicitations: [outcome] } = await waiting;
	// The first move may be that the user has opened the link.
	while (outcome.status !== 'completed') ({ elicitations: [outcome] } = await api.ok('wait', { of: [{ id, subject: 'ada', seen: outcome.seen }], for_ms: 60_000 }));
	assert.deepEqual([outcome.action, outcome.amount, outcome.currency], ['accept', 1_050, 'EUR']);
	const { state, fence, reference } = await next();
	assert.deepEqual([state, reference], ['begun', outcome.reference]);
	assert.deepEqual(await next({ FENCE: String(fence) }), {});
	assert.deepEqual(await api.error('begin_claim', { id, subject: 'ada', lease_ms: 30_000 }), [409, 'taken']);
});

describe('claim', () => {
	test('once, and no second time', async () => {
		const payment = await paid();
		assert.deepEqual(await api.ok('claim', { ...owner(payment), reference: payment.reference }), { reference: payment.reference });
		assert.deepEqual(await api.error('claim', { ...owner(payment), reference: payment.reference }), [409, 'taken']);
	});

	test('names the payment that it has claimed, whatever it was asked for', async () => {
		const payment = await paid();
		assert.deepEqual(await api.ok('claim', owner(payment)), { reference: payment.reference });
		assert.deepEqual(await api.error('claim', owner(payment)), [409, 'taken']);
		// By the id of the checkout, where the payment has a name of its own by now.
		const other = await paid();
		await api.stack.sql("UPDATE urlmode.payment SET checkout = 'cs_named' WHERE elicitation = $1", [other.id]);
		assert.deepEqual(await api.ok('claim', { ...owner(other), reference: 'cs_named' }), { reference: other.reference });
		// An account has none, whatever is asked for.
		const { id } = await api.ok('create', { provider: 'github', kind: 'oauth', subject: 'ada', target_url: 'https://github.com/' }, 201);
		await api.ok('complete', { id, subject: 'ada', action: 'accept', result: { code: 'abc' } });
		assert.deepEqual(await api.ok('claim', { id, subject: 'ada', reference: 'pi_none' }), { reference: null });
	});

	test('not what is open, and not what is another owner\'s', async () => {
		const { id } = await api.ok('create', { provider: 'github', kind: 'oauth', subject: 'ada', target_url: 'https://github.com/' }, 201);
		assert.deepEqual(await api.error('claim', { id, subject: 'ada' }), [409, 'open']);
		assert.deepEqual(await api.error('claim', { id, subject: 'eve' }), [404, 'not_found']);
		const shop = await api.as('shop', 'shop');
		const payment = await paid();
		assert.deepEqual(await shop.error('claim', owner(payment)), [404, 'not_found']);
		assert.deepEqual(await shop.error('begin_claim', { ...owner(payment), lease_ms: 1_000 }), [404, 'not_found']);
	});

	test('a refusal as such', async () => {
		const { id } = await api.ok('create', { provider: 'github', kind: 'oauth', subject: 'ada', target_url: 'https://github.com/' }, 201);
		await api.ok('cancel', { id, subject: 'ada' });
		assert.deepEqual(await api.error('claim', { id, subject: 'ada' }), [409, 'changed']);
		assert.deepEqual(await api.ok('claim', { id, subject: 'ada', action: 'cancel' }), { reference: null });
	});
});

describe('a claim under a lease', () => {
	test('one at a time, for as long as it lasts', async () => {
		const payment = await paid();
		const { fence, reference } = await begin(payment);
		assert.equal(reference, payment.reference);
		const { status, body: { error } } = await api.call('begin_claim', { ...owner(payment), lease_ms: 1_000 });
		assert.deepEqual([status, error.code], [409, 'leased']);
		assert.ok(error.left_ms > 0 && error.left_ms <= 30_000, `${error.left_ms}`);
		assert.deepEqual(await api.ok('renew_claim', { ...owner(payment), fence, lease_ms: 60_000 }), {});
		assert.deepEqual(await api.error('renew_claim', { ...owner(payment), fence: fence + 1, lease_ms: 1_000 }), [409, 'lost']);
		assert.deepEqual(await api.ok('release_claim', { ...owner(payment), fence }), {});
		assert.deepEqual(await api.error('release_claim', { ...owner(payment), fence }), [409, 'lost']);
		const next = await begin(payment);
		assert.ok(next.fence > fence);
	});

	test('a claim_id makes it repeatable', async () => {
		const payment = await paid();
		const claim = randomUUID();
		const first = await begin(payment, { claim_id: claim });
		assert.deepEqual(await begin(payment, { claim_id: claim }), first);
		assert.deepEqual(await api.error('begin_claim', { ...owner(payment), lease_ms: 1_000, claim_id: randomUUID() }), [409, 'leased']);
	});

	test('what is fulfilled is given to the next call, until it is confirmed', async () => {
		const payment = await paid();
		const { fence } = await begin(payment);
		const result = { content: [{ type: 'text', text: 'Zoë \u0000 😀' }], n: 1.5, none: null };
		assert.deepEqual(await api.ok('fulfil_claim', { ...owner(payment), fence, result }), {});
		const again = await begin(payment);
		assert.deepEqual([again.state, again.result, again.reference], ['fulfilled', result, payment.reference]);
		assert.deepEqual(await api.ok('confirm_claim', { ...owner(payment), fence: again.fence }), {});
		assert.deepEqual(await api.error('begin_claim', { ...owner(payment), lease_ms: 1_000 }), [409, 'taken']);
		assert.deepEqual(await api.error('confirm_claim', { ...owner(payment), fence: again.fence + 7 }), [409, 'lost']);
	});

	test('money that is held is claimed by whoever asks for any payment, or names it and says nothing else', async () => {
		const payment = await paid();
		const { reference } = payment;
		await api.stack.sql('UPDATE urlmode.payment SET held = true WHERE elicitation = $1', [payment.id]);
		assert.deepEqual(await api.error('begin_claim', { ...owner(payment), reference, any_payment: false, lease_ms: 1_000 }), [409, 'taken']);
		assert.deepEqual(await api.error('begin_claim', { ...owner(payment), lease_ms: 1_000 }), [409, 'taken']);
		for (const more of [{}, { any_payment: true }]) {
			const { state, fence } = await begin(payment, { reference, ...more });
			assert.equal(state, 'begun');
			await api.ok('release_claim', { ...owner(payment), fence });
		}
		const urlmode = new UrlMode({ url: api.stack.env.URLMODE_API_URL, key: api.key });
		assert.deepEqual(await urlmode.beginClaim(payment.id, { subject: 'ada', reference }), { state: 'taken' });
		const claim = await urlmode.beginClaim(payment.id, { subject: 'ada', reference, anyPayment: true });
		await claim.end('delivered');
		await urlmode.close();
	});

	test('also a result of many megabytes, in a body of its own limit', async () => {
		const payment = await paid();
		const { fence } = await begin(payment);
		const result = { text: 'x'.repeat(12 * 1_024 * 1_024) };
		assert.deepEqual(await api.ok('fulfil_claim', { ...owner(payment), fence, result }), {});
		assert.deepEqual((await begin(payment)).result, result);
		const other = await paid();
		const { fence: next } = await begin(other);
		assert.deepEqual(await api.error('fulfil_claim', { ...owner(other), fence: next, result: { text: 'x'.repeat(17 * 1_024 * 1_024) } }), [400, 'invalid_request', 'result']);
		assert.deepEqual(await api.error('fulfil_claim', { ...owner(other), fence: next, result: { text: 'x'.repeat(33 * 1_024 * 1_024) } }), [413, 'too_large']);
		// What cannot be kept is not final: its lease goes on until the answer was written. Otherwise the next call makes it again, for the same payment.
		assert.deepEqual(await api.error('begin_claim', { ...owner(other), lease_ms: 1_000 }), [409, 'leased']);
		assert.deepEqual(await api.ok('renew_claim', { ...owner(other), fence: next, lease_ms: 30_000 }), {});
		assert.deepEqual(await api.ok('release_claim', { ...owner(other), fence: next }), {});
		const { state, reference, fence: last } = await begin(other);
		assert.deepEqual([state, reference, last > next], ['begun', other.reference, true]);
		assert.deepEqual(await api.ok('confirm_claim', { ...owner(other), fence: last }), {});
		assert.deepEqual(await api.error('begin_claim', { ...owner(other), lease_ms: 1_000 }), [409, 'taken']);
	});

	test('an account has no lease: its claim is final, and its end says whether it is connected', async () => {
		const account = async () => {
			const { id } = await api.ok('create', { provider: 'github', kind: 'oauth', subject: 'ada', target_url: 'https://github.com/' }, 201);
			await api.ok('complete', { id, subject: 'ada', action: 'accept', result: { code: 'abc' } });
			return { id, subject: 'ada' };
		};
		const [one, other] = [await account(), await account()];
		assert.deepEqual(await begin(one), { state: 'begun', reference: null, fence: null });
		assert.deepEqual(await api.error('begin_claim', { ...one, lease_ms: 1_000 }), [409, 'taken']);
		assert.deepEqual(await api.ok('fulfil_claim', one), {});
		await begin(other);
		assert.deepEqual(await api.ok('release_claim', { ...other, reason: 'access_denied' }), {});
		assert.deepEqual([(await api.stack.elicitation(one.id)).exchange, (await api.stack.elicitation(other.id)).exchange], ['', 'access_denied']);
	});

	test('the next round of a call goes on with its claim, once; otherwise it begins as every other', async () => {
		const payment = await paid();
		const { fence } = await begin(payment);
		const next = await begin(payment, { fence });
		assert.deepEqual([next.state, next.reference, next.fence > fence, 'money' in next], ['begun', payment.reference, true, false]);
		assert.deepEqual(await api.error('renew_claim', { ...owner(payment), fence, lease_ms: 1_000 }), [409, 'lost'], 'that of before is over');
		assert.deepEqual(await api.error('begin_claim', { ...owner(payment), lease_ms: 1_000, fence }), [409, 'leased'], 'it follows once');
		await api.stack.sql('UPDATE urlmode.payment SET refunded = amount, refunded_at = now() WHERE elicitation = $1', [payment.id]);
		const last = await begin(payment, { fence: next.fence });
		assert.equal(last.money, 'refunded');
		assert.deepEqual(await api.ok('release_claim', { ...owner(payment), fence: last.fence }), {});
		assert.deepEqual(await api.error('begin_claim', { ...owner(payment), lease_ms: 1_000, fence: last.fence }), [409, 'taken'], 'nobody gets what went back');
		assert.deepEqual(await api.error('begin_claim', { ...owner(payment), subject: 'eve', lease_ms: 1_000, fence: 1 }), [404, 'not_found']);
	});

	test('members that are wrong', async () => {
		const payment = await paid();
		const cases = [
			['begin_claim', { lease_ms: 1_000, fence: 0 }, 'fence'],
			['begin_claim', {}, 'lease_ms'], ['begin_claim', { lease_ms: 999 }, 'lease_ms'], ['begin_claim', { lease_ms: 1_000, claim_id: 'x' }, 'claim_id'],
			['renew_claim', { lease_ms: 1_000 }, 'fence'], ['fulfil_claim', { fence: 1 }, 'result'], ['fulfil_claim', { fence: 1, result: 1, end: 'lost' }, 'end'],
			['fulfil_claim', { fence: 1, result: 1, refund: 're_1' }, 'refund'], ['confirm_claim', {}, 'fence'], ['release_claim', { fence: 'x' }, 'fence'], ['claim', { reference: '' }, 'reference'],
		];
		for (const [method, members, member] of cases) assert.deepEqual(await api.error(method, { ...owner(payment), ...members }), [400, 'invalid_request', member], method);
	});
});

describe('what clients have answered', () => {
	const client = { name: 'Claude Code', version: '2.1' };
	const asked = async () => owner({ ...await api.ok('create', { provider: 'github', kind: 'oauth', subject: 'ada', resume_key: randomUUID(), target_url: 'https://github.com/' }, 201), subject: 'ada' });

	test('is kept with the row, as the packages read it, for this client alone', async () => {
		const row = await asked();
		const earlier = async (more) => (await api.ok('begin_ask', { ...row, client, ...more })).earlier;
		assert.equal(await earlier(), null);
		assert.deepEqual(await api.ok('end_ask', { ...row, client, answer: 'declined' }), {});
		assert.equal(await earlier(), 'declined');
		assert.equal(await earlier({ client: { ...client, version: '2.2' } }), null);
		assert.equal(await earlier({ client: {} }), null, 'a client that says no name is one as well');
		const urlmode = new NodeUrlMode({ databaseUrl: api.stack.env.URLMODE_DATABASE_URL, keysFile: api.stack.env.URLMODE_KEYS_FILE, baseUrl: api.stack.baseUrl });
		try {
			const { asks } = sharedOf(urlmode);
			assert.equal(await asks.begin({ ...row, session: '', client }, true), 'declined');
			await asks.end({ ...row, session: '', client: {} }, 'dismissed');
			assert.equal(await earlier({ client: {} }), 'dismissed');
		} finally {
			await urlmode.close();
		}
		assert.deepEqual(await api.ok('end_ask', { ...row, client, answer: 'accepted' }), {});
		assert.equal(await earlier(), null, 'it is forgotten');
		assert.deepEqual((await rowOf(row.id)).status, 'pending', 'an answer moves nothing');
	});

	test('an answer that comes with the next call is awaited, and its absence is a failure', async () => {
		const row = await asked();
		const begun = [];
		for (let n = 0; n < 3; n += 1) begun.push((await api.ok('begin_ask', { ...row, client, awaited: true })).earlier);
		assert.deepEqual(begun, [null, 'asked', 'failed']);
	});

	test('members that are wrong', async () => {
		const row = await asked();
		const cases = [
			['begin_ask', {}, 'client'], ['begin_ask', { client: 'x' }, 'client'], ['begin_ask', { client: { name: 1 } }, 'client.name'], ['begin_ask', { client: { title: 'x' } }, 'client.title'],
			['begin_ask', { client: { version: 'x'.repeat(8_193) } }, 'client.version'], ['begin_ask', { client, awaited: 1 }, 'awaited'], ['begin_ask', { client, answer: 'declined' }, 'answer'],
			['end_ask', { client }, 'answer'], ['end_ask', { client, answer: 'refused' }, 'answer'], ['end_ask', { answer: 'declined' }, 'client'],
		];
		for (const [method, members, member] of cases) assert.deepEqual(await api.error(method, { ...row, ...members }), [400, 'invalid_request', member], method);
		for (const each of [{ ...row, subject: 'eve' }, { ...row, id: randomUUID() }]) {
			assert.deepEqual(await api.error('begin_ask', { ...each, client }), [404, 'not_found']);
			assert.deepEqual(await api.error('end_ask', { ...each, client, answer: 'declined' }), [404, 'not_found']);
		}
	});
});

describe('what wait asks the server', () => {
	test('a value is checked by one call at a time, and has a problem, or is good', async () => {
		const { id } = await api.ok('create', { provider: 'intake', kind: 'input', subject: 'ada', form: { title: 'T', fields: [{ name: 'a', label: 'A', type: 'text' }] }, verify_ms: 60_000 }, 201);
		const type = async (value) => {
			// What the page does: it seals what was typed.
			const { seal } = await import('../../lib/node/src/core/seal.js');
			const { openKeys } = await import('../../lib/node/src/core/keys.js');
			const { binding } = await api.stack.elicitation(id);
			const sealed = seal(openKeys(api.stack.env.URLMODE_KEYS_FILE), { id, binding, use: 'urlmode result v1' }, JSON.stringify({ values: { a: value } }));
			await api.stack.sql("UPDATE urlmode.elicitation SET status = 'processing', result = $2, opened_at = coalesce(opened_at, now()) WHERE id = $1", [id, sealed]);
			await api.stack.sql("UPDATE urlmode.form SET check_until = now() + interval '60 seconds', checks = checks + 1 WHERE elicitation = $1", [id]);
		};
		const of = (more = {}) => [{ id, subject: 'ada', ...more }];
		await type('wrong');
		const { elicitations: [asked] } = await api.ok('wait', { of: of({ can: ['check'] }), for_ms: 10_000 });
		assert.deepEqual(asked.check.values, { a: 'wrong' });
		assert.ok(asked.check.left_ms > 0 && asked.check.left_ms <= 60_000);
		assert.equal(asked.result, null, 'it is nobody\'s yet');
		const { elicitations: [other] } = await api.ok('wait', { of: of({ can: ['check'] }), for_ms: 10_000 });
		assert.equal(other.check, undefined, 'another call has the lease');
		assert.deepEqual(await api.error('end_check', { id, subject: 'ada', lease: 'x' }), [400, 'invalid_request', 'lease']);
		assert.deepEqual(await api.error('end_check', { id, subject: 'ada', lease: asked.check.lease, problem: { field: 'a' } }), [400, 'invalid_request', 'problem']);
		assert.deepEqual(await api.ok('end_check', { id, subject: 'ada', lease: asked.check.lease, problem: { field: 'a', problem: 'It is wrong.' } }), { outcome: 'opened' });
		assert.deepEqual(await api.error('end_check', { id, subject: 'ada', lease: asked.check.lease }), [409, 'lost']);
		await type('right');
		const { elicitations: [again] } = await api.ok('wait', { of: of({ seen: other.seen, can: ['check'] }), for_ms: 10_000 });
		assert.deepEqual(await api.ok('end_check', { id, subject: 'ada', lease: again.check.lease }), { outcome: 'completed' });
		const { elicitations: [ended] } = await api.ok('wait', { of: of(), for_ms: 0 });
		assert.deepEqual([ended.action, ended.result], ['accept', { values: { a: 'right' } }]);
	});

	test('a payment is rechecked by one call at a time, and what the provider has completes it', async () => {
		const { id } = await api.ok('create', { provider: 'stripe', kind: 'payment', subject: 'ada', item: randomUUID(), expected: PRICE, target_url: 'https://checkout.stripe.com/c/pay', checkout: 'cs_recheck' }, 201);
		const owned = { id, subject: 'ada' };
		await api.stack.sql("INSERT INTO urlmode.recheck (elicitation, event_type, unproven_references, rechecks) VALUES ($1, 'payment.updated', '{pi_r}', 1)", [id]);
		const { elicitations: [asked] } = await api.ok('wait', { of: [{ ...owned, can: ['recheck'] }], for_ms: 10_000 });
		const { lease, ...rest } = asked.recheck;
		assert.deepEqual(rest, { provider: 'stripe', type: 'payment.updated', references: ['pi_r'], expected: PRICE, checkout: 'cs_recheck' });
		const { elicitations: [other] } = await api.ok('wait', { of: [{ ...owned, can: ['recheck'] }], for_ms: 10_000 });
		assert.equal(other.recheck, undefined);
		for (const [body, member] of [[{ payments: [{ reference: 'a' }] }, 'payments[0].amount'], [{ payments: [], failed: true }, 'failed'], [{ refunds: [{ reference: 'a', payment: 'b', amount: 1, status: 'x' }] }, 'refunds[0].status']]) {
			assert.deepEqual(await api.error('end_recheck', { ...owned, lease, ...body }), [400, 'invalid_request', member]);
		}
		const { outcomes } = await api.ok('end_recheck', { ...owned, lease, payments: [{ reference: 'pi_r', ...PRICE, status: 'paid', id }] });
		assert.equal(outcomes.length, 1);
		const { elicitations: [ended] } = await api.ok('wait', { of: [owned], for_ms: 0 });
		assert.deepEqual([ended.action, ended.reference, ended.result], ['accept', 'pi_r', { amount: 1_050, currency: 'EUR', reference: 'pi_r' }]);
	});

	test('a claim begins after the provider was asked, by the call that gets the lease', async () => {
		const { id } = await api.ok('create', { provider: 'stripe', kind: 'payment', subject: 'ada', item: randomUUID(), expected: PRICE, target_url: 'https://checkout.stripe.com/c/pay', checkout: `cs_${randomUUID()}` }, 201);
		const owned = { id, subject: 'ada' };
		await api.stack.sql("INSERT INTO urlmode.recheck (elicitation, event_type, unproven_references, rechecks) VALUES ($1, 'payment.updated', '{pi_c}', 1)", [id]);
		const { elicitations: [{ recheck: { lease } }] } = await api.ok('wait', { of: [{ ...owned, can: ['recheck'] }], for_ms: 10_000 });
		const payments = [{ reference: `pi_${id}`, ...PRICE, status: 'paid', id }];
		await api.ok('end_recheck', { ...owned, lease, payments });
		// All events are answered, and the answer is older than a moment.
		const begin = { ...owned, lease_ms: 30_000, recheck_after_ms: 0 };
		const { status, body: { error: { code, recheck, left_ms: left } } } = await api.call('begin_claim', begin);
		assert.deepEqual([status, code, left, recheck.provider, recheck.expected], [409, 'recheck', undefined, 'stripe', PRICE]);
		for (const [method, asked] of [['begin_claim', begin], ['claim', { ...owned, recheck_after_ms: 0 }]]) {
			const other = await api.call(method, asked);
			assert.deepEqual([other.status, other.body.error.code, other.body.error.recheck], [409, 'recheck', undefined]);
			assert.ok(other.body.error.left_ms > 0);
		}
		// Meanwhile all of it went back.
		await api.ok('end_recheck', { ...owned, lease: recheck.lease, payments, refunds: [{ reference: 're_c', payment: `pi_${id}`, amount: PRICE.amount, status: 'paid', id }] });
		const { body } = await api.call('begin_claim', { ...begin, recheck_after_ms: 60_000 });
		assert.deepEqual([body.error?.code, body.fence], ['taken', undefined], JSON.stringify(body));
	});

	test('a claim with both ends at once gets the lease as well, and a caller that cannot ask is not stopped', async () => {
		const payment = await paid();
		await api.stack.sql("INSERT INTO urlmode.recheck (elicitation, event_type, unproven_references, rechecks) VALUES ($1, 'payment.updated', '{}', 1)", [payment.id]);
		const { status, body: { error: { code, recheck } } } = await api.call('claim', { ...owner(payment), recheck_after_ms: 0 });
		assert.deepEqual([status, code, recheck.provider], [409, 'recheck', 'stripe']);
		await api.ok('end_recheck', { ...owner(payment), lease: recheck.lease });
		assert.deepEqual(await api.ok('claim', { ...owner(payment), reference: payment.reference, recheck_after_ms: 60_000 }), { reference: payment.reference });
		const other = await paid();
		await api.stack.sql("INSERT INTO urlmode.recheck (elicitation, event_type, unproven_references, rechecks) VALUES ($1, 'payment.updated', '{}', 1)", [other.id]);
		await api.ok('claim', owner(other));
	});

	test('a recheck that has failed can be begun again', async () => {
		const { id } = await api.ok('create', { provider: 'stripe', kind: 'payment', subject: 'ada', item: randomUUID(), expected: PRICE, target_url: 'https://checkout.stripe.com/c/pay' }, 201);
		await api.stack.sql("INSERT INTO urlmode.recheck (elicitation, event_type, unproven_references, rechecks) VALUES ($1, 'payment.updated', '{}', 1)", [id]);
		const of = [{ id, subject: 'ada', can: ['recheck'] }];
		const { elicitations: [{ recheck: { lease }, seen }] } = await api.ok('wait', { of, for_ms: 10_000 });
		assert.deepEqual(await api.ok('end_recheck', { id, subject: 'ada', lease, failed: true }), {});
		const { elicitations: [again] } = await api.ok('wait', { of: [{ ...of[0], seen }], for_ms: 30_000 });
		assert.notEqual(again.recheck.lease, lease);
		assert.deepEqual(await api.ok('end_recheck', { id, subject: 'ada', lease: again.recheck.lease }), {});
	});
});
