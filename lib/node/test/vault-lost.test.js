// The answer to a refresh is lost: nobody knows whether the provider has replaced the
// refresh token. A token is sent twice at most, unless it stays good after its use.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import test from 'node:test';

import { breakQueries } from './support/database.js';
import { setUpVault } from './support/vault.js';

const page = (status) => (_request, response) => response.writeHead(status, { 'content-type': 'text/html' }).end('<p>Soon');
const partOf = (status) => (_request, response) => {
	response.writeHead(status, { 'content-type': 'application/json', 'content-length': 1_000 });
	response.write('{"access_token":"access-9",', () => response.destroy());
	return true;
};

/** Way → what the endpoint does with a request that has arrived. */
const LOST = {
	'breaks off without an answer': (_request, response) => void response.destroy() ?? true,
	'breaks off within an answer': partOf(200),
	'does not answer in time': () => true,
	'answers with a page': page(200),
	'answers with tokens of another type': (_request, _response, answer) => void answer(200, { access_token: 'a', token_type: 'mac' }) ?? true,
};

/** Requests end early. */
function hurry(t) {
	const { timeout } = AbortSignal;
	t.mock.method(AbortSignal, 'timeout', (time) => timeout.call(AbortSignal, time === 30_000 ? 1_000 : time));
}

async function setUpLost(t, lose, options = { expired: true }) {
	hurry(t);
	const fixture = await setUpVault(t, options);
	const told = [];
	for (const name of ['failed', 'reconnect', 'refreshed']) fixture.vault.on(name, ({ reason }) => told.push(reason ?? name));
	fixture.endpoint.instead = lose;
	const state = async () => {
		const { state: is, reason, lost, leased_until: leasedUntil, sent } = await fixture.row();
		return [is, reason, lost, leasedUntil, sent];
	};
	return { ...fixture, told, state, goOn: () => fixture.change('pause_until = NULL') };
}

function describe(endpoint, more) {
	const { oauth } = JSON.parse(readFileSync(endpoint.file));
	writeFileSync(endpoint.file, JSON.stringify({ oauth: { ...oauth, ...more } }));
}

test('a refresh token that is kept while its account is connected again is sent twice at most', async (t) => {
	const { vault, endpoint, key, change } = await setUpLost(t, LOST['breaks off without an answer']);
	// The process that has sent it for the first time is gone.
	await change("leased_until = now() - interval '1 second', sent = true, lease = lease + 1");
	const { refresh_token: _, ...again } = endpoint.grant();
	await vault.store(key, { tokens: again, account: { id: 'acme' }, scopes: ['read'] });
	await change("expires_at = now(), refreshed_at = now() - interval '1 hour'");
	await assert.rejects(vault.accessToken(key), { code: 'ACCOUNT_RECONNECT', reason: 'refresh_lost' });
	assert.deepEqual(endpoint.asked, ['refresh-1']);
});

for (const [way, lose] of Object.entries(LOST)) {
	test(`the provider ${way}: the same token is sent once more at once, and then never again`, async (t) => {
		const { vault, endpoint, key, goOn, told, state, change } = await setUpLost(t, lose);
		await change("expires_at = now() + interval '1 hour'");
		assert.equal((await vault.accessToken({ ...key, validFor: 7_200_000 })).accessToken, 'access-1');
		assert.deepEqual([await state(), endpoint.asked], [['connected', '', 2, null, false], ['refresh-1', 'refresh-1']]);
		assert.equal((await vault.accessToken(key)).accessToken, 'access-1', 'it is used as long as it is valid');
		await change('expires_at = now()');
		for (let n = 0; n < 3; n += 1) {
			await assert.rejects(vault.accessToken(key), { code: 'ACCOUNT_RECONNECT', reason: 'refresh_lost' });
			await goOn();
		}
		assert.deepEqual(endpoint.asked, ['refresh-1', 'refresh-1']);
		assert.deepEqual(told, ['failed', 'failed', 'refresh_lost']);
	});

	for (const [within, sent, end] of [[60, 3, 'access-2'], ['never', 1, undefined]]) {
		test(`the provider ${way}, and takes a token again: ${within}. It is sent ${sent} times`, async (t) => {
			const { vault, endpoint, key, goOn, change } = await setUpLost(t, lose);
			describe(endpoint, { reuse_within: within });
			await change("expires_at = now() + interval '1 hour'");
			assert.equal((await vault.accessToken({ ...key, validFor: 7_200_000 })).accessToken, 'access-1');
			endpoint.instead = undefined;
			await change('expires_at = now()');
			await goOn();
			const token = vault.accessToken(key);
			if (end) assert.equal((await token).accessToken, end);
			else await assert.rejects(token, { code: 'ACCOUNT_RECONNECT', reason: 'refresh_lost' });
			assert.deepEqual(endpoint.asked, Array(sent).fill('refresh-1'));
		});
	}

	test(`the provider ${way}, and its refresh tokens stay good: no account is lost for that`, async (t) => {
		const { vault, endpoint, key, row, goOn, state } = await setUpLost(t, lose);
		describe(endpoint, { refresh_token_stays_good: true });
		for (let n = 0; n < 4; n += 1) {
			await assert.rejects(vault.accessToken(key), { code: 'ACCOUNT_UNAVAILABLE' });
			await goOn();
		}
		assert.deepEqual([await state(), (await row()).failures], [['connected', '', 0, null, false], 4]);
		Object.assign(endpoint, { instead: undefined, rotates: false });
		assert.equal((await vault.accessToken(key)).accessToken, 'access-2');
		assert.deepEqual(endpoint.asked, Array(5).fill('refresh-1'));
	});
}

test('a process that dies after it has sent the token, and an answer that is lost, are two', async (t) => {
	const { vault, endpoint, key, change } = await setUpLost(t, LOST['breaks off without an answer']);
	await change("sent = true, leased_until = now() - interval '1 s', lease = lease + 1");
	await assert.rejects(vault.accessToken(key), { code: 'ACCOUNT_RECONNECT', reason: 'refresh_lost' });
	assert.deepEqual(endpoint.asked, ['refresh-1']);
});

test('a process that dies after it has sent a token that stays good costs no account', async (t) => {
	const { vault, endpoint, key, change, row } = await setUpLost(t, undefined);
	describe(endpoint, { refresh_token_stays_good: true });
	endpoint.instead = async () => assert.equal((await row()).sent, false);
	for (let n = 1; n < 4; n += 1) {
		await change("expires_at = now(), leased_until = now() - interval '1 s', lease = lease + 1");
		assert.equal((await vault.accessToken(key)).accessToken, `access-${n + 1}`);
	}
});

test('an answer that is lost counts once, if the answer of PostgreSQL to that is lost as well', async (t) => {
	const { vault, endpoint, key, row } = await setUpLost(t, (_request, response) => {
		endpoint.instead = undefined;
		return response.destroy();
	});
	breakQueries(t, 'end_refresh', { times: 2, carriesOut: true });
	assert.equal((await vault.accessToken(key)).accessToken, 'access-2');
	assert.deepEqual([endpoint.asked, (await row()).lost], [['refresh-1', 'refresh-1'], 0]);
});

for (const [what, content] of [['status 400', [400, { error: 'temporarily_unavailable' }]], ['status 429', [429, { error: 'slow_down' }]], ['status 200', [200, { error: 'server_error2' }]]]) {
	test(`an error with ${what} is a failure, and no answer that is lost`, async (t) => {
		const { vault, endpoint, key, goOn, row, state } = await setUpLost(t, (_request, _response, answer) => void answer(...content) ?? true);
		for (let n = 0; n < 3; n += 1) {
			await assert.rejects(vault.accessToken(key), { code: 'ACCOUNT_UNAVAILABLE' });
			await goOn();
		}
		assert.deepEqual([await state(), (await row()).failures, endpoint.asked.length], [['connected', '', 0, null, false], 3, 3]);
	});
}

for (const [what, refuse] of [
	...[408, 429, 500, 502, 503, 504, 520, 527, 400, 302].map((status) => [`status ${status} without an error`, page(status)]),
	['status 503 that breaks off', partOf(503)], ['status 500 with an error', (_request, _response, answer) => void answer(500, { error: 'invalid_grant' }) ?? true],
]) {
	test(`${what}: all of an outage count as one answer that is lost, and cost no account`, async (t) => {
		const { vault, endpoint, key, goOn, row, state } = await setUpLost(t, refuse);
		for (let n = 2; n < 5; n += 1) {
			const before = Date.now();
			await assert.rejects(vault.accessToken(key), { code: 'ACCOUNT_UNAVAILABLE' });
			const pause = (await row()).pause_until - before;
			assert.ok(pause > 58_000 && pause < 90_000, String(pause));
			await assert.rejects(vault.accessToken(key), { code: 'ACCOUNT_UNAVAILABLE', detail: 'paused' });
			assert.deepEqual([await state(), endpoint.asked.length], [['connected', '', 1, null, false], n], 'the first is followed by another at once');
			await goOn();
		}
		endpoint.instead = undefined;
		assert.equal((await vault.accessToken(key)).accessToken, 'access-2');
		assert.equal((await row()).lost, 0);
	});
}

test('status 503 where a second use ends the family: it is sent again, and not before a minute', async (t) => {
	const { vault, endpoint, key, goOn, row, state } = await setUpLost(t, page(503));
	describe(endpoint, { reuse_within: 'never' });
	for (let n = 1; n < 4; n += 1) {
		const before = Date.now();
		await assert.rejects(vault.accessToken(key), { code: 'ACCOUNT_UNAVAILABLE' });
		assert.ok((await row()).pause_until - before > 58_000);
		assert.deepEqual([await state(), endpoint.asked.length], [['connected', '', 0, null, false], n]);
		await goOn();
	}
	endpoint.instead = undefined;
	assert.equal((await vault.accessToken(key)).accessToken, 'access-2');
});

for (const [what, status, content, header, least, most] of [
	['seconds', 429, { error: 'slow_down' }, () => '120', 118, 150],
	['a date', 503, {}, () => new Date(Date.now() + 120_000).toUTCString(), 116, 150],
	['more than an hour', 503, {}, () => '86400', 3_590, 3_650],
	['less than the pause would be', 429, { error: 'slow_down' }, () => '0', 0, 30],
	['no time', 503, {}, () => 'soon', 58, 90],
]) {
	test(`Retry-After is respected: ${what}`, async (t) => {
		const { vault, endpoint, key, row } = await setUpLost(t, (_request, response) => (
			void response.writeHead(status, { 'content-type': 'application/json', 'retry-after': header() }).end(JSON.stringify(content)) ?? true));
		const before = Date.now();
		await assert.rejects(vault.accessToken(key), { code: 'ACCOUNT_UNAVAILABLE' });
		const pause = ((await row()).pause_until - before) / 1_000;
		assert.ok(pause >= least && pause <= most, String(pause));
		assert.deepEqual(endpoint.asked.length, what === 'no time' ? 2 : 1, 'nor is it asked at once');
	});
}

test('a gateway fails, and then an answer is lost: the token is not sent again', async (t) => {
	const { vault, endpoint, key } = await setUpLost(t, (request, response) => {
		endpoint.instead = LOST['breaks off without an answer'];
		return partOf(502)(request, response);
	});
	await assert.rejects(vault.accessToken(key), { code: 'ACCOUNT_RECONNECT', reason: 'refresh_lost' });
	assert.deepEqual(endpoint.asked, ['refresh-1', 'refresh-1']);
});

test('a gateway fails, and refresh tokens stay good: they are sent again at once, and then less often', async (t) => {
	const { vault, endpoint, key, goOn, row, state } = await setUpLost(t, page(502));
	describe(endpoint, { refresh_token_stays_good: true });
	const before = Date.now();
	await assert.rejects(vault.accessToken(key), { code: 'ACCOUNT_UNAVAILABLE' });
	assert.ok((await row()).pause_until - before < 30_000);
	await goOn();
	assert.deepEqual(await state(), ['connected', '', 0, null, false]);
});

/** Ways of a provider to answer to a refresh token that it has replaced, and how many tokens it is sent. */
for (const [what, status, replaced] of [500, 502, 504].flatMap((status) => [
	[`status ${status} after it has replaced the token, which is good once`, status, 'ends the family'],
	[`status ${status} after it has replaced the token, which works for a while beside the new one`, status, 'has a grace'],
])) {
	test(`${what}: it is sent once more at once, and that decides`, async (t) => {
		const { vault, endpoint, key } = await setUpLost(t, async (_request, response) => {
			endpoint.grant();
			if (replaced === 'ends the family') endpoint.alive.clear();
			endpoint.instead = undefined;
			return response.writeHead(status).end();
		});
		for (let n = 0; n < 2; n += 1) {
			if (replaced === 'has a grace') assert.equal((await vault.accessToken(key)).accessToken, 'access-3');
			else await assert.rejects(vault.accessToken(key), { code: 'ACCOUNT_RECONNECT', reason: 'invalid_grant' });
		}
		assert.deepEqual(endpoint.asked, ['refresh-1', 'refresh-1']);
	});
}

test('a connection that ends before TLS stands is made once more, and nothing was sent', async (t) => {
	const { vault, endpoint, key, goOn, state } = await setUpLost(t, undefined);
	let connections = 0;
	const server = createServer((socket) => {
		connections += 1;
		socket.once('data', () => socket.destroy());
	});
	await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
	t.after(() => server.close());
	const origin = `https://127.0.0.1:${server.address().port}`;
	describe(endpoint, { token_endpoint: `${origin}/token`, revocation_endpoint: `${origin}/revoke` });
	for (let n = 1; n < 4; n += 1) {
		await assert.rejects(vault.accessToken(key), { code: 'ACCOUNT_UNAVAILABLE', detail: 'ECONNRESET' });
		assert.deepEqual([connections, await state()], [2 * n, ['connected', '', 0, null, false]]);
		await goOn();
	}
});

test('a renewal whose answer is lost is made again: a token that is used all the time can be sent again', async (t) => {
	const { vault, endpoint, key, change, goOn, state } = await setUpLost(t, LOST['breaks off without an answer'], {});
	const request = { endpoint: `${endpoint.issuer}/renew`, parameters: { refresh_token: '{access_token}' } };
	describe(endpoint, { long_lived: { exchange: request, renewal: request } });
	const tokens = { access_token: 'long', refresh_token: 'long', token_type: 'bearer', expires_in: 1_000 };
	await vault.store(key, { tokens, account: { id: 'acme' }, scopes: [] });
	await change("expires_at = now() + interval '400 s', refreshed_at = now() - interval '600 s'");
	for (let n = 0; n < 4; n += 1) {
		assert.equal((await vault.accessToken({ ...key, validFor: 600_000 })).accessToken, 'long');
		await goOn();
	}
	assert.deepEqual([endpoint.asked, await state()], [Array(4).fill('long'), ['connected', '', 0, null, false]]);
});

test('what comes late without a new refresh token is tried with the old one, which may be good', async (t) => {
	const { vault, endpoint, key, change, state } = await setUpLost(t, async (_request, _response, answer) => {
		endpoint.instead = undefined;
		// Another instance has begun meanwhile, and has found the account to be dead.
		await change("lease = lease + 1, sent_lease = lease + 1, leased_until = NULL, sent = false, state = 'reconnect', reason = 'refresh_lost'");
		answer(200, { access_token: 'access-9', token_type: 'bearer', expires_in: 3_600 });
		return true;
	});
	assert.equal((await vault.accessToken(key)).accessToken, 'access-2');
	assert.deepEqual([await state(), endpoint.asked], [['connected', '', 0, null, false], ['refresh-1', 'refresh-1']]);
});

test('a process that stood still while the limit of its request passed reads what came meanwhile', async (t) => {
	const { vault, endpoint, key } = await setUpLost(t, undefined);
	let answered;
	const arrived = new Promise((resolve) => {
		endpoint.instead = () => new Promise((answer) => {
			answered = answer;
			resolve();
		});
	});
	const token = vault.accessToken(key);
	await arrived;
	answered(false);
	// The kernel has the answer before the limit of a second is noticed.
	const until = performance.now() + 1_500;
	setImmediate(() => {
		while (performance.now() < until);
	});
	assert.equal((await token).accessToken, 'access-2');
	assert.deepEqual(endpoint.asked, ['refresh-1']);
});
