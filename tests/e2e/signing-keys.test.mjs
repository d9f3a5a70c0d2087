// A provider that signs with JSON Web Tokens, and a site that has its keys in a file: a key that is not
// in it yet is answered 503, and the repeated delivery finds it, without a restart.

import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { chmod, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { configure } from '../security/deployment.mjs';
import { ROOT } from '../stack/harness.mjs';
import { openFixture } from '../support/fixture.mjs';
import { request } from '../support/http.mjs';
import { until } from '../support/wait.mjs';

const KEYS = ['k1', 'k2'].map((kid) => ({ kid, ...generateKeyPairSync('ec', { namedCurve: 'P-256' }) }));

let fixture;
let file;

const publish = async (...keys) => {
	await writeFile(file, JSON.stringify({ keys: keys.map(({ kid, publicKey }) => ({ ...publicKey.export({ format: 'jwk' }), kid, use: 'sig', alg: 'ES256' })) }));
	await chmod(file, 0o644);
};

const accepted = async (key) => (await deliver((await fixture.createPayment('tokens')).id, key)).status === 200;

before(async () => {
	fixture = await openFixture({ name: 'signing-keys', own: true });
	file = path.join(fixture.stack.runDir, 'provider.jwks');
	await publish(KEYS[0]);
	await configure(fixture.stack, (config) => {
		config.providers.tokens = {
			kind: 'payment', description: path.join(ROOT, 'tests/deliveries/descriptions/signed-token.json'), jwks_file: file,
		};
	});
});

after(() => fixture?.close());

const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');

async function deliver(id, { kid, privateKey }) {
	const body = JSON.stringify({ event: 'paid', order: id, amount: 1000, currency: 'EUR', payment: `pay-${id}` });
	const claims = { iat: Math.floor(Date.now() / 1000), request_body_sha256: createHash('sha256').update(body).digest('hex') };
	const text = `${encode({ alg: 'ES256', kid })}.${encode(claims)}`;
	const token = `${text}.${sign('sha256', text, { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
	return request(fixture.url('/webhook/tokens'), { method: 'POST', body, headers: { 'Content-Type': 'application/json', 'Example-Verification': token } });
}

test('a delivery with a known key is accepted, and one with the key of another is refused', async () => {
	const { id } = await fixture.createPayment('tokens');
	assert.equal((await deliver(id, { ...KEYS[1], kid: 'k1' })).status, 401);
	assert.equal((await deliver(id, KEYS[0])).status, 200);
	assert.equal((await fixture.stack.elicitation(id)).action, 'accept');
});

test('one with a new key is 503 until the file has it, and then accepted', async () => {
	const { id } = await fixture.createPayment('tokens');
	const answer = await deliver(id, KEYS[1]);
	assert.equal(answer.status, 503);
	assert.ok(Number(answer.headers['retry-after']) > 0);
	const line = await until('it is in the log', async () => (
		(await fixture.stack.programLog()).find(({ request: one }) => one === answer.headers['x-request-id'])));
	assert.deepEqual([line.reason, line.detail], ['signing_key_missing', '/verify: the key that the token names is not in jwks_file']);

	await writeFile(file, '{"keys":');
	await until('the log says that the file is refused', async () => {
		assert.ok(await accepted(KEYS[0]), 'a file that is refused changes nothing');
		return (await fixture.stack.programLog()).some(({ notice }) => notice?.startsWith(file));
	});
	await publish(...KEYS);
	await until('the repeated delivery is accepted', async () => (await deliver(id, KEYS[1])).status === 200);
	assert.equal((await fixture.stack.elicitation(id)).action, 'accept');
});

test('a key that is removed from the file is not trusted any more, and no delivery has to name another one', async () => {
	await publish(...KEYS);
	await until('both keys are read', () => accepted(KEYS[0]));
	await publish(KEYS[1]);
	await until('the removed key is refused', async () => (await deliver((await fixture.createPayment('tokens')).id, KEYS[0])).status === 503);
	assert.ok(await accepted(KEYS[1]));
});
