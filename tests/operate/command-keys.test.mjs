// A rotation by urlmode keys while elicitations are under way: no program and no
// MCP server is started again, and none of them is told.

import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { urlmode } from '../support/command.mjs';
import { bindingOf } from '../../lib/node/src/core/token.js';
import { sender } from '../support/deliveries.mjs';
import { comeBack } from '../support/flow.mjs';
import { openFixture } from '../support/fixture.mjs';

let fixture;

before(async () => {
	fixture = await openFixture({ name: 'command-keys', own: true });
});

after(() => fixture?.close());

const run = (...args) => {
	const { URLMODE_CONFIG, URLMODE_OPERATOR_DATABASE_URL } = fixture.stack.env;
	return urlmode(['keys', ...args], { URLMODE_CONFIG, URLMODE_OPERATOR_DATABASE_URL });
};

async function keys(...args) {
	const { status, out, err } = await run(...args);
	assert.deepEqual([status, err], [0, '']);
	return out;
}

/** Lets so many days pass since the last rotation. */
async function passDays(days) {
	const file = fixture.stack.env.URLMODE_KEYS_FILE;
	const text = await readFile(file, 'utf8');
	await writeFile(file, text.replaceAll(/^# (\S+)/gm, (_, at) => `# ${new Date(Date.parse(at) - days * 86_400_000).toISOString().slice(0, 19)}Z`));
}

/** An elicitation from its link to the code that comes back. */
async function walk(flow, browser, code) {
	const back = await comeBack(browser, flow.returnTo({ code }));
	assert.equal(new URL(back.location, fixture.stack.baseUrl).pathname, '/done');
	const outcome = await fixture.urlmode.waitForCompletion(flow.id, flow.owner);
	assert.deepEqual([outcome.action, outcome.result.code], ['accept', code]);
}

/** Whoever uses the keys file looks at it once a second at most. */
const NOTICED_MS = 1_100;

test('what was begun before each step is completed after it', async () => {
	const browser = fixture.browser();
	const first = await fixture.goOn(browser);
	assert.match(await keys('rotate'), /Key 2 is in/);
	const second = await fixture.goOn(browser);
	await walk(first, browser, 'first');
	assert.match(await keys('rotate', '--promote'), /Key 2 seals from now on/);
	await sleep(NOTICED_MS);
	await walk(second, browser, 'second');
	const third = await fixture.goOn(browser);
	await keys('drop', '--force', '1');
	await walk(third, browser, 'third');
	const last = await fixture.goOn(browser);
	await walk(last, browser, 'last');
});

test('a key is kept while something that it sealed is open, however long ago that was', async () => {
	const refused = async (message) => {
		const { status, out, err } = await run('drop', '2');
		assert.deepEqual([status, out], [1, '']);
		assert.match(err, message);
		assert.match(err, /--force/);
	};
	await fixture.stack.sql('DELETE FROM urlmode.elicitation');
	const approval = await fixture.create({ provider: 'approvals', kind: 'approval', targetUrl: undefined, form: { title: 'Terms' }, ttl: 300 * 86_400_000 });
	const payment = await fixture.createPayment('stripe', { expected: { amount: 1050, currency: 'EUR' } });
	const stripe = sender(fixture, 'stripe');
	assert.equal((await stripe.send(stripe.event(payment.id, 'paid', { amount: 1050, currency: 'EUR' }))).status, 200);
	const account = await fixture.goOn(fixture.browser());
	await keys('rotate');
	assert.match(await keys('rotate', '--promote'), /In 1 day: urlmode keys drop 2/);
	await refused(/key 2 may be needed for 1 day more/);
	await passDays(400);

	await refused(/key 2 is still needed: open elicitations: 3, the last one until 20\d\d-\d\d-\d\d; with a value that it sealed: 2;/);
	await fixture.urlmode.cancel(approval.id, approval.owner);
	// As a caller of the functions may complete it: an empty value needs no key.
	await fixture.stack.sql("UPDATE urlmode.elicitation SET result = '' WHERE id = $1", [approval.id]);
	await fixture.stack.sql("UPDATE urlmode.elicitation SET expires_at = now() - interval '400 days' WHERE id = $1", [payment.id]);
	// Its link has another key, and the state with which the browser comes back may have this one.
	await fixture.stack.sql("UPDATE urlmode.elicitation SET link_kid = 3, opened_at = opened_at - interval '401 days' WHERE id = $1", [account.id]);
	await refused(/key 2 is still needed: open elicitations: 1, /);
	await fixture.urlmode.cancel(account.id, account.owner);
	await refused(/key 2 is still needed: open elicitations: 0; with a value that it sealed: 1;/);

	const { owner } = payment;
	assert.equal((await fixture.urlmode.waitForCompletion(payment.id, owner)).action, 'accept');
	await fixture.stack.sql('SELECT urlmode.claim($1, $2)', [payment.id, bindingOf(owner.subject, owner.session)]);
	await fixture.stack.sql('UPDATE urlmode.purge_queue SET due_at = now()');
	await fixture.stack.sql('SELECT urlmode.purge_results()');
	assert.match(await keys('drop', '2'), /Key 2 is dropped/);
});
