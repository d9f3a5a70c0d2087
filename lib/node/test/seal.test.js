import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import { Key, keyRing } from '../src/core/keys.js';
import { EVENT_OUTCOME_INFO, EVENT_RESULT_INFO, FULFILLED_INFO, OUTCOME_INFO, RESULT_INFO, TASK_INFO, VERIFIER_INFO } from '../src/core/contract-seals.js';
import { openOutcome, rowBytes, seal, unseal } from '../src/core/seal.js';
import { bindingOf } from '../src/core/token.js';

const vectors = JSON.parse(readFileSync(new URL('../../../tests/vectors/token.json', import.meta.url), 'utf8'));
const hex = (text) => Buffer.from(text, 'hex');
const ring = (vector) => keyRing([new Key(vector.kid, hex(vector.secret_hex))]);

const OWNER = Buffer.alloc(16, 1);

for (const [vector, use] of Object.entries({ result: RESULT_INFO, event_result: EVENT_RESULT_INFO, fulfilled: FULFILLED_INFO, task: TASK_INFO })
	.flatMap(([name, use]) => vectors[name].map((each) => [each, use]))) {
	const keys = ring(vector);
	const owned = use !== EVENT_RESULT_INFO;
	const place = {
		id: vector.id, binding: owned ? bindingOf(vector.subject, vector.session) : OWNER, use: owned ? use : RESULT_INFO,
	};
	const blob = hex(vector.blob_hex);

	test(`vector: ${vector.name}`, () => {
		if (owned) assert.equal(place.binding.toString('hex'), vector.binding_hex);
		assert.equal(seal(keys, { ...place, use }, vector.json, hex(vector.nonce_hex)).toString('hex'), vector.blob_hex);
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
const place = { id: vector.id, binding: hex(vector.binding_hex), use: RESULT_INFO };

test('a sealed value opens only with its own id, binding and purpose', () => {
	const keys = ring(vector);
	for (const use of [RESULT_INFO, VERIFIER_INFO, FULFILLED_INFO]) {
		const own = { ...place, use };
		const blob = seal(keys, own, '{"a":1}');
		assert.deepEqual(unseal(keys, own, blob), { a: 1 });
		for (const other of [{ ...own, id: '00000000-0000-4000-8000-000000000000' }, { ...own, binding: Buffer.alloc(16) },
			...[RESULT_INFO, VERIFIER_INFO, OUTCOME_INFO, FULFILLED_INFO].filter((another) => another !== use).map((another) => ({ ...own, use: another }))]) {
			assert.throws(() => unseal(keys, other, blob), { code: 'ELICITATION_SEAL', message: /not genuine/ });
		}
	}
});

test('what is sealed for an event opens for its id, whoever owns that, and for no other purpose', () => {
	const keys = ring(vector);
	const blob = seal(keys, { ...place, use: EVENT_RESULT_INFO }, '{"a":1}');
	assert.deepEqual(unseal(keys, { ...place, binding: OWNER }, blob), { a: 1 });
	for (const other of [{ ...place, id: '00000000-0000-4000-8000-000000000000' }, { ...place, use: VERIFIER_INFO }, { ...place, use: OUTCOME_INFO }]) {
		assert.throws(() => unseal(keys, other, blob), { code: 'ELICITATION_SEAL' });
	}
	for (const [use, version] of [[RESULT_INFO, 2], [EVENT_RESULT_INFO, 1], [VERIFIER_INFO, 2]]) {
		const changed = seal(keys, { ...place, use }, '{"a":1}');
		changed[0] = version;
		assert.throws(() => unseal(keys, place, changed), { code: 'ELICITATION_SEAL' });
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

for (const vector of [...vectors.outcome, ...vectors.event_outcome]) {
	const owned = vector.subject !== undefined;
	test(`an outcome opens for its own row, and nothing else does: ${vector.name}`, () => {
		const keys = ring(vector);
		const blob = hex(vector.blob_hex);
		const rowKey = { id: vector.id, binding: owned ? bindingOf(vector.subject, vector.session) : OWNER };
		const open = (bytes, key = rowKey, ring_ = keys) => openOutcome(ring_, rowBytes(key), bytes.toString('base64'));
		assert.deepEqual(open(blob), { reference: null, ...JSON.parse(vector.json) });
		for (let bit = 0; bit < blob.length * 8; bit++) {
			const changed = Buffer.from(blob);
			changed[bit >> 3] ^= 1 << (bit & 7);
			assert.equal(open(changed), undefined, `bit ${bit}`);
		}
		for (const [what, ...call] of [
			['another id', blob, { ...rowKey, id: '00000000-0000-4000-8000-000000000001' }],
			...owned ? [['another owner', blob, { ...rowKey, binding: Buffer.alloc(16) }]] : [],
			['a key that is gone', blob, rowKey, keyRing([new Key(9, Buffer.alloc(32))])],
			['a result', seal(keys, { ...rowKey, use: RESULT_INFO }, vector.json)],
			['the result of an event', seal(keys, { ...rowKey, use: EVENT_RESULT_INFO }, vector.json)],
			['cut', blob.subarray(0, -1)],
			['nothing', Buffer.alloc(0)],
		]) assert.equal(open(...call), undefined, what);
		assert.equal(openOutcome(keys, rowBytes(rowKey), 'no base64 ?'), undefined);
	});
}
