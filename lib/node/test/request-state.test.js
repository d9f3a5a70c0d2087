// A requestState that is not valid for its call is refused, and the client gets
// a JSON-RPC error that says what to do.

import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import test from 'node:test';

import { rejectRequestState, withElicitation } from '../src/adapters/mcp-use.js';
import { digestOfRequest } from '../src/core/digest.js';
import { internalsOf } from '../src/core/internals.js';
import { GRACE_MAX_SECONDS, mintState, openState } from '../src/core/token.js';
import { request, setUp } from './support/database.js';

const INVALID = /^The requestState does not belong to this call\. Call the tool again without requestState/;
const EXPIRED = /^The requestState has expired\. Call the tool again without requestState/;

/** A user with a handle, and the call that sends one. */
async function setUpHandle(t) {
	const fixture = await setUp(t);
	const options = { ...request, urlmode: fixture.urlmode, subject: `user-${randomUUID()}`, message: 'Please.', roundTimeout: 50 };
	const ask = (state, more = {}) => withElicitation({ ...options, ...more, typed: false, call: {
		signal: new AbortController().signal, client: { capabilities: () => ({ elicitation: { url: {} } }), info: () => ({}) },
		requestState: () => state, reportProgress: async () => true,
	} }, async () => assert.fail('nobody has accepted'));
	const { requestState } = await ask(undefined);
	const { rows: [{ id: elicitationId }] } = await fixture.admin.query('SELECT id FROM urlmode.elicitation WHERE subject = $1', [options.subject]);
	return { ...fixture, ask, elicitationId, handle: requestState };
}

/** The handle that a package without items has made for a request, with its resume key. */
function handleWithoutItem({ urlmode }, handle, wanted, key) {
	const { keys } = internalsOf(urlmode);
	const { browser, ...sealed } = openState(keys, 'retry', '', handle.slice(0, -2));
	const purpose = createHash('sha256').update(digestOfRequest(wanted)).update(key).digest().subarray(0, 16);
	return `${mintState(keys, 'retry', '', { ...sealed, browser: purpose })}.1`;
}

/** Another character at this place. */
const change = (text, at) => text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1);

test('one that was changed, or is of another user, session, provider or request, is refused', async (t) => {
	const fixture = await setUpHandle(t);
	const { ask, handle } = fixture;
	const refused = { name: 'RequestStateError', code: 'REQUEST_STATE', reason: 'invalid_request_state', message: INVALID };
	const { requestState: keyed } = await ask(undefined, { resumeKey: 'k', about: { scopes: ['read'] } });
	const price = { amount: 1, currency: 'EUR' };
	const payment = { kind: 'payment', targetUrl: 'https://shop.example/pay', item: 'report:42', expected: price };
	const { requestState: bought } = await ask(undefined, payment);
	const earlier = handleWithoutItem(fixture, bought, { provider: 'demo', kind: 'payment', expected: price }, 'p');
	for (const [name, state, more] of [
		['empty', ''],
		['no text', 7],
		['longer', `${handle}-TAMPERED`],
		['without its count', handle.slice(0, -2)],
		['changed', change(handle, 60)],
		['of another user', handle, { subject: 'somebody' }],
		['of another session', handle, { session: 'another' }],
		['of another provider', handle, { provider: 'another' }],
		['of another resume key', handle, { resumeKey: 'another' }],
		['of another kind', handle, { kind: 'signature', item: 'report:42' }],
		['of another request, although the resume key is the same', keyed, { resumeKey: 'k', about: { scopes: ['write'] } }],
		['of a package without items, of another price', earlier, { ...payment, resumeKey: 'p', expected: { amount: 9_999, currency: 'EUR' } }],
		['of another item', bought, { ...payment, item: 'report:43' }],
	]) {
		await assert.rejects(ask(state, more), refused, name);
	}
	for (const [name, state, more] of [
		['the right one', handle],
		['with another message', handle, { message: 'Another.' }],
		['at another price for the same item', bought, { ...payment, message: 'Another.', expected: { amount: 2, currency: 'EUR' } }],
		['of a package without items', earlier, { ...payment, resumeKey: 'p' }],
	]) {
		assert.equal((await ask(state, more)).structuredContent.elicitation.status, 'pending', name);
	}
});

test('one that has expired, or whose row is deleted, is refused as expired', async (t) => {
	const { admin, ask, elicitationId, handle } = await setUpHandle(t);
	const refused = { reason: 'expired_request_state', message: EXPIRED };
	const now = Date.now();
	const clock = t.mock.method(Date, 'now', () => now + (GRACE_MAX_SECONDS + 3_600) * 1_000);
	await assert.rejects(ask(handle), refused);
	clock.mock.restore();
	await admin.query('DELETE FROM urlmode.elicitation WHERE id = $1', [elicitationId]);
	// The database is asked, however long that takes here.
	await assert.rejects(ask(handle, { roundTimeout: 20_000 }), refused);
});

test('the response is a JSON-RPC error in place of the tool result, with its id and headers', async (t) => {
	const { ask, handle } = await setUpHandle(t);
	const answer = (result, type = 'application/json') => new Response(JSON.stringify({ jsonrpc: '2.0', id: 7, result }),
		{ headers: { 'content-type': type, 'x-request-id': 'a' } });
	const serve = (state, type) => rejectRequestState(async () => {
		try {
			return answer(await ask(state), type);
		} catch (error) {
			return answer({ isError: true, content: [{ type: 'text', text: error.message }] }, type);
		}
	})(new Request('https://mcp.example/mcp'));

	const [refused, other] = await Promise.all([serve(change(handle, 60)), serve(handle)]);
	const { error, ...rest } = await refused.json();
	assert.deepEqual(rest, { jsonrpc: '2.0', id: 7 });
	assert.equal(error.code, -32602);
	assert.match(error.message, INVALID);
	assert.deepEqual(error.data, { reason: 'invalid_request_state' });
	assert.equal(refused.headers.get('x-request-id'), 'a');
	assert.equal((await other.json()).result.structuredContent.elicitation.status, 'pending', 'another call at the same time has its own result');
	assert.equal((await serve(handle)).headers.get('content-type'), 'application/json');
	assert.equal((await (await serve('x', 'text/event-stream')).json()).result.isError, true);
});
