// What is authentic and still cannot be read: it is refused, so that the provider tries again, and listed for the
// operator, once for each delivery, without anything of its content.

import assert from 'node:assert/strict';
import { createHmac, randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';

import { urlmode } from '../support/command.mjs';
import { post, sender } from '../support/deliveries.mjs';
import { openFixture } from '../support/fixture.mjs';
import { request } from '../support/http.mjs';
import { tokenOf } from '../support/tokens.mjs';
import { until } from '../support/wait.mjs';

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };
const JSON_TYPE = { 'Content-Type': 'application/json' };
/** In each delivery; must be nowhere else. */
const SECRET = 'S3cr3t-of-the-payer';
const MOST = 1000;

let fixture;
let env;

before(async () => {
	fixture = await openFixture({ name: 'unreadable', own: true });
	env = { URLMODE_OPERATOR_DATABASE_URL: fixture.stack.env.URLMODE_OPERATOR_DATABASE_URL };
});

after(() => fixture?.close());

const secretOf = (provider) => sender(fixture, provider).provider.secrets[0];
const hmac = (key, ...parts) => parts.reduce((mac, part) => mac.update(part), createHmac('sha256', key)).digest('hex');

/** These very bytes, as the provider signs them now. */
const SIGNED = {
	stripe: (body, secret = secretOf('stripe')) => {
		const time = Math.floor(Date.now() / 1000);
		return { headers: { ...JSON_TYPE, 'Stripe-Signature': `t=${time},v1=${hmac(secret, `${time}.`, body)}` }, body };
	},
	paddle: (body) => {
		const time = Math.floor(Date.now() / 1000);
		return { headers: { ...JSON_TYPE, 'Paddle-Signature': `ts=${time};h1=${hmac(secretOf('paddle'), `${time}:`, body)}` }, body };
	},
	slack: (body) => {
		const time = Math.floor(Date.now() / 1000);
		return { headers: { ...FORM, 'X-Slack-Request-Timestamp': String(time), 'X-Slack-Signature': `v0=${hmac(secretOf('slack'), `v0:${time}:`, body)}` }, body };
	},
	// Each item has its own signature in it.
	adyen: (body) => ({ headers: JSON_TYPE, body }),
	'dropbox-sign': (body) => ({ headers: { 'Content-Type': 'multipart/form-data; boundary=boundary' }, body }),
	// Its address has a token.
	mollie: (body, query) => ({ headers: FORM, body, query }),
};

async function send(provider, body, token) {
	const { query = '', ...delivery } = SIGNED[provider](typeof body === 'string' ? Buffer.from(body) : body, token);
	const { status, body: said, headers } = await post({ url: fixture.url(`/webhook/${provider}${query}`), method: 'POST', ...delivery });
	return { status, said, request: headers['x-request-id'] };
}

async function listed(...args) {
	const { status, out, err } = await urlmode(['events', '--unreadable', '--limit', '20000', ...args, '--json'], env);
	assert.deepEqual([status, err], [0, '']);
	return JSON.parse(out);
}

/** A paid session of Stripe's, with raw JSON in some places. */
const paid = (id, { event = `"evt_${randomUUID()}"`, amount = '1000', currency = '"eur"', reference = `"cs_${id}"`, client = `"${id}"`, more = '' } = {}) => (
	`{"id":${event},"type":"checkout.session.completed"${more},"customer":"${SECRET}","data":{"object":{"id":${reference},`
	+ `"client_reference_id":${client},"payment_status":"paid","amount_total":${amount},"currency":${currency}}}}`);

const latin = (text) => Buffer.from(text, 'latin1');

/** Items of Adyen's, each with its right signature, as the text that is sent. */
async function adyen(...items) {
	const { deliver, event } = sender(fixture, 'adyen');
	const { live, notificationItems } = items.map(([id, amount]) => event(id, 'paid', { amount, currency: 'EUR', shopperEmail: SECRET }))
		.reduce((all, one) => ({ ...all, notificationItems: [...all.notificationItems, ...one.notificationItems] }));
	return (await deliver({ live, notificationItems })).body;
}

function dropboxSign(json) {
	const time = '1800000000';
	const hash = hmac(secretOf('dropbox-sign'), time, 'signature_request_all_signed');
	const text = json(`"event":{"event_time":"${time}","event_type":"signature_request_all_signed","event_hash":"${hash}"}`);
	return ['--boundary', 'Content-Disposition: form-data; name="json"', '', text, '--boundary--', ''].join('\r\n');
}

/** The kind of content, its provider, the delivery about an elicitation, and the place that is told. */
const UNREADABLE = [
	['no JSON', 'stripe', () => `{"a":"${SECRET}"`, /^\/payload: /],
	['nothing', 'stripe', () => '', /^\/payload: is empty/],
	['half a surrogate in the type', 'stripe', () => `{"type":"${SECRET}\\ud83d"}`, /^\/type: \/type /],
	['a name twice that decides', 'stripe', (id) => paid(id, { more: ',"\\u0074ype":"x"' }), /^\/type: \/type /],
	['a byte of Latin-1 in the reference', 'stripe', (id) => latin(paid(id, { reference: `"${SECRET}\xe9"` })), /^\/reference: \/data\/object\//],
	['a NUL in the elicitation', 'stripe', (id) => paid(id, { client: `"${SECRET}\\u0000"` }), /^\/elicitation: \/data\/object\/client_reference_id /],
	['an amount that is none', 'stripe', (id) => paid(id, { amount: '88803.5' }), /^\/amount: is not a whole number/],
	['a currency that is none', 'stripe', (id) => paid(id, { currency: `"${'e'.repeat(2)}"` }), /^\/currency: is not a currency/],
	['a list in place of a text', 'paddle', () => `{"event_type":["${SECRET}"]}`, /^\/type: \/event_type /],
	['an item that is signed exactly', 'adyen', (id) => adyen([id, -88803]), /^event 1: \/amount: /],
	['the second item', 'adyen', (id) => adyen([randomUUID(), 1000], [id, -88803]), /^event 2: \/amount: /],
	['a form without its JSON', 'slack', () => `other=${SECRET}`, /^\/payload: is not in the delivery/],
	['a form whose JSON is twice', 'slack', (id) => `payload=${encodeURIComponent(`{"type":"block_actions","actions":[{"value":"${id}"}]}`)}&payload=${SECRET}`, /^\/payload: /],
	['JSON of a form', 'slack', () => `payload=${encodeURIComponent(`{"type":"${SECRET}"`)}`, /^\/payload: /],
	['a part with a name twice', 'dropbox-sign', (id) => dropboxSign((event) => (
		`{${event},"signature_request":{"signature_request_id":"${SECRET}","metadata":{"elicitation_id":"${id}","elicitation_id":"${id}"}}}`)), /^\/elicitation: /],
	['a form at an address with a token', 'mollie', () => `id=${SECRET}%ff`, /^\/\w+: /, (id) => tokenOf(fixture, 'mollie', id)],
];

describe('what is authentic and cannot be read', () => {
	for (const [what, provider, make, place, tokenFor = () => undefined] of UNREADABLE) {
		test(`${what}, of ${provider}: 400, and a line, however often it comes`, async () => {
			const { id } = await fixture.createPayment('stripe');
			const elicitation = provider === 'mollie' ? (await fixture.createPayment('mollie')).id : id;
			const row = await fixture.row(elicitation);
			const body = await make(elicitation);
			const token = tokenFor(elicitation);
			const known = new Set((await listed()).map(({ request: of }) => of));

			const first = await send(provider, body, token);
			assert.equal(first.status, 400, first.said);
			assert.match(first.said, /^body_malformed: /);
			const before = (await listed()).filter(({ request: of }) => !known.has(of));
			assert.equal(before.length, 1, JSON.stringify(before));
			assert.deepEqual([before[0].provider_name, before[0].reason, before[0].times, before[0].request], [provider, 'body_malformed', 1, first.request]);
			assert.match(before[0].place, place);

			const again = await send(provider, body, token);
			assert.deepEqual([again.status, again.said], [first.status, first.said]);
			const now = (await listed()).filter(({ request: of }) => !known.has(of));
			assert.deepEqual(now, [{ ...before[0], times: 2, request: again.request, last_seen_at: now[0].last_seen_at }]);
			assert.ok(now[0].last_seen_at > now[0].first_seen_at);
			assert.equal(await fixture.row(elicitation), row, 'the row has not changed');

			const line = await until('it is in the log', async () => (
				(await fixture.stack.programLog()).find(({ request: of }) => of === again.request)));
			assert.deepEqual([line.status, line.outcome, line.reason, line.detail], [400, 'refused', 'body_malformed', now[0].place]);
		});
	}

	test('nothing of what came is in the list, the table or a log', async () => {
		const { out } = await urlmode(['events', '--unreadable', '--limit', '20000'], env);
		const [{ text }] = await fixture.stack.sql("SELECT string_agg(u::text, ' ') AS text FROM urlmode.unreadable_delivery u");
		assert.ok(out.includes('/amount: is not a whole number of minor units'), out);
		for (const [name, said] of [['the list', out], ['the list as JSON', JSON.stringify(await listed())], ['the table', text], ...await fixture.stack.logs()]) {
			for (const secret of [SECRET, '88803', 'evt_', 'cs_', secretOf('stripe')]) assert.ok(!said.includes(secret), `${name} has ${secret}`);
		}
	});

	test('one that can be read then has its effect, and the line stays', async () => {
		const { id } = await fixture.createPayment();
		const before = await listed('--provider', 'stripe');
		assert.equal((await send('stripe', paid(id, { amount: '"1000 "' }))).status, 400);
		assert.equal((await send('stripe', paid(id))).status, 200);
		assert.equal((await fixture.stack.elicitation(id)).action, 'accept');
		assert.equal((await listed('--provider', 'stripe')).length, before.length + 1);
	});
});

test('what nothing proves is not recorded: a wrong signature, none, an old one, a token that is wrong', async () => {
	const before = await listed();
	const old = Math.floor(Date.now() / 1000) - 3600;
	const { id } = await fixture.createPayment('mollie');
	for (const [status, path, delivery] of [
		[401, 'stripe', SIGNED.stripe('{', 'another secret')],
		[401, 'stripe', { headers: JSON_TYPE, body: '{' }],
		[401, 'stripe', { headers: { ...JSON_TYPE, 'Stripe-Signature': `t=${old},v1=${hmac(secretOf('stripe'), `${old}.`, '{')}` }, body: '{' }],
		[401, 'adyen', { headers: JSON_TYPE, body: '{"notificationItems":[{"NotificationRequestItem":{"amount":{"value":-1}}}]}' }],
		[401, 'adyen', { headers: JSON_TYPE, body: '{' }],
		[400, 'mollie', { headers: FORM, body: 'id=%ff' }],
		[400, `mollie${tokenOf(fixture, 'stripe', id)}`, { headers: FORM, body: 'id=%ff' }],
	]) {
		const answer = await post({ url: fixture.url(`/webhook/${path}`), method: 'POST', ...delivery });
		assert.equal(answer.status, status, `${path}: ${answer.body}`);
		assert.doesNotMatch(answer.body, /^body_malformed/);
	}
	assert.deepEqual(await listed(), before);
});

test('the operator asks for one provider, a time, and the last ones; and check names the providers', async () => {
	await send('paddle', '{"event_type":[1]}');
	const { request: last } = await send('stripe', '{"type":[1]}');
	assert.ok((await listed()).length > (await listed('--provider', 'paddle')).length);
	assert.deepEqual(new Set((await listed('--provider', 'paddle')).map(({ provider_name: name }) => name)), new Set(['paddle']));
	const { out } = await urlmode(['events', '--unreadable', '--limit', '1', '--json'], env);
	assert.deepEqual(JSON.parse(out).map(({ request: of }) => of), [last]);
	await fixture.stack.sql("UPDATE urlmode.unreadable_delivery SET last_seen_at = last_seen_at - interval '2 days' WHERE provider = 'paddle'");
	assert.deepEqual(await listed('--provider', 'paddle', '--since', '1d'), []);
	assert.notDeepEqual(await listed('--provider', 'paddle', '--since', '3d'), []);
});

test('a counter of each provider tells of each time', async () => {
	const count = async (provider) => Number(new RegExp(`^urlmode_unreadable_deliveries_total\\{provider="${provider}"\\} (\\d+)$`, 'm')
		.exec((await request(fixture.url('/metrics'))).body)[1]);
	const before = [await count('stripe'), await count('square')];
	for (let i = 0; i < 3; i++) await send('stripe', '{"type":{}}');
	assert.deepEqual([await count('stripe'), await count('square')], [before[0] + 3, before[1]]);
});

test('of each provider so many are kept: the one that came longest ago goes; and thirty days', async () => {
	await fixture.stack.sql(`INSERT INTO urlmode.unreadable_delivery (provider, digest, reason, place, request, times, first_seen_at, last_seen_at)
		SELECT 'paddle', decode(md5(i::text), 'hex'), 'body_malformed', '/type', 'old ' || i, 1, now() - interval '40 days', now() - i * interval '1 minute'
		FROM generate_series(1, $1) AS i`, [MOST]);
	const { request: last } = await send('paddle', '{"event_type":{"new":1}}');
	const kept = await listed('--provider', 'paddle');
	assert.deepEqual([kept.length, kept.at(-1).request, kept.some(({ request: of }) => of === `old ${MOST}`), kept.some(({ request: of }) => of === 'old 1')], [MOST, last, false, true]);

	await fixture.stack.sql(`UPDATE urlmode.unreadable_delivery SET last_seen_at = last_seen_at - CASE request WHEN 'old 1' THEN interval '29 days 23 hours' ELSE interval '30 days' END
		WHERE provider = 'paddle' AND request <> $1`, [last]);
	const others = (await listed()).filter(({ provider_name: name }) => name !== 'paddle');
	assert.match((await urlmode(['purge', '--kind', 'stored'], env)).out, new RegExp(`^purged: ${MOST - 2} stored`));
	assert.deepEqual((await listed('--provider', 'paddle')).map(({ request: of }) => of), ['old 1', last]);
	assert.deepEqual((await listed()).filter(({ provider_name: name }) => name !== 'paddle'), others);
});

test('a flood of them holds up no payment, and none of them is answered otherwise', async () => {
	const payments = await Promise.all(Array.from({ length: 20 }, () => fixture.createPayment()));
	const flood = Array.from({ length: 600 }, (_, n) => send('stripe', `{"type":[${n}]}`));
	const events = payments.map(({ id }) => send('stripe', paid(id)));
	assert.deepEqual(new Set((await Promise.all(flood)).map(({ status, said }) => `${status} ${said.split(':')[0]}`)), new Set(['400 body_malformed']));
	assert.deepEqual(new Set((await Promise.all(events)).map(({ status }) => status)), new Set([200]));
	for (const { id } of payments) assert.equal((await fixture.stack.elicitation(id)).action, 'accept');
	assert.ok((await listed('--provider', 'stripe')).length <= MOST);
});

test('while the database is away the answer is the same; when it is back, the next time is recorded', async () => {
	const body = `{"type":["${randomUUID()}"]}`;
	const before = await send('stripe', '{"type":["before"]}');
	await fixture.stack.service('stop', 'postgres');
	const away = await send('stripe', body);
	await fixture.stack.service('start', 'postgres');
	assert.deepEqual([away.status, away.said], [before.status, before.said]);
	await fixture.untilServing();
	const last = await until('it is recorded', async () => {
		const { status, request: of } = await send('stripe', body);
		assert.equal(status, 400);
		return (await listed()).find(({ request: one }) => one === of);
	});
	assert.ok(!(await listed()).some(({ request: one }) => one === away.request));
	assert.ok(last.times >= 1);
});
