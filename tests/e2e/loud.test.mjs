// One who is loud does not silence the others.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';

import { openFixture } from '../support/fixture.mjs';
import { request } from '../support/http.mjs';
import { until } from '../support/wait.mjs';

let fixture;
let address;

before(async () => {
	fixture = await openFixture({ name: 'loud' });
	address = new URL(fixture.stack.env.URLMODE_BASE_URL);
});

after(() => fixture?.close());

/**
 * Sends a POST whose body comes byte by byte, so that nginx never gives it up, however slow the machine is. Its status is
 * `open` while there is none.
 */
function trickle(localAddress) {
	const socket = connect({ host: address.hostname, port: Number(address.port), localAddress });
	const post = { socket, status: 'open' };
	const bytes = setInterval(() => socket.write('a'), 500);
	socket.on('error', () => {});
	socket.on('data', (data) => {
		post.status = String(data).slice(9, 12);
		clearInterval(bytes);
	});
	socket.on('close', () => clearInterval(bytes));
	socket.write(`POST /connect/demo HTTP/1.1\r\nHost: ${address.host}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\n\r\na`);
	return post;
}

test('an address holds 50 requests at most whose bodies trickle in, and others are served', async () => {
	const posts = Array.from({ length: 120 }, () => trickle('127.0.0.4'));
	try {
		await until('the others are refused', () => posts.filter(({ status }) => status === '429').length >= 70);
		assert.equal(posts.filter(({ status }) => status === 'open').length, 50);
		assert.equal((await request(new URL('/done', address), { localAddress: '127.0.0.5' })).status, 200);
	} finally {
		for (const { socket } of posts) socket.destroy();
	}
});

test('of a long path no more is logged than a route has', async () => {
	const name = randomBytes(8).toString('hex');
	await request(new URL(`/${name}${'/b'.repeat(5_500)}`, address));
	const path = await until('it is logged', async () => (
		(await fixture.stack.accessLog()).find((line) => line.path.includes(name))?.path));
	assert.equal(path, `/${name}/b/b/b`);
});
