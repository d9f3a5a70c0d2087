// Deliveries made to break what reads them, through nginx. Rightly signed
// ones, so that they get as far as a stolen secret would bring them; and
// signatures that are no signatures.

import assert from 'node:assert/strict';
import { createHmac, randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';

import { post, sender } from '../support/deliveries.mjs';
import { create } from '../support/flow.mjs';
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
	const signature = createHmac('sha256', stripe.provider.secrets[0]).update(`${now()}.`).update(body).digest('hex');
	return deliver('stripe', body, { 'Stripe-Signature': `t=${now()},v1=${signature}` });
}

function deliver(provider, body, headers, query = '') {
	return { url: fixture.url(`/webhook/${provider}${query}`), method: 'POST', body, headers: { 'Content-Type': 'application/json', ...headers } };
}

const start = (provider = 'stripe') => create(fixture.urlmode, {
	provider, kind: 'payment', targetUrl: 'https://checkout.example/pay',
});

/** It is refused so, and the process that refused it goes on. */
async function refused(delivery, status, code) {
	const answer = await post(delivery);
	assert.equal(answer.status, status, answer.body);
	if (code) assert.ok(answer.body.startsWith(`${code}: `), answer.body);
	assert.equal((await fixture.stack.program('webhook')).pid, program.pid, 'it was started again');
}

/** A paid session of Stripe's, with raw JSON in some places. */
function paid(id, { event = `"evt_${randomUUID()}"`, amount = '1000', currency = '"eur"', reference = '"cs_1"', more = '' } = {}) {
	return `{"id":${event},"type":"checkout.session.completed","data":{"object":{"id":${reference},`
		+ `"client_reference_id":"${id}","payment_status":"paid","amount_total":${amount},"currency":${currency}${more}}}}`;
}

describe('what is no JSON, or more than is taken, is 400', () => {
	const bytes = (...parts) => Buffer.concat(parts.map((part) => Buffer.from(part)));

	for (const [what, body] of [
		['nothing', ''],
		['blanks', ' \n\t '],
		['an open bracket', '['],
		['open brackets', '['.repeat(MANY)],
		['open objects', '{"a":'.repeat(MANY / 10)],
		['brackets, closed', '['.repeat(MANY) + ']'.repeat(MANY)],
		['nested too deep behind a key', `{"id":${'['.repeat(100)}${']'.repeat(100)}}`],
		['closing brackets', ']'.repeat(MANY)],
		['commas', `[${','.repeat(MANY)}]`],
		['values', `[${'0,'.repeat(MANY)}0]`],
		['keys', `{${Array.from({ length: 70_000 }, (_, n) => `"${n}":0`).join()}}`],
		['an open string', `"${'a'.repeat(MANY)}`],
		['backslashes', `"${'\\'.repeat(MANY)}`],
		['a string that ends in a backslash', '{"id":"\\'],
		['null', 'null'],
		['a number', '0'],
		['a string', '""'],
		['an event whose type is an object', '{"type":{}}'],
		['two documents', '{}{}'],
		['something behind', '{} x'],
		['a comment', '{/* */}'],
		['a byte order mark', '\uFEFF{}'],
		['a NUL before', '\0{}'],
		['a NUL behind', '{}\0'],
		['a NUL in a string', '{"id":"a\0b"}'],
		['a NUL in a string, escaped', '{"id":"a\\u0000b"}'],
		['a NUL in a key, escaped', '{"i\\u0000d":1}'],
		['a key twice', '{"id":1,"id":2}'],
		['a key twice, spelled otherwise', '{"id":1,"\\u0069d":2}'],
		['a key twice, deep inside', '{"data":{"object":{"id":1,"x":[{"a":1,"a":1}]}}}'],
		['half a surrogate pair', '{"id":"\\ud800"}'],
		['the other half', '{"id":"\\udc00"}'],
		['a number without end', `{"n":${'9'.repeat(MANY)}}`],
		['a number over 64 bits', '{"n":9223372036854775808}'],
		['a number under 64 bits', '{"n":-9223372036854775809}'],
		['a number over all', '{"n":1e400}'],
		['a number with a zero before', '{"n":01}'],
		['not a number', '{"n":NaN}'],
		['no UTF-8', bytes('{"id":"', [0xff], '"}')],
		['UTF-8 that is cut', bytes('{"id":"', [0xe2, 0x82], '"}')],
		['UTF-8 that is too long', bytes('{"id":"', [0xc0, 0xaf], '"}')],
		['a surrogate as UTF-8', bytes('{"id":"', [0xed, 0xa0, 0x80], '"}')],
		['no UTF-8 in a key', bytes('{"', [0xfe], '":1}')],
		['UTF-16', Buffer.from('{"id":1}', 'utf16le')],
	]) {
		test(what, () => refused(signed(body), 400, 'body_malformed'));
	}
});

describe('JSON that is none of an event has nothing to say', () => {
	for (const body of ['[]', '{}', '{"data":[]}', '{"type":null}', '{"id":[],"type":"checkout.session.completed"}',
		'{"type":"checkout.session.completed","data":{"object":[{"client_reference_id":1}]}}',
		`{"type":"${'a'.repeat(100)}"}`]) {
		test(body.slice(0, 60), () => refused(signed(body), 200));
	}
});

describe('an event that cannot be read is 400, and completes nothing', () => {
	for (const [what, change] of [
		['a negative amount', { amount: '-1' }],
		['a broken amount', { amount: '10.5' }],
		['an amount in words', { amount: '"1e3"' }],
		['a list of amounts', { amount: '[1000]' }],
		['no currency', { currency: '"e"' }],
		['another alphabet\'s currency', { currency: '"ЕUR"' }],
		['a currency that is an object', { currency: '{}' }],
	]) {
		test(what, async () => {
			const { id } = await start();
			const before = await fixture.row(id);
			await refused(signed(paid(id, change)), 400, 'body_malformed');
			assert.equal(await fixture.row(id), before);
		});
	}
});

describe('an event that is odd, and can be read, counts', () => {
	for (const [what, change] of [
		['a name of a hundred thousand characters', { event: `"${'e'.repeat(100_000)}"` }],
		['a name with control characters', { event: '"evt\\n1\\u001b"' }],
		['a name that is an object', { event: '{}' }],
		['a reference of a hundred thousand characters', { reference: `"${'r'.repeat(100_000)}"` }],
		['much beside it', { more: `,"more":[${'"x",'.repeat(5_000)}0]` }],
		['the largest amount', { amount: '9223372036854775807' }],
	]) {
		test(what, async () => {
			const { id } = await start();
			await refused(signed(paid(id, change)), 200);
			const { action } = await fixture.stack.elicitation(id);
			assert.equal(action, 'accept');
		});
	}
});

describe('what is no signature is 401', () => {
	const body = '{}';
	const good = () => signed(body).headers['Stripe-Signature'];

	for (const [what, header] of [
		['nothing', () => ''],
		['commas', () => ','.repeat(4_000)],
		['a thousand signatures', () => `t=${now()}${',v1=00'.repeat(1_000)}`],
		['a signature of 8 KB', () => `t=${now()},v1=${'0'.repeat(8_000)}`],
		['half a byte', () => good().slice(0, -1)],
		['a byte more', () => `${good()}00`],
		['another alphabet', () => `t=${now()},v1=${'g'.repeat(64)}`],
		['two times', () => `t=${now()},${good()}`],
		['no time', () => good().replace(/^t=\d+,/, '')],
		['a negative time', () => good().replace('t=', 't=-')],
		['a time with a sign', () => good().replace('t=', 't=+')],
		['a time with a fraction', () => good().replace(',', '.0,')],
		['a time without end', () => good().replace('t=', `t=${'9'.repeat(400)}`)],
		['bytes over 127', () => `t=${now()},v1=${'\u00ff'.repeat(64)}`],
	]) {
		test(what, () => refused(deliver('stripe', body, { 'Stripe-Signature': header() }), 401));
	}
});

describe('other forms of body', () => {
	const multipart = (boundary) => ({ 'Content-Type': `multipart/form-data; boundary=${boundary}` });

	for (const [what, headers, body] of [
		['a boundary without end', multipart('b'.repeat(4_000)), '--b--'],
		['an empty boundary', multipart(''), '----\r\n'],
		['no boundary', { 'Content-Type': 'multipart/form-data' }, '--b\r\n\r\n'],
		['nothing but boundaries', multipart('b'), '--b\r\n'.repeat(MANY / 10)],
		['a part that does not end', multipart('b'), `--b\r\nContent-Disposition: form-data; name="json"\r\n\r\n${'x'.repeat(MANY)}`],
		['headers that do not end', multipart('b'), `--b\r\n${'X: y\r\n'.repeat(MANY / 10)}`],
		['the part twice', multipart('b'), '--b\r\nContent-Disposition: form-data; name="json"\r\n\r\n{}\r\n'.repeat(2) + '--b--'],
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

	test('Mollie: a form that is none asks for no recheck', async () => {
		const { id } = await start('mollie');
		for (const body of ['', '&'.repeat(MANY), '%', 'id=%00', 'id=%ff', 'id=a&id=b', `id=${'a'.repeat(MANY)}`]) {
			const before = await fixture.row(id);
			const answer = await post(deliver('mollie', body, { 'Content-Type': 'application/x-www-form-urlencoded' }, `?elicitation=${id}`));
			assert.ok(answer.status < 500, `${answer.status} ${body.slice(0, 40)}`);
			assert.equal(await fixture.row(id), before, body.slice(0, 40));
		}
	});
});

test('after all that a good delivery is taken', async () => {
	const { id } = await start();
	assert.equal((await stripe.send(stripe.event(id, 'paid', { amount: 1, currency: 'EUR' }))).status, 200);
	assert.equal((await fixture.stack.elicitation(id)).action, 'accept');
	assert.equal((await fixture.stack.program('webhook')).pid, program.pid);
});
