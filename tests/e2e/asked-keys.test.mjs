// Plaid, which gives its public keys one at a time, for a key id and for
// credentials: the callback program asks for a key, the MCP server fetches it, and
// the repeated delivery is accepted. Plaid's endpoint is a server here that answers
// as its documentation says.

import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { after, before, beforeEach, test } from 'node:test';

import pg from 'pg';

import { openFixture } from '../support/fixture.mjs';
import { request } from '../support/http.mjs';
import { until } from '../support/wait.mjs';

const CREDENTIALS = { client_id: 'client-1', secret: 'plaid-secret-that-nobody-else-has' };

let fixture;
let plaid;
let urlmode;

/** /webhook_verification_key/get */
class Plaid {
	keys = new Map();
	asked = [];
	isDown = false;

	async start() {
		this.server = createServer(async (incoming, response) => {
			const chunks = await incoming.toArray();
			const { key_id: kid, ...credentials } = JSON.parse(Buffer.concat(chunks));
			this.asked.push(kid);
			assert.deepEqual(credentials, CREDENTIALS);
			const key = this.keys.get(kid);
			const [status, answer] = this.isDown ? [500, { error_code: 'INTERNAL_SERVER_ERROR' }]
				: key ? [200, { key: key.jwk, request_id: 'r1' }]
					: [400, { error_type: 'INVALID_INPUT', error_code: 'INVALID_WEBHOOK_VERIFICATION_KEY_ID', request_id: 'r1' }];
			response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer));
		});
		await new Promise((resolve) => { this.server.listen(0, '127.0.0.1', resolve); });
		this.url = `http://127.0.0.1:${this.server.address().port}/webhook_verification_key/get`;
		return this;
	}

	newKey() {
		const kid = randomUUID();
		const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
		const jwk = {
			...publicKey.export({ format: 'jwk' }), alg: 'ES256', kid, use: 'sig', created_at: Math.floor(Date.now() / 1000), expired_at: null,
		};
		this.keys.set(kid, { jwk });
		return { kid, privateKey, jwk };
	}

	close() {
		this.server.closeAllConnections();
		this.server.close();
	}
}

/** As REFERENCE.md shows it. */
async function fetchKey(kid, { signal }) {
	const response = await fetch(plaid.url, {
		method: 'POST', signal, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ ...CREDENTIALS, key_id: kid }),
	});
	const answer = await response.json();
	if (answer.error_code === 'INVALID_WEBHOOK_VERIFICATION_KEY_ID') return undefined;
	if (!response.ok) throw new Error(`Plaid has answered ${response.status}`);
	const { expired_at: expired } = answer.key;
	return { key: answer.key, expiresAt: expired === null ? null : new Date(expired * 1000) };
}

before(async () => {
	fixture = await openFixture({ name: 'asked-keys', own: true });
	plaid = fixture.closeAtEnd(await new Plaid().start());
	urlmode = fixture.openUrlMode({ signingKeys: { plaid: fetchKey } });
});

beforeEach(() => {
	plaid.isDown = false;
	plaid.asked = [];
});

after(() => fixture?.close());

const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');

function tokenOf(body, { kid, privateKey }, { header, ...claims } = {}) {
	const text = `${encode({ alg: 'ES256', kid, typ: 'JWT', ...header })}.${encode({
		iat: Math.floor(Date.now() / 1000), request_body_sha256: createHash('sha256').update(body).digest('hex'), ...claims,
	})}`;
	return `${text}.${sign('sha256', text, { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
}

const start = () => fixture.create({ provider: 'plaid', kind: 'signature', targetUrl: 'https://secure.plaid.example/hl/1' });

function deliver({ webhookUrl }, key, { status = 'SUCCESS', sent, ...claims } = {}) {
	const body = JSON.stringify({
		environment: 'sandbox', link_session_id: `session-${randomUUID()}`, link_token: 'link-sandbox-1', status,
		webhook_code: 'SESSION_FINISHED', webhook_type: 'LINK',
	});
	return request(webhookUrl, {
		method: 'POST', body: sent ?? body, headers: { 'Content-Type': 'application/json', 'Plaid-Verification': tokenOf(body, key, claims) },
	});
}

const accepted = (elicitation, key) => until('the repeated delivery is accepted', async () => {
	const { status } = await deliver(elicitation, key);
	assert.ok(status === 200 || status === 503, String(status));
	return status === 200;
});

/** What the log says of a delivery, which may be written after the answer. */
const detailOf = async ({ headers }) => {
	const { detail } = await until('it is in the log', async () => (
		(await fixture.stack.programLog()).find(({ request: one }) => one === headers['x-request-id'])));
	return detail;
};

/** The first answer of 401 to repeated deliveries. */
const refusedIn = (elicitation, key) => until('it is refused', async () => {
	const answer = await deliver(elicitation, key, { status: 'EXITED' });
	return answer.status === 401 && answer;
});

const rowsOf = (where = 'true') => fixture.stack.sql(`SELECT * FROM urlmode.signing_key WHERE provider = 'plaid' AND ${where} ORDER BY wanted_at`);

test('an unknown key is answered 503 and recorded; the MCP server fetches it, and the delivery proves the outcome', async () => {
	const key = plaid.newKey();
	const elicitation = await start();
	const first = await deliver(elicitation, key);
	assert.equal(first.status, 503);
	assert.ok(Number(first.headers['retry-after']) > 0);
	const line = await until('it is in the log', async () => (
		(await fixture.stack.programLog()).find(({ request: one }) => one === first.headers['x-request-id'])));
	assert.deepEqual([line.reason, line.detail],
		['signing_key_missing', '/verify: the key that the token names is not known yet: the MCP server is asked to fetch it']);

	await accepted(elicitation, key);
	assert.deepEqual(plaid.asked, [key.kid]);
	assert.deepEqual(await fixture.state(elicitation), ['completed', 'accept', '']);
	const another = await start();
	assert.equal((await deliver(another, key)).status, 200, 'the key is there');
	assert.deepEqual(plaid.asked, [key.kid]);
	const logs = JSON.stringify(await fixture.stack.programLog());
	assert.ok(!logs.includes(key.kid), 'what a stranger has written is not logged');
});

test('a session that was left is the end of an attempt', async () => {
	const key = plaid.newKey();
	const elicitation = await start();
	await until('it is taken', async () => (await deliver(elicitation, key, { status: 'EXITED' })).status === 200);
	assert.equal((await fixture.stack.elicitation(elicitation.id)).failed_attempts, 1);
});

test('another body, an old token, one of another key and an address without a token prove nothing', async () => {
	const key = plaid.newKey();
	const elicitation = await start();
	await until('the key is there', async () => (await deliver(elicitation, key, { status: 'EXITED' })).status === 200);
	const now = Math.floor(Date.now() / 1000);
	const refused = async (options, as = key) => {
		const { status } = await deliver(elicitation, as, options);
		return status;
	};
	assert.equal(await refused({ sent: '{"webhook_type":"LINK"}' }), 401);
	assert.equal(await refused({ iat: now - 330 }), 401);
	assert.equal(await refused({ iat: now + 120 }), 401);
	assert.equal(await refused({}, { ...plaid.newKey(), kid: key.kid }), 401);
	assert.equal(await refused({ header: { alg: 'none' } }), 401);
	assert.equal((await deliver({ webhookUrl: elicitation.webhookUrl.replace(/\?.*/, '') }, key)).status, 400);
	assert.equal((await fixture.stack.elicitation(elicitation.id)).status, 'pending');
});

test('after a rotation the new key is fetched, and the old one ends when the provider says so', async () => {
	const [old, next] = [plaid.newKey(), plaid.newKey()];
	await accepted(await start(), old);
	await accepted(await start(), next);
	assert.equal((await deliver(await start(), old)).status, 200, 'not yet expired');

	old.jwk.expired_at = Math.floor(Date.now() / 1000);
	await fixture.stack.sql("UPDATE urlmode.signing_key SET fetched_at = now() - interval '61 minutes' WHERE kid = $1", [old.kid]);
	const elicitation = await start();
	assert.equal(await detailOf(await refusedIn(elicitation, old)), '/verify: the key that the token names has expired at the provider');
	assert.equal((await deliver(await start(), next)).status, 200);
});

test('a key that nobody has fetched again for a day is not trusted', async () => {
	const key = plaid.newKey();
	await accepted(await start(), key);
	plaid.isDown = true;
	await fixture.stack.sql("UPDATE urlmode.signing_key SET fetched_at = now() - interval '25 hours' WHERE kid = $1", [key.kid]);
	assert.equal((await deliver(await start(), key)).status, 503);
});

test('while the provider does not answer the delivery stays 503, and then its key is fetched', async () => {
	const key = plaid.newKey();
	const elicitation = await start();
	plaid.isDown = true;
	assert.equal((await deliver(elicitation, key)).status, 503);
	await until('the provider was asked', () => plaid.asked.includes(key.kid));
	assert.equal((await deliver(elicitation, key)).status, 503);
	plaid.isDown = false;
	await fixture.stack.sql('UPDATE urlmode.signing_key SET leased_until = NULL, wanted_at = now() - interval \'6 seconds\' WHERE kid = $1', [key.kid]);
	await accepted(elicitation, key);
});

test('a key that the provider does not know is refused, and not asked for again at once', async () => {
	const { kid, privateKey } = plaid.newKey();
	plaid.keys.delete(kid);
	const elicitation = await start();
	assert.equal(await detailOf(await refusedIn(elicitation, { kid, privateKey })), "/verify: the key that the token names is none of the provider's");
	assert.equal((await deliver(elicitation, { kid, privateKey })).status, 401);
	assert.deepEqual(plaid.asked.filter((one) => one === kid), [kid]);
});

test('nothing is recorded of a token that is not of this body and time, or names no key that can be asked for', async () => {
	const elicitation = await start();
	const before = (await rowsOf()).map(({ kid }) => kid).sort();
	const now = Math.floor(Date.now() / 1000);
	const stranger = plaid.newKey();
	for (const options of [{ request_body_sha256: 'x' }, { request_body_sha256: undefined }, { iat: now - 330 }, { iat: undefined },
		{ header: { alg: 'HS256' } }, { header: { typ: 'at+jwt' } }, { header: { kid: 'a b' } }, { header: { kid: 'x'.repeat(129) } },
		{ header: { kid: undefined } }, { header: { crit: ['b64'] } }]) {
		assert.equal((await deliver(elicitation, stranger, options)).status, 401, JSON.stringify(options));
	}
	const { status } = await deliver({ webhookUrl: elicitation.webhookUrl.replace(/state=../, 'state=AA') }, stranger);
	assert.equal(status, 400, 'not the address of an elicitation');
	assert.deepEqual((await rowsOf()).map(({ kid }) => kid).sort(), before);
	assert.ok(!plaid.asked.includes(stranger.kid), 'the provider was not asked');
});

test('strangers can have twenty ids recorded, and no more; keys stay', async () => {
	const key = plaid.newKey();
	await accepted(await start(), key);
	await urlmode.close();
	const elicitation = await start();
	for (let i = 0; i < 25; i += 1) assert.equal((await deliver(elicitation, { ...key, kid: `invented-${i}` })).status, 503);
	assert.equal((await rowsOf('key IS NULL')).length, 20);
	assert.equal((await rowsOf("kid = 'invented-24'")).length, 1, 'the newest');
	assert.equal((await deliver(elicitation, key)).status, 200);
	urlmode = fixture.openUrlMode({ signingKeys: { plaid: fetchKey } });
	await until('the new instance asks for all', () => plaid.asked.includes('invented-24') && plaid.asked.includes('invented-10'));
});

test('two instances fetch a key once, and an instance without a function none', async () => {
	const second = fixture.openUrlMode({ signingKeys: { plaid: fetchKey } });
	fixture.openUrlMode();
	const keys = Array.from({ length: 5 }, () => plaid.newKey());
	const elicitation = await start();
	await Promise.all(keys.map((key) => deliver(elicitation, key, { status: 'EXITED' })));
	for (const key of keys) await until('it is fetched', async () => (await deliver(elicitation, key, { status: 'EXITED' })).status === 200);
	for (const { kid } of keys) assert.equal(plaid.asked.filter((one) => one === kid).length, 1);
	await second.close();
});

test('the login of the callback programs can plant no key', async () => {
	const { database_url: connectionString } = JSON.parse(await readFile(fixture.stack.env.URLMODE_CONFIG, 'utf8'));
	const thief = new pg.Client({ connectionString });
	await thief.connect();
	try {
		for (const text of [
			"SELECT urlmode.keep_signing_key('plaid', 'k', '{}')", "SELECT urlmode.take_signing_key(ARRAY['plaid'], 1)",
			"INSERT INTO urlmode.signing_key (provider, kid, key) VALUES ('plaid', 'k', '{}')", 'TABLE urlmode.signing_key',
			"UPDATE urlmode.signing_key SET key = '{}'",
		]) await assert.rejects(thief.query(text), { code: '42501' }, text);
	} finally {
		await thief.end();
	}
});
