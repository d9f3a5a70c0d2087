import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import { UrlMode } from '../src/index.js';
import { Key, keyRing } from '../src/core/keys.js';
import { bindingOf, browserOf, mintState, openState } from '../src/core/token.js';

const vectors = JSON.parse(readFileSync(new URL('../../../tests/vectors/token.json', import.meta.url), 'utf8'));
const hex = (text) => Buffer.from(text, 'hex');
const UNBOUND = Buffer.alloc(16);

const ring = (vector) => keyRing([new Key(vector.kid, hex(vector.secret_hex))]);

for (const vector of vectors.state) {
	const browser = vector.cookie === null ? undefined : browserOf(vector.cookie);
	const open = (text, now = vector.expires - 1) => openState(ring(vector), vector.purpose, vector.provider, text, now);

	test(`vector: ${vector.name}`, () => {
		const binding = bindingOf(vector.subject, vector.session);
		assert.equal(binding.toString('hex'), vector.binding_hex);
		assert.equal((browser ?? UNBOUND).toString('hex'), vector.browser_hex);
		const { id, expires } = vector;
		assert.equal(mintState(ring(vector), vector.purpose, vector.provider, { id, expires, binding, browser },
			hex(vector.nonce_hex)), vector.token);
		assert.deepEqual(open(vector.token), { id, expires, binding, browser: browser ?? UNBOUND });
	});

	test(`every single-bit change is rejected: ${vector.name}`, () => {
		const bytes = Buffer.from(vector.token, 'base64url');
		for (let bit = 0; bit < bytes.length * 8; bit++) {
			const changed = Buffer.from(bytes);
			changed[bit >> 3] ^= 1 << (bit & 7);
			assert.throws(() => open(changed.toString('base64url')), { code: 'STATE_INVALID' }, `bit ${bit}`);
		}
	});

	test(`every single-bit change of the text is rejected: ${vector.name}`, () => {
		const text = Buffer.from(vector.token, 'latin1');
		for (let bit = 0; bit < text.length * 8; bit++) {
			const changed = Buffer.from(text);
			changed[bit >> 3] ^= 1 << (bit & 7);
			assert.throws(() => open(changed.toString('latin1')), { code: 'STATE_INVALID' }, `bit ${bit}`);
		}
	});
}

const tenants = JSON.parse(readFileSync(new URL('../../../tests/vectors/tenant.json', import.meta.url), 'utf8'));

test('a tenant is part of the binding, and its name is checked', () => {
	for (const { tenant, subject, session, binding } of tenants.bindings) assert.equal(bindingOf(subject, session, tenant).toString('hex'), binding);
	const options = { databaseUrl: 'postgresql://localhost/urlmode', keys: `1 ${Buffer.alloc(32, 1).toString('base64')}`, baseUrl: 'https://callback.example' };
	for (const tenant of [...tenants.refused_tenants, null, 7]) {
		assert.throws(() => new UrlMode({ ...options, tenant }), { name: 'TypeError', message: /^tenant must be at most 64 / }, String(tenant));
	}
});

const [vector] = vectors.state;
const refused = (text, { purpose = vector.purpose, provider = vector.provider, keys = ring(vector) } = {}) =>
	assert.throws(() => openState(keys, purpose, provider, text, 0), { code: 'STATE_INVALID' });

test('a token is valid for one purpose, provider and key', () => {
	refused(vector.token, { purpose: 'return' });
	refused(vector.token, { provider: 'stripe' });
	refused(vector.token, { keys: keyRing([new Key(vector.kid, Buffer.alloc(32, 7))]) });
	refused(vector.token, { keys: keyRing([new Key(9, hex(vector.secret_hex))]) });
});

test('text before or after a token, or in another alphabet, is rejected', () => {
	const { token } = vector;
	for (const text of ['', token.slice(1), token.slice(0, -1), `${token}A`, `${token}=`, `${token} `, ` ${token}`,
		token.replace(/-/, '+'), token.replace(/_/, '/'), `${token}\0`]) {
		refused(text);
	}
});

test('the unused bits of the last character must be zero', () => {
	const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
	const last = alphabet.indexOf(vector.token.at(-1));
	for (const bits of [1, 2, 3]) refused(vector.token.slice(0, -1) + alphabet[last | bits]);
});

test('a token is valid until its expiry', () => {
	const open = (now) => openState(ring(vector), vector.purpose, vector.provider, vector.token, now);
	assert.equal(open(vector.expires - 0.001).id, vector.id);
	assert.throws(() => open(vector.expires), { code: 'STATE_EXPIRED', message: 'the state token has expired' });
});

test('minted tokens differ and have 115 characters', () => {
	const state = { id: vector.id, expires: 2 ** 40, binding: hex(vector.binding_hex) };
	const tokens = Array.from({ length: 1_000 }, () => mintState(ring(vector), 'connect', 'github', state));
	assert.equal(new Set(tokens).size, tokens.length);
	for (const token of tokens) assert.match(token, /^[A-Za-z0-9_-]{115}$/);
});
