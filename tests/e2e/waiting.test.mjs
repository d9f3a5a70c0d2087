// The promise of the SDK against everything that can come between.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { internalsOf } from '../../lib/node/src/core/internals.js';
import { terminate } from '../../lib/node/test/support/database.js';
import { sender } from '../support/deliveries.mjs';
import { comeBack, goOn } from '../support/flow.mjs';
import { openFixture } from '../support/fixture.mjs';
import { LISTENING } from '../support/locks.mjs';
import { until } from '../support/wait.mjs';

const COUNT = 1_000;
const AT_ONCE = 32;

let fixture;

before(async () => {
	fixture = await openFixture({ name: 'waiting', own: true });
});

after(() => fixture?.close());

/** The connections of MCP servers, the one that listens among them. */
const serverConnections = () => fixture.stack.sql(`
	SELECT pid FROM pg_stat_activity WHERE usename = 'urlmode_server'`);

const untilListening = () => until('somebody listens', async () => (await fixture.stack.sql(LISTENING)).length > 0);

// Rows are read without a reason, too, but not as soon as this.
const waitFor = ({ id, owner }, options) => fixture.urlmode.waitForCompletion(id, { ...owner, timeout: 20_000, ...options });

async function complete(browser, flow, code) {
	assert.equal((await comeBack(browser, flow.returnTo({ code }))).location, '/done');
}

/** Runs `action` for each item, `atOnce` of them at a time. */
async function inParallel(items, atOnce, action) {
	const rest = items.entries();
	await Promise.all(Array.from({ length: atOnce }, async () => {
		for (const [index, item] of rest) {
			await action(item, index);
		}
	}));
}

test('the return arrives before anyone waits', async () => {
	const browser = fixture.browser();
	const flow = await fixture.goOn(browser);

	await complete(browser, flow, 'early');
	assert.equal((await waitFor(flow)).result.code, 'early');
	assert.equal((await waitFor(flow)).result.code, 'early', 'and for whoever asks again');
});

test('one return wakes every waiter, on this instance and on another', async () => {
	const browser = fixture.browser();
	const flow = await fixture.goOn(browser);
	const other = fixture.openUrlMode();
	const waits = [waitFor(flow), waitFor(flow), other.waitForCompletion(flow.id, flow.owner)];

	await complete(browser, flow, 'shared');
	for (const { result } of await Promise.all(waits)) {
		assert.equal(result.code, 'shared');
	}
});

describe('what a program seals for the notification resolves the wait', () => {
	/** The outcome of a wait, and how often rows were read after `act`. */
	async function outcomeOf(flow, act) {
		const { listener } = internalsOf(fixture.urlmode);
		const wait = waitFor(flow, { timeout: 10_000 });
		await untilListening();
		// Another read would show what this one has begun to read.
		await until('it has read the row', async () => (await listener.query('SELECT', [])).length === 1);
		const query = listener.query;
		let reads = 0;
		listener.query = (...statement) => {
			reads += 1;
			return query.apply(listener, statement);
		};
		try {
			await act();
			return [await wait, reads];
		} finally {
			listener.query = query;
		}
	}

	test('a return', async () => {
		const browser = fixture.browser();
		const flow = await fixture.goOn(browser);
		const [{ action, reason, result }, reads] = await outcomeOf(flow, () => complete(browser, flow, 'without a read'));
		assert.deepEqual([action, reason, result.code, reads], ['accept', '', 'without a read', 0]);
	});

	test('a return that declines', async () => {
		const browser = fixture.browser();
		const flow = await fixture.goOn(browser);
		const [{ action, reason }, reads] = await outcomeOf(flow, () => comeBack(browser, flow.returnTo({ error: 'access_denied' })));
		assert.deepEqual([action, reason, reads], ['decline', 'access_denied', 0]);
	});

	test('a webhook, and then a claim by its reference', async () => {
		const payment = await fixture.createPayment('stripe', { expected: { amount: 1_000, currency: 'EUR' } });
		const stripe = sender(fixture, 'stripe');
		const [outcome, reads] = await outcomeOf(payment, () => stripe.send(stripe.event(payment.id, 'paid')));
		assert.deepEqual([outcome.action, outcome.reference, outcome.result.amount, reads], ['accept', `cs_test_${payment.id}`, 1_000, 0]);
		assert.deepEqual(await fixture.urlmode.waitForCompletion(payment.id, payment.owner), outcome, 'the row says the same');
		assert.equal(await fixture.urlmode.claim(payment.id, { ...payment.owner, reference: outcome.reference }), true);
	});
});

test('the waiter hears that the page was opened', async () => {
	const elicitation = await fixture.create();
	const heard = [];
	const wait = waitFor(elicitation, { onProgress: (status) => heard.push(status) });
	const browser = fixture.browser();

	await browser.send({ url: new URL(elicitation.url) });
	assert.deepEqual(heard, []);
	const page = await browser.open(elicitation.url);
	await browser.submit(page, { button: 'continue' }).catch(() => {}); // nobody is at the target
	await until('it was heard', () => heard.length > 0);
	await browser.submit(page, { button: 'refuse' });
	assert.equal((await wait).action, 'decline');
	assert.deepEqual(heard, ['opened']);
});

describe('the listening connection', () => {
	test('dies and comes back: nothing is lost', async () => {
		const browser = fixture.browser();
		const flow = await fixture.goOn(browser);
		let settled = false;
		const wait = waitFor(flow).finally(() => { settled = true; });

		await untilListening();
		await fixture.stack.sql('ALTER ROLE urlmode_server NOLOGIN');
		try {
			await terminate((sql, values) => fixture.stack.sql(sql, values), "usename = 'urlmode_server'");
			await complete(browser, flow, 'unheard');
			assert.deepEqual(await serverConnections(), [], 'nobody listened when the notification went out');
			assert.equal(settled, false);
		} finally {
			await fixture.stack.sql('ALTER ROLE urlmode_server LOGIN');
		}
		assert.equal((await wait).result.code, 'unheard');
	});

	test('dies ten times in a row', async () => {
		for (let round = 0; round < 10; round++) {
			const browser = fixture.browser();
			const flow = await fixture.goOn(browser);
			const wait = waitFor(flow);

			await untilListening();
			await fixture.stack.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'urlmode_server'");
			await complete(browser, flow, `round ${round}`);
			assert.equal((await wait).result.code, `round ${round}`);
		}
	});
});

test('a thousand at once, each with its own code, over one listening connection', async () => {
	const elicitations = Array.from({ length: COUNT });
	const waits = [];

	await inParallel(elicitations, AT_ONCE, async (_, index) => {
		const browser = fixture.browser({ timeout: 60_000 });
		const flow = await fixture.goOn(browser, { subject: `user-${index}` });
		browser.close(); // its connection: a thousand of them are not the point
		elicitations[index] = { browser, flow };
		waits[index] = waitFor(flow, { timeout: 300_000 });
	});
	await untilListening();
	assert.equal((await fixture.stack.sql(LISTENING)).length, 1);

	// The last to be created come back first.
	await inParallel([...elicitations.entries()].reverse(), AT_ONCE, async ([index, { browser, flow }]) => {
		await complete(browser, flow, `code of ${index}`);
		browser.close();
	});
	const outcomes = await Promise.all(waits);
	assert.deepEqual(outcomes.map(({ result }) => result.code),
		outcomes.map((_, index) => `code of ${index}`));
	assert.deepEqual(outcomes.map(({ elicitationId }) => elicitationId),
		elicitations.map(({ flow }) => flow.id));
});

test('the row expires: cancel, expired, and the browser is told', async () => {
	const browser = fixture.browser();
	const flow = await goOn(fixture.urlmode, browser, { ttl: 1_000, issuer: fixture.stack.env.URLMODE_DEMO_ISSUER });
	const { action, reason, result } = await waitFor(flow);

	assert.deepEqual([action, reason, result], ['cancel', 'expired', undefined]);
	const before = await fixture.row(flow.id);
	const hop = await comeBack(browser, flow.returnTo({ code: 'late' }));
	assert.ok([200, 410].includes(hop.status), `${hop.status}`);
	assert.equal(await fixture.row(flow.id), before);
});
