// The programs behind PgBouncer in transaction mode: each transaction may go to
// another server, and five programs share fewer.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { startPgBouncer } from '../../lib/node/test/support/pgbouncer.js';
import { configure, PROGRAMS } from '../security/deployment.mjs';
import { sender } from '../support/deliveries.mjs';
import { comeBack } from '../support/flow.mjs';
import { openFixture } from '../support/fixture.mjs';
import { until } from '../support/wait.mjs';

const PRICE = { amount: 1050, currency: 'EUR' };
const POOLED = 'database: there is a pooler, so statements are not prepared';

let fixture;

before(async () => {
	fixture = await openFixture({ name: 'pools', own: true, env: { PROCESSES: '2' } });
});

after(() => fixture?.close());

const noticesSince = async (begin) => (await fixture.stack.programLog()).filter(({ notice, time }) => notice && time >= begin);

/** An account and a payment, by all programs. */
async function walk() {
	const browser = fixture.browser();
	const flow = await fixture.goOn(browser);
	await comeBack(browser, flow.returnTo({ code: 'c' }));
	assert.deepEqual(await fixture.state(flow), ['completed', 'accept', '']);

	const payment = await fixture.goOn(browser, {
		provider: 'stripe', kind: 'payment', targetUrl: 'https://checkout.example/pay', expected: PRICE,
	});
	assert.equal((await browser.open(payment.returnUrl)).status, 200);
	const stripe = sender(fixture, 'stripe');
	assert.equal((await stripe.send(stripe.event(payment.id, 'paid', PRICE))).status, 200);
	assert.deepEqual(await fixture.state(payment), ['completed', 'accept', '']);
	assert.equal((await comeBack(browser, payment.returnUrl)).location, '/done');
}

/** Has the programs use this database, and walks; what they complained of since. */
async function serve(url) {
	const begin = new Date().toISOString();
	await configure(fixture.stack, (config) => {
		config.database_url = url;
	});
	await fixture.untilServing();
	await Promise.all(Array.from({ length: 12 }, walk));
	return (count) => until(`${count} messages`, async () => {
		const said = (await noticesSince(begin)).map(({ program, notice }) => `${program}: ${notice}`).sort();
		return said.length >= count && said;
	});
}

test('each process works behind PgBouncer and says once that it is there, and without it says nothing', async (t) => {
	const direct = fixture.stack.env.URLMODE_PROGRAMS_DATABASE_URL;
	const expected = PROGRAMS.flatMap((name) => [`${name}: ${POOLED}`, `${name}: ${POOLED}`]).sort();
	for (const [mode, size] of [['transaction', 4], ['session', 20]]) {
		const said = await serve(await startPgBouncer(t, direct, { mode, size }));
		assert.deepEqual(await said(expected.length), expected, mode);
		const connections = await fixture.stack.sql("SELECT FROM pg_stat_activity WHERE usename = 'urlmode_cgi'");
		assert.ok(connections.length <= size, `${connections.length} connections of ten processes`);
	}
	assert.deepEqual(await (await serve(direct))(0), []);
});
