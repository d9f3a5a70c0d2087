import assert from 'node:assert/strict';
import test from 'node:test';

import { RESULT_INFO } from '../src/core/contract-seals.js';
import { seal } from '../src/core/seal.js';
import { UrlMode } from '../src/index.js';
import { bindingOf } from '../src/core/token.js';
import { connectionsOf, named, request, setUp } from './support/database.js';

const WAITS = 2_000;
const BATCH = 100;

test(`${WAITS} waits in one process resolve each to its own outcome, over one connection`, async (t) => {
	const { urlmode, settings, admin, callback, applicationName } = await setUp(t);
	const waiting = new UrlMode({ ...settings, databaseUrl: named(settings.databaseUrl, `${applicationName}-waits`) });
	t.after(() => waiting.close());

	const subjectOf = (index) => `user-${index}`;
	const ids = (await Promise.all(Array.from({ length: WAITS }, (_, index) =>
		urlmode.create({ ...request, subject: subjectOf(index) })))).map((e) => e.elicitationId);
	const waits = ids.map((id, index) => waiting.waitForCompletion(id, { subject: subjectOf(index) }));

	// In batches and in no order, as the callback programs do.
	const order = ids.map((_, index) => index).sort(() => Math.random() - 0.5);
	for (let start = 0; start < WAITS; start += BATCH) {
		const batch = order.slice(start, start + BATCH).map((index) => {
			const [id, binding] = [ids[index], bindingOf(subjectOf(index), '')];
			const action = index % 3 === 0 ? 'decline' : 'accept';
			const result = seal(callback.keys, { id, binding, use: RESULT_INFO }, JSON.stringify({ code: `code-${index}` }));
			return [id, binding, 'demo', action, action === 'decline' ? 'access_denied' : '', result];
		});
		await callback.client.query(`SELECT urlmode.complete(ids => $1::uuid[], bindings => $2::bytea[], providers => $3,
			actions => $4, reasons => $5, results => $6::bytea[])`, [0, 1, 2, 3, 4, 5].map((c) => batch.map((row) => row[c])));
	}

	const outcomes = await Promise.all(waits);
	for (const [index, outcome] of outcomes.entries()) {
		const declined = index % 3 === 0;
		assert.deepEqual(outcome, {
			elicitationId: ids[index], action: declined ? 'decline' : 'accept', reason: declined ? 'access_denied' : '',
			result: { code: `code-${index}` },
		});
	}
	const connections = await connectionsOf(admin, `${applicationName}-waits`);
	assert.equal(connections.filter(({ query }) => /urlmode\.read/.test(query)).length, 1);
	assert.ok(connections.length <= 2, 'another notes what was read');
	assert.ok((await connectionsOf(admin, applicationName)).length <= 4, 'the pool is small');
});
