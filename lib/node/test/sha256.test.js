import assert from 'node:assert/strict';
import { createHash, createHmac, randomBytes } from 'node:crypto';
import test from 'node:test';

import { hmacSha256, sha256 } from '../src/core/sha256.js';

/** RFC 4231, sections 4.2 to 4.5. The others have keys of more than a block, or codes that are cut off. */
const VECTORS = [
	['0b'.repeat(20), Buffer.from('Hi There').toString('hex'), 'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7'],
	[Buffer.from('Jefe').toString('hex'), Buffer.from('what do ya want for nothing?').toString('hex'), '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'],
	['aa'.repeat(20), 'dd'.repeat(50), '773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe'],
	['0102030405060708090a0b0c0d0e0f10111213141516171819', 'cd'.repeat(50), '82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b'],
];

for (const [key, message, expected] of VECTORS) {
	test(`HMAC of RFC 4231 with a key of ${key.length / 2} bytes`, () => {
		assert.equal(hmacSha256(Buffer.from(key, 'hex'), Buffer.from(message, 'hex')).toString('hex'), expected);
	});
}

test('every length of key and message, in one part or in several, is as OpenSSL has it', () => {
	for (let length = 0; length <= 64; length += 1) {
		const [key, message] = [randomBytes(length), randomBytes(16 * length)];
		const parts = [message.subarray(0, length), message.subarray(length, 3 * length), message.subarray(3 * length)];
		const expected = createHmac('sha256', key).update(message).digest('hex');
		assert.equal(hmacSha256(key, message).toString('hex'), expected);
		assert.equal(hmacSha256(key, ...parts).toString('hex'), expected);
	}
	assert.deepEqual(hmacSha256(Buffer.alloc(32), 'ü'), hmacSha256(Buffer.alloc(32), Buffer.from('ü')));
});

test('a key of more than a block and a message that is too long are refused', () => {
	assert.throws(() => hmacSha256(Buffer.alloc(65)), RangeError);
	assert.throws(() => hmacSha256(Buffer.alloc(32), Buffer.alloc(1_000), Buffer.alloc(25)), RangeError);
	assert.equal(hmacSha256(Buffer.alloc(32), Buffer.alloc(1_024)).length, 32);
});

test('a digest is whole or has as many bytes as are asked for', () => {
	const expected = createHash('sha256').update('ü').digest();
	assert.deepEqual(sha256('ü'), expected);
	assert.deepEqual(sha256(Buffer.from('ü'), 16), expected.subarray(0, 16));
});
