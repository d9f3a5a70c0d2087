// urlmode/http without a database: the leases of a claim and of a consumer of the ledger.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { owner, play } from './support/api.js';

test('the end of a claim is told again after whatever a proxy says, and a confirmation after a lost connection', async (t) => {
	const answers = [];
	const { urlmode, calls } = await play(t, (method) => {
		if (method === 'begin_claim') return { state: 'begun', reference: 'pi_1', fence: 3 };
		return answers.shift() ?? {};
	});
	const claim = await urlmode.beginClaim(randomUUID(), owner);
	answers.push([500, 'a page of a proxy'], [403, 'another one'], [429, '']);
	assert.equal(await claim.fulfil({ a: 1 }), true);
	answers.push('break');
	assert.equal(await claim.confirm(), true);
	assert.deepEqual(calls.map(({ method }) => method), ['begin_claim', ...Array(4).fill('fulfil_claim'), 'confirm_claim', 'confirm_claim']);
	const other = await urlmode.beginClaim(randomUUID(), owner);
	calls.length = 0;
	answers.push([400, { error: { code: 'invalid_request', message: 'It is so.' } }]);
	await assert.rejects(other.fulfil({ a: 1 }), { name: 'TypeError' });
	assert.equal(calls.length, 1);
});

test('a lease whose row was purged meanwhile is lost', async (t) => {
	const gone = [404, { error: { code: 'not_found', message: 'There is no such elicitation.' } }];
	let asked = false;
	const { urlmode } = await play(t, (method) => {
		if (method !== 'begin_claim') return gone;
		if (asked) return { state: 'begun', reference: 'pi_1', fence: 3 };
		asked = true;
		return [409, { error: { code: 'recheck', message: 'Ask first.', recheck: { lease: '1-1', provider: 'stripe', type: null, references: [], expected: null, checkout: null } } }];
	}, { rechecks: { stripe: async () => ({ payments: [], refunds: [] }) } });
	const begin = () => urlmode.beginClaim(randomUUID(), owner);
	const claim = await begin();
	await assert.rejects(claim.fulfil({ a: 1 }), { name: 'ClaimLostError' });
	assert.equal(await claim.confirm(), false);
	assert.equal(await (await begin()).release(), false);
});

test('the lease of a consumer of the ledger is renewed while it works, from the first entry on', async (t) => {
	const { urlmode, calls } = await play(t, (method, { after }) => {
		const number = after === undefined ? 1 : Number(after.split('.')[1]) + 1;
		return { items: [{ number, type: 'paid', kind: 'payment', amount: 1, currency: 'EUR' }], next: `77.${number}` };
	});
	t.mock.timers.enable({ apis: ['setInterval'] });
	const entries = urlmode.ledger({ consumer: 'books' });
	for (const expected of [[undefined, '77.0'], ['77.1', '77.0']]) {
		calls.length = 0;
		await entries.next();
		t.mock.timers.tick(4_000);
		while (calls.length < 2) await sleep(5);
		assert.deepEqual(calls.map(({ body: { after } }) => after), expected);
	}
	await entries.return();
});
