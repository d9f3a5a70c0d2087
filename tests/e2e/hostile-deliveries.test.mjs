// Deliveries made to break what reads them, through nginx: correctly signed
// ones, which get as far as a stolen secret would bring them, and broken
// signatures. Each broken body is a unit test (tests/unit/test_spec_hostile.c and test_event_read.c,
// test_json.c, test_multipart.c, test_amount.c, test_verifier.c, and the
// fuzzers); here are some of each kind, and that the process survives them.

import assert from 'node:assert/strict';
import { createHmac, randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';

import { post, sender } from '../support/deliveries.mjs';
import { openFixture } from '../support/fixture.mjs';

const MANY = 300_000;

let fixture;
let stripe;
let program;

before(async () => {
	fixture = await openFixture({ name: 'hostile-deliveries' });
	stripe = sender(fixture, 'stripe');
	program = await fixture.stack.program('webhook');
});

after(() => fixture?.close());

const now = () => Math.floor(Date.now() / 1000);

/** These very bytes, signed as Stripe signs: its package would sign text only. */
function signed(bytes) {
	const body = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes);
	const time = now();
	const signature = createHmac('sha256', stripe.provider.secrets[0]).update(`${time}.`).update(body).digest('hex');
	return deliver('stripe', body, { 'Stripe-Signature': `t=${time},v1=${signature}` });
}

function deliver(provider, body, headers, query = '') {
	return { url: fixture.url(`/webhook/${provider}${query}`), method: 'POST', body, headers: { 'Content-Type': 'application/json', ...headers } };
}

/** It is answered so, and the process that answered goes on. */
async function answered(delivery, status, code) {
	const answer = await post(delivery);
	assert.equal(answer.status, status, answer.body);
	if (code) assert.ok(answer.body.startsWith(`${code}: `), answer.body);
	assert.equal((await fixture.stack.program('webhook')).pid, program.pid, 'it was started again');
}

/** A paid session of Stripe's, with raw JSON in some places. */
function paid(id, { event = `"evt_${randomUUID()}"`, amount = '1000', currency = '"eur"', reference = `"cs_${id}"` } = {}) {
	return `{"id":${event},"type":"checkout.session.completed","data":{"object":{"id":${reference},`
		+ `"client_reference_id":"${id}","payment_status":"paid","amount_total":${amount},"currency":${currency}}}}`;
}

describe('a body that is not JSON, or exceeds the limits, is refused with 400', () => {
	const bytes = (...parts) => Buffer.concat(parts.map((part) => Buffer.from(part)));

	for (const [what, body] of [
		['nothing', ''],
		['open brackets', '['.repeat(MANY)],
		['keys', `{${Array.from({ length: 70_000 }, (_, n) => `"${n}":[0,0]`).join()}}`],
		['a NUL in what decides', '{"type":"a\0b"}'],
		['a key twice that decides, spelled otherwise', '{"type":1,"\\u0074ype":2}'],
		['no UTF-8 in what decides', bytes('{"type":"', [0xff], '"}')],
	]) {
		test(what, () => answered(signed(body), 400, 'body_malformed'));
	}
});

describe('what nobody reads of a signed event is nobody\'s error: it pays', () => {
	for (const [what, member] of [
		['half a surrogate', '"name":"Jo\\ud83d"'],
		['an escaped NUL', '"name":"a\\u0000b"'],
		['a NUL', '"name":"a\0b"'],
		['a byte of Latin-1', Buffer.from('"name":"Jos\xe9"', 'latin1')],
		['a name twice', '"name":{"first":1,"first":2}'],
		['a decimal of 65 characters', `"rate":0.${'1'.repeat(63)}`],
		['a number that no type holds', '"rate":1e999'],
		['brackets', `"deep":${'['.repeat(50)}${']'.repeat(50)}`],
	]) {
		test(what, async () => {
			const { id } = await fixture.createPayment();
			const event = paid(id);
			await answered(signed(Buffer.concat([Buffer.from('{'), Buffer.from(member), Buffer.from(`,${event.slice(1)}`)])), 200);
			assert.match(await fixture.row(id), /completed.*accept/);
		});
	}

	test('a byte order mark', async () => {
		const { id } = await fixture.createPayment();
		await answered(signed(`\ufeff${paid(id)}`), 200);
		assert.match(await fixture.row(id), /completed.*accept/);
	});
});

describe('JSON that is not an event is accepted and ignored', () => {
	for (const body of ['[]', '{"type":"checkout.session.completed","data":{"object":[{"client_reference_id":1}]}}']) {
		test(body, () => answered(signed(body), 200));
	}
});

describe('an event with an invalid amount is refused with 400, and completes nothing', () => {
	for (const [what, change] of [
		['a negative amount', { amount: '-1' }],
		['no currency', { currency: '"e"' }],
	]) {
		test(what, async () => {
			const { id } = await fixture.createPayment();
			const before = await fixture.row(id);
			await answered(signed(paid(id, change)), 400, 'body_malformed');
			assert.equal(await fixture.row(id), before);
		});
	}
});

/** Beside the provider: what it calls the type, and what makes an event one of another mode or account. */
describe('a signed event that is not ours is ignored before its amount is read', () => {
	for (const [provider, type, others = {}] of [
		['stripe', 'type', { 'of the other mode': { livemode: false }, 'of another account': { account: 'acct_other' } }],
		['paystack', 'event', { 'of the other mode': { data: { domain: 'test' } } }],
		['paypal', 'event_type'], ['square', 'type'], ['paddle', 'event_type'], ['razorpay', 'event'], ['checkout-com', 'type'], ['polar', 'type'],
	]) {
		test(provider, async () => {
			const { send, event } = sender(fixture, provider);
			const { id } = await fixture.createPayment(provider);
			const before = await fixture.row(id);
			const broken = (who) => event(who, 'paid', { amount: -1, currency: 'EUR' });
			const status = async (what, name) => {
				const answer = await send(what);
				assert.ok([200, 400].includes(answer.status), `${name}: ${answer.status} ${answer.body}`);
				return answer.status;
			};

			assert.equal(await status(broken(id), 'ours'), 400);
			assert.equal(await status(broken('order 17'), "another system's"), 200);
			assert.equal(await status({ ...broken(id), [type]: 'something.else' }, 'of another type'), 200);
			for (const [name, { data, ...change }] of Object.entries(others)) {
				const whole = { ...broken(id), ...change };
				assert.equal(await status({ ...whole, data: { ...whole.data, ...data } }, name), 200, name);
				const list = { ...event(id, 'paid'), [type]: ['no type'] };
				assert.equal(await status(list, 'ours'), 400);
				assert.equal(await status({ ...list, ...change, data: { ...list.data, ...data } }, name), 200, `${name}, without a type`);
			}
			assert.equal(await fixture.row(id), before);
		});
	}
});

describe('an unusual event that can be read completes the payment', () => {
	for (const [what, change] of [
		['a name of a hundred thousand characters', { event: `"${'e'.repeat(100_000)}"` }],
		['a name with control characters', { event: `"evt\\n1\\u001b${randomUUID()}"` }],
		['a reference of a hundred thousand characters', { reference: `"${'r'.repeat(100_000)}"` }],
		['the largest amount', { amount: '9223372036854775807' }],
	]) {
		test(what, async () => {
			const { id } = await fixture.createPayment();
			await answered(signed(paid(id, change)), 200);
			const { action } = await fixture.stack.elicitation(id);
			assert.equal(action, 'accept');
		});
	}
});

describe('a broken signature is refused with 401', () => {
	const body = '{}';
	const good = () => signed(body).headers['Stripe-Signature'];

	for (const [what, header] of [
		['a thousand signatures', () => `t=${now()}${',v1=00'.repeat(1_000)}`],
		['a signature of 8 KB', () => `t=${now()},v1=${'0'.repeat(8_000)}`],
		['two times', () => `t=${now()},${good()}`],
		['no time', () => good().replace(/^t=\d+,/, '')],
		['bytes over 127', () => `t=${now()},v1=${'\u00ff'.repeat(64)}`],
	]) {
		test(what, () => answered(deliver('stripe', body, { 'Stripe-Signature': header() }), 401));
	}
});

describe('other forms of body', () => {
	const multipart = (boundary) => ({ 'Content-Type': `multipart/form-data; boundary=${boundary}` });

	for (const [what, headers, body] of [
		['an empty boundary', multipart(''), '----\r\n'],
		['nothing but boundaries', multipart('b'), '--b\r\n'.repeat(MANY / 10)],
		['headers that do not end', multipart('b'), `--b\r\n${'X: y\r\n'.repeat(MANY / 10)}`],
		['a bomb in a part', multipart('b'),
			`--b\r\nContent-Disposition: form-data; name="json"\r\n\r\n${'['.repeat(MANY)}\r\n--b--`],
	]) {
		test(what, async () => {
			const answer = await post(deliver('dropbox-sign', body, headers));
			assert.ok([400, 401].includes(answer.status), `${answer.status} ${answer.body}`);
			assert.equal((await fixture.stack.program('webhook')).pid, program.pid, 'it was started again');
		});
	}

	test('Adyen: items without number, and none', async () => {
		for (const body of [`{"notificationItems":[${'{},'.repeat(1_000)}{}]}`, '{"notificationItems":[]}', '{"notificationItems":{}}', '[', '{}']) {
			const answer = await post(deliver('adyen', body));
			assert.ok([400, 401].includes(answer.status), `${answer.status} ${body.slice(0, 40)}`);
		}
	});

	/** An item with its right signature, and raw JSON that is added to it afterwards. */
	for (const [what, status, add] of [
		['a value that nobody reads', 200, () => '"shopperEmail":"Jo\\ud83d"'],
		['a name twice that nobody reads', 200, () => '"shopperName":{"first":1,"first":2}'],
		['one that is signed as absent', 401, () => '"originalReference":"\\ud83d"'],
		['the same, as a NUL', 401, () => '"originalReference":"\\u0000"'],
		['the same, as a list', 401, () => '"originalReference":[]'],
		['the same, twice', 401, () => '"originalReference":"","originalReference":""'],
		['one that is signed, twice', 401, ({ merchantReference }) => `"merchantReference":${JSON.stringify(merchantReference)}`],
		['the same, spelled otherwise', 401, ({ merchantReference }) => `"merchantReferenc\\u0065":${JSON.stringify(merchantReference)}`],
		['an amount that is signed, twice', 401, ({ amount }) => `"amount":${JSON.stringify(amount)}`],
		['the success that is signed, twice', 401, () => '"success":"true"'],
		['its signature, twice', 401, ({ additionalData }) => `"additionalData":${JSON.stringify(additionalData)}`],
	]) {
		test(`Adyen: what enters the signed text is read exactly: ${what}`, async () => {
			const { event, deliver: make } = sender(fixture, 'adyen');
			const { id } = await fixture.createPayment('adyen');
			const what = event(id, 'paid');
			const delivery = await make(what);
			const [{ NotificationRequestItem: item }] = what.notificationItems;
			const body = delivery.body.replace('"NotificationRequestItem":{', `$&${add(item)},`);
			assert.notEqual(body, delivery.body);
			await answered({ ...delivery, body }, status);
			assert.equal((await fixture.stack.elicitation(id)).action, status === 200 ? 'accept' : null);
		});
	}

	test('Mollie: a form that is none asks for no recheck', async () => {
		const { id } = await fixture.createPayment('mollie');
		for (const body of ['', '&'.repeat(MANY), '%', 'id=%00', 'id=%ff', 'id=a&id=b', `id=${'a'.repeat(MANY)}`]) {
			const before = await fixture.row(id);
			const answer = await post(deliver('mollie', body, { 'Content-Type': 'application/x-www-form-urlencoded' }, `?elicitation=${id}`));
			assert.ok(answer.status < 500, `${answer.status} ${body.slice(0, 40)}`);
			assert.equal(await fixture.row(id), before, body.slice(0, 40));
		}
	});
});

test('a good delivery is accepted after all of them', async () => {
	const { id } = await fixture.createPayment();
	assert.equal((await stripe.send(stripe.event(id, 'paid', { amount: 1, currency: 'EUR' }))).status, 200);
	assert.equal((await fixture.stack.elicitation(id)).action, 'accept');
	assert.equal((await fixture.stack.program('webhook')).pid, program.pid);
});
