// Deliveries again and again, at once, in any order, while programs die and
// PostgreSQL is away: through two processes of each program.

import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';

import { post, sender } from '../support/deliveries.mjs';
import { replay, writeDeliveries } from '../support/replay.mjs';
import { openFixture } from '../support/fixture.mjs';
import { until } from '../support/wait.mjs';

const PRICE = { amount: 1050, currency: 'EUR' };

let fixture;
let from;

before(async () => {
	fixture = await openFixture({ name: 'replays', own: true, env: { PROCESSES: '2' } });
	from = sender(fixture, 'stripe');
});

after(() => fixture?.close());

describe('an event counts once, whatever comes after it', () => {
	test('again, and again at the same instant', async () => {
		const elicitation = await fixture.createPayment();
		const delivery = await from.deliver(from.event(elicitation.id, 'paid', PRICE));
		const answers = await Promise.all(Array.from({ length: 8 }, () => post(delivery)));
		assert.deepEqual(answers.map(({ status }) => status), Array(8).fill(200));
		const before = await fixture.row(elicitation.id);
		assert.equal((await post(delivery)).status, 200);
		assert.equal(await fixture.row(elicitation.id), before);
		assert.equal((await fixture.events(elicitation)).length, 1);
	});

	test('failed after paid undoes nothing, and paid after expired is kept and visible', async () => {
		const paid = await fixture.createPayment();
		await from.send(from.event(paid.id, 'paid', PRICE));
		const before = await fixture.row(paid.id);
		assert.equal((await from.send(from.event(paid.id, 'failed'))).status, 200);
		assert.equal(await fixture.row(paid.id), before);
		assert.deepEqual((await fixture.events(paid)).map(({ action }) => action), ['accept', 'late']);

		const expired = await fixture.createPayment();
		await from.send(from.event(expired.id, 'expired'));
		assert.equal((await from.send(from.event(expired.id, 'paid', PRICE))).status, 200);
		assert.deepEqual(await fixture.state(expired), ['completed', 'cancel', 'expired']);
		const [, late] = await fixture.events(expired);
		assert.deepEqual(
			{ action: late.action, type: late.type, provider: late.provider },
			{ action: 'late', type: 'checkout.session.completed', provider: 'stripe' });
	});

	test('a thousand in any order, a tenth of them twice, end in the rows of the order in which they happened', async () => {
		const file = path.join(fixture.stack.runDir, 'deliveries');
		await writeDeliveries(fixture, file, 1_000);
		const { rows } = await replay(fixture, file);
		const shuffled = await replay(fixture, file, { seed: 7 });
		assert.ok(shuffled.deliveries > 1_050, String(shuffled.deliveries));
		assert.deepEqual(shuffled.rows.filter((row, n) => row !== rows[n]), []);
	});
});

test('programs that are killed and a PostgreSQL that crashes lose nothing that was taken', async () => {
	const file = path.join(fixture.stack.runDir, 'more-deliveries');
	await writeDeliveries(fixture, file, 600);
	const { rows } = await replay(fixture, file);
	let restarting;
	let killed = 0;
	const killOne = async () => {
		try {
			process.kill((await fixture.stack.program('webhook')).pid, 'SIGKILL');
			killed += 1;
		} catch {
			// None is there: the one before has only just been killed.
		}
	};
	const shuffled = await replay(fixture, file, {
		seed: 3,
		onTaken: async (count) => {
			if (count === 100) {
				// At once, and so without writing what only the log has yet.
				process.kill(await fixture.stack.pid('postgres'), 'SIGQUIT');
				restarting = fixture.stack.service('restart', 'postgres');
				await killOne();
			} else if (count > 100 && count % 40 === 0) {
				await killOne();
			}
		},
	});
	await restarting;
	// Whether the provider has to send one again is luck: nginx does so before.
	assert.ok(killed > 1, `${killed} killed`);
	assert.deepEqual(shuffled.rows.filter((row, n) => row !== rows[n]), []);
});

test('PostgreSQL away: 503, so that the provider tries again; then it is taken', async () => {
	const elicitation = await fixture.createPayment();
	const delivery = await from.deliver(from.event(elicitation.id, 'paid', PRICE));
	await fixture.stack.service('stop', 'postgres');
	const answer = await post(delivery);
	assert.equal(answer.status, 503);
	assert.ok(answer.headers['retry-after']);
	await refusedMeanwhile(delivery);
	await fixture.stack.service('start', 'postgres');
	await until('it is taken', async () => (await post(delivery)).status === 200);
	assert.deepEqual(await fixture.state(elicitation), ['completed', 'accept', '']);
});

async function refusedMeanwhile(delivery) {
	const forged = await post({ ...delivery, body: `${delivery.body} ` });
	assert.equal(forged.status, 401);
}
