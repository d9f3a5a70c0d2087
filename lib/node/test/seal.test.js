import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import { Key, keyRing } from '../src/keys.js';
import { openOutcome, OUTCOME, RESULT, seal, unseal, VERIFIER } from '../src/seal.js';
import { bindingOf } from '../src/token.js';

const vectors = JSON.parse(readFileSync(new URL('../../../tests/vectors/token.json', import.meta.url), 'utf8'));
const hex = (text) => Buffer.from(text, 'hex');
const ring = (vector) => keyRing([new Key(vector.kid, hex(vector.secret_hex))]);

for (const vector of [...vectors.result, ...vectors.outcome]) {
	const keys = ring(vector);
	const use = vectors.outcome.includes(vector) ? OUTCOME : RESULT;
	const place = { id: vector.id, binding: bindingOf(vector.subject, vector.session), use };
	const blob = hex(vector.blob_hex);

	test(`vector: ${vector.name}`, () => {
		assert.equal(place.binding.toString('hex'), vector.binding_hex);
		assert.equal(seal(keys, place, vector.json, hex(vector.nonce_hex)).toString('hex'), vector.blob_hex);
		assert.deepEqual(unseal(keys, place, blob), JSON.parse(vector.json));
	});

	test(`every single-bit change is refused: ${vector.name}`, () => {
		for (let bit = 0; bit < blob.length * 8; bit++) {
			const changed = Buffer.from(blob);
			changed[bit >> 3] ^= 1 << (bit & 7);
			assert.throws(() => unseal(keys, place, changed), { code: 'ELICITATION_SEAL' }, `bit ${bit}`);
		}
		for (let length = 0; length < blob.length; length++) {
			assert.throws(() => unseal(keys, place, blob.subarray(0, length)), { code: 'ELICITATION_SEAL' });
		}
	});
}

const [vector] = vectors.result;
const place = { id: vector.id, binding: hex(vector.binding_hex), use: RESULT };

test('a sealed value opens only with its own id, binding and purpose', () => {
	const blob = hex(vector.blob_hex);
	for (const other of [{ ...place, id: '00000000-0000-4000-8000-000000000000' },
		{ ...place, binding: Buffer.alloc(16) }, { ...place, use: VERIFIER }, { ...place, use: OUTCOME }]) {
		assert.throws(() => unseal(ring(vector), other, blob), { code: 'ELICITATION_SEAL', message: /not genuine/ });
	}
});

test('the error names the kid of a missing key', () => {
	assert.throws(() => unseal(keyRing([new Key(9, Buffer.alloc(32))]), place, hex(vector.blob_hex)),
		{ name: 'ElicitationSealError', message: /the keys file has no key 1$/ });
});

test('anything but a JSON object is rejected without quoting it', () => {
	for (const json of ['', 'secret', '"secret"', '["secret"]', 'null', '{"secret"']) {
		assert.throws(() => unseal(ring(vector), place, seal(ring(vector), place, json)), (error) => {
			assert.equal(error.code, 'ELICITATION_SEAL');
			assert.doesNotMatch(error.stack + JSON.stringify(error), /secret/);
			assert.equal(error.cause, undefined);
			return true;
		});
	}
});

test('an outcome that was announced opens for its own row, and anything else does not', () => {
	const [vector] = vectors.outcome;
	const keys = ring(vector);
	const rowKey = { id: vector.id, binding: hex(vector.binding_hex) };
	const sealed = hex(vector.blob_hex).toString('base64');
	assert.deepEqual(openOutcome(keys, rowKey, sealed), { reference: null, ...JSON.parse(vector.json) });
	const result = seal(keys, { ...rowKey, use: RESULT }, vector.json).toString('base64');
	for (const [what, key, text] of [
		['another id', { ...rowKey, id: '00000000-0000-4000-8000-000000000000' }, sealed],
		['another owner', { ...rowKey, binding: Buffer.alloc(16) }, sealed],
		['a result', rowKey, result],
		['cut', rowKey, sealed.slice(0, -4)],
		['nothing', rowKey, ''],
		['no base64', rowKey, '?'],
	]) assert.equal(openOutcome(keys, key, text), undefined, what);
	assert.equal(openOutcome(keyRing([new Key(9, Buffer.alloc(32))]), rowKey, sealed), undefined, 'the key is gone');
});
