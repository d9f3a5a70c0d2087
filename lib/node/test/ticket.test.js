import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import { Key, keyRing } from '../src/core/keys.js';
import { mintTicket, ticketCookie } from '../src/core/ticket.js';

const vectors = JSON.parse(readFileSync(new URL('../../../tests/vectors/ticket.json', import.meta.url), 'utf8'));
const hex = (text) => Buffer.from(text, 'hex');

for (const { name, kid, secret_hex: secret, nonce_hex: nonce, subject, expires, ticket } of vectors.ticket) {
	test(`ticket vector: ${name}`, () => {
		assert.equal(mintTicket(keyRing([new Key(kid, hex(secret))]), subject, expires, hex(nonce)), ticket);
	});
}

test('a ticket contains a complete Set-Cookie header', () => {
	const { name, value, header } = ticketCookie(keyRing([new Key(1, Buffer.alloc(32, 1))]), 'ada', 90_500);

	assert.equal(name, '__Host-urlmode-ticket');
	assert.match(value, /^[\w-]+$/);
	assert.equal(header, `${name}=${value}; Path=/; Max-Age=91; Secure; HttpOnly; SameSite=Lax`);
});

test('two tickets for the same subject differ', () => {
	const keys = keyRing([new Key(1, Buffer.alloc(32, 1))]);
	assert.notEqual(mintTicket(keys, 'ada', 1), mintTicket(keys, 'ada', 1));
});
