// Providers that have changed what they sign, or what they send, through nginx:
// the old way and the new one are taken, and neither lets anybody replace the
// other by something weaker.

import assert from 'node:assert/strict';
import { createHmac, randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';

import { post, sender } from '../support/deliveries.mjs';
import { openFixture } from '../support/fixture.mjs';

const PRICE = { amount: 1050, currency: 'EUR' };
const hmac = (key, text, encoding = 'hex') => createHmac('sha256', key).update(text).digest(encoding);

let fixture;

before(async () => {
	fixture = await openFixture({ name: 'schemes' });
});

after(() => fixture?.close());

const create = (from, provider) => fixture.create({
	provider, kind: from.kind, targetUrl: 'https://checkout.example/pay', ...from.kind === 'payment' && { expected: PRICE },
});

/** Whether the wait of this elicitation asks the provider's API, and what it then ends with. */
async function isAsked({ id, owner }, send) {
	let asked = false;
	const outcome = fixture.urlmode.waitForCompletion(id, {
		...owner,
		recheck: ({ reference }) => {
			asked = reference;
			return { action: 'accept', ...PRICE, reference };
		},
	});
	const answer = await send();
	assert.equal(answer.status, 200, answer.body);
	assert.equal((await outcome).action, 'accept');
	return asked;
}

const refused = async (answer, code) => {
	const { status, body } = await answer;
	assert.equal(status, 401, body);
	assert.ok(body.startsWith(`${code}: `), body);
};

describe('docuseal: a signature since May 2026, and a token before it', () => {
	const body = (id, type = 'form.completed') => JSON.stringify({
		event_type: type, data: { submission_id: `s-${id}`, external_id: id, submission: { status: 'completed' } },
	});
	const send = (text, headers) => post({ url: fixture.url('/webhook/docuseal'), method: 'POST', body: text, headers: { 'Content-Type': 'application/json', ...headers } });
	const signature = (text, secret, time = Math.floor(Date.now() / 1000)) => ({ 'X-Docuseal-Signature': `${time}.${hmac(secret, `${time}.${text}`)}` });
	let from, secret, token;

	before(() => {
		from = sender(fixture, 'docuseal');
		[secret, token] = from.provider.secrets;
	});

	test('signed, it is accepted, and refused by the user, it is declined', async () => {
		for (const [type, action] of [['form.completed', 'accept'], ['form.declined', 'decline']]) {
			const elicitation = await create(from, 'docuseal');
			const text = body(elicitation.id, type);
			const answer = await send(text, { ...signature(text, secret), 'X-DocuSeal-Secret': token });
			assert.equal(answer.status, 200, answer.body);
			assert.equal((await fixture.urlmode.waitForCompletion(elicitation.id, elicitation.owner)).action, action);
		}
	});

	test('with a token alone, it asks the API, and a signature that follows is another event', async () => {
		const elicitation = await create(from, 'docuseal');
		const text = body(elicitation.id);
		const before = await fixture.row(elicitation.id);
		assert.equal((await send(text, { 'X-DocuSeal-Secret': token })).status, 200);
		assert.equal((await fixture.events(elicitation))[0].action, 'recheck');
		assert.equal(await fixture.row(elicitation.id), before);
		assert.equal((await send(text, signature(text, secret))).status, 200);
		assert.equal((await fixture.urlmode.waitForCompletion(elicitation.id, elicitation.owner)).action, 'accept');
	});

	test('whoever knows the token replaces no signature', async () => {
		const elicitation = await create(from, 'docuseal');
		const text = body(elicitation.id);
		const row = await fixture.row(elicitation.id);
		await refused(send(text, { ...signature(text, 'guessed'), 'X-DocuSeal-Secret': token }), 'signature_invalid');
		await refused(send(text, { ...signature(text, token, 1), 'X-DocuSeal-Secret': token }), 'timestamp_out_of_tolerance');
		await refused(send(text, { ...signature(text.replace('s-', 't-'), secret), 'X-DocuSeal-Secret': token }), 'signature_invalid');
		await refused(send(text, { 'X-DocuSeal-Secret': 'guessed' }), 'signature_invalid');
		await refused(send(text, {}), 'signature_missing');
		assert.equal(await fixture.row(elicitation.id), row);
		assert.deepEqual(await fixture.events(elicitation), []);
	});
});

test('shopify: under the old name of its header, the new one, and both, which must agree', async () => {
	const from = sender(fixture, 'shopify');
	const [secret] = from.provider.secrets;
	const deliver = async (elicitation, headers) => {
		const { body, ...delivery } = await from.deliver(from.event(elicitation.id, 'recheck', PRICE));
		return post({ ...delivery, body, headers: { 'Content-Type': 'application/json', ...headers(hmac(secret, body, 'base64')) } });
	};
	const wrong = hmac('guessed', '', 'base64');

	for (const headers of [
		(mac) => ({ 'X-Shopify-Hmac-Sha256': mac }), (mac) => ({ 'shopify-hmac-sha256': mac }), (mac) => ({ 'shopify-hmac-sha256': mac, 'X-Shopify-Hmac-Sha256': mac }),
	]) {
		const elicitation = await create(from, 'shopify');
		assert.ok(await isAsked(elicitation, () => deliver(elicitation, headers)));
	}
	const elicitation = await create(from, 'shopify');
	for (const headers of [
		() => ({ 'shopify-hmac-sha256': wrong }), (mac) => ({ 'shopify-hmac-sha256': wrong, 'X-Shopify-Hmac-Sha256': mac }),
		(mac) => ({ 'shopify-hmac-sha256': mac, 'X-Shopify-Hmac-Sha256': wrong }),
	])
		await refused(deliver(elicitation, headers), 'signature_invalid');
	assert.deepEqual(await fixture.events(elicitation), []);
});

test('xendit: the payment sessions and payments of v3 wake the waiter', async () => {
	const from = sender(fixture, 'xendit');
	const [first, second, third] = Array.from({ length: 3 }, () => `py-${randomUUID()}`);
	for (const [event, data, reference] of [
		['payment_session.completed', { payment_session_id: 'ps-1', payment_id: first }, first],
		['payment_session.expired', { payment_session_id: second }, second],
		['payment.capture', { payment_id: third, payment_request_id: 'pr-3' }, third],
	]) {
		const elicitation = await create(from, 'xendit');
		assert.equal(await isAsked(elicitation, () => from.send({ event, data: { reference_id: elicitation.id, ...data } })), reference);
	}
});

test('mercado-pago: an order, named in the body, and signed in either case', async () => {
	const from = sender(fixture, 'mercado-pago');
	const [secret] = from.provider.secrets;
	for (const change of [(id) => id, (id) => id.toLowerCase()]) {
		const order = `ORD${randomUUID().toUpperCase()}`;
		const elicitation = await create(from, 'mercado-pago');
		const body = JSON.stringify({ action: 'order.processed', type: 'order', data: { id: order, external_reference: elicitation.id, status: 'processed' } });
		const deliver = (key) => post({
			url: fixture.url(`/webhook/mercado-pago?data.id=${order}&type=order`), method: 'POST', body,
			headers: { 'Content-Type': 'application/json', 'x-request-id': 'r1', 'x-signature': `ts=1,v1=${hmac(key, `id:${change(order)};request-id:r1;ts:1;`)}` },
		});
		await refused(deliver('guessed'), 'signature_invalid');
		assert.equal(await isAsked(elicitation, () => deliver(secret)), order);
	}
});

test('slack: the check of the certificate is answered without a signature, and nothing else', async () => {
	const from = sender(fixture, 'slack');
	const elicitation = await create(from, 'slack');
	const { url, headers, body } = await from.deliver(from.event(elicitation.id, 'paid'));
	const type = { 'Content-Type': 'application/x-www-form-urlencoded' };
	const answer = await post({ url, method: 'POST', headers: type, body: 'token=x&ssl_check=1' });
	assert.deepEqual([answer.status, answer.body], [200, 'ok']);
	const smuggled = await post({ url, method: 'POST', headers: type, body: `${body}&ssl_check=1` });
	assert.deepEqual([smuggled.status, smuggled.body], [200, 'ok']);
	assert.deepEqual(await fixture.events(elicitation), []);
	await refused(post({ url, method: 'POST', headers: type, body }), 'signature_missing');
	await refused(post({ url, method: 'POST', headers: { ...headers, ...type }, body: `${body}&ssl_check=1` }), 'signature_invalid');
	assert.equal((await post({ url, method: 'POST', headers, body })).status, 200);
	assert.equal((await fixture.urlmode.waitForCompletion(elicitation.id, elicitation.owner)).action, 'accept');
});

test('github: a ping in JSON is taken, and one as a form is told what to set', async () => {
	const { provider: { secrets: [secret] } } = sender(fixture, 'github');
	const ping = JSON.stringify({ zen: 'Keep it logically awesome.', hook_id: 1 });
	const send = (body, type, key = secret) => post({
		url: fixture.url('/webhook/github'), method: 'POST', body, headers: { 'Content-Type': type, 'X-Hub-Signature-256': `sha256=${hmac(key, body)}` },
	});
	assert.equal((await send(ping, 'application/json')).status, 200);
	const form = new URLSearchParams({ payload: ping }).toString();
	const answer = await send(form, 'application/x-www-form-urlencoded');
	assert.equal(answer.status, 400);
	assert.match(answer.body, /^body_malformed: .* \/payload: is a form, not JSON: set the content type of the webhook to application\/json at the provider\n$/);
	await refused(send(form, 'application/x-www-form-urlencoded', 'guessed'), 'signature_invalid');
});
