import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import { Key, keyRing } from '../src/core/keys.js';
import { kidOf, mintLink, openLink } from '../src/core/link.js';

const vectors = JSON.parse(readFileSync(new URL('../../../tests/vectors/token.json', import.meta.url), 'utf8'));
const ring = ({ kid, secret_hex: secret }) => keyRing([new Key(kid, Buffer.from(secret, 'hex'))]);

assert.ok(vectors.link.length >= 3);
for (const vector of vectors.link) {
	const { name, kid, id, provider, state } = vector;

	test(`vector: ${name}`, () => {
		assert.equal(ring(vector).minting.shared('urlmode link v1').toString('hex'), vector.key_hex);
		assert.equal(mintLink(ring(vector).minting, provider, id), state);
		assert.deepEqual(openLink(ring(vector), provider, state), { id, kid });
		assert.equal(kidOf(state), kid);
	});

	test(`every single-bit change is rejected: ${name}`, () => {
		for (const encoding of ['base64url', 'latin1']) {
			const bytes = Buffer.from(state, encoding);
			for (let bit = 0; bit < bytes.length * 8; bit += 1) {
				const changed = Buffer.from(bytes);
				changed[bit >> 3] ^= 1 << (bit & 7);
				assert.throws(() => openLink(ring(vector), provider, changed.toString(encoding)), { code: 'STATE_INVALID' }, `bit ${bit}`);
			}
		}
	});
}

const [vector] = vectors.link;
const refused = (text, { provider = vector.provider, keys = ring(vector) } = {}) =>
	assert.throws(() => openLink(keys, provider, text), { code: 'STATE_INVALID' }, text);

test('a link is valid for one provider and key', () => {
	refused(vector.state, { provider: 'gitlab' });
	refused(vector.state, { keys: keyRing([new Key(vector.kid, Buffer.alloc(32, 7))]) });
	refused(vector.state, { keys: keyRing([new Key(9, Buffer.from(vector.secret_hex, 'hex'))]) });
});

test('another length, alphabet or last bits are rejected, and so is a state token', () => {
	const { state } = vector;
	const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
	const last = alphabet.indexOf(state.at(-1));
	for (const text of ['', 'AQ', state.slice(1), state.slice(0, -1), `${state}A`, `${state}=`, `${state} `, ` ${state}`, `${state}\0`,
		...[1, 2, 3].map((bits) => state.slice(0, -1) + alphabet[last | bits]), ...vectors.state.map(({ token }) => token)]) {
		refused(text);
	}
});
