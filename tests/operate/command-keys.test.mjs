// A rotation by urlmode keys while elicitations are under way: no program and no
// MCP server is started again, and none of them is told.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { urlmode } from '../support/command.mjs';
import { comeBack } from '../support/flow.mjs';
import { openFixture } from '../support/fixture.mjs';

let fixture;

before(async () => {
	fixture = await openFixture({ name: 'command-keys', own: true });
});

after(() => fixture?.close());

async function keys(...args) {
	const { status, out, err } = await urlmode(['keys', ...args], { URLMODE_CONFIG: fixture.stack.env.URLMODE_CONFIG });
	assert.deepEqual([status, err], [0, '']);
	return out;
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
