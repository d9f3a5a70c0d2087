// A return that is done stays done, however often and in whatever order it
// comes; rows that share a transaction do not share their fate.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { comeBack, press } from '../support/flow.mjs';
import { countRequests, holdRow, untilHeld, waitLongerForLocks, watchTransactions } from '../support/locks.mjs';
import { openFixture } from '../support/fixture.mjs';

let fixture;
let transactions;

before(async () => {
	fixture = await openFixture({ name: 'done', own: true });
	await waitLongerForLocks(fixture.stack);
	transactions = await watchTransactions(fixture.stack);
});

after(() => fixture?.close());

const outcomeOf = ({ id, owner }) => fixture.urlmode.waitForCompletion(id, { ...owner, timeout: 0 });

/** A second connection of the same browser. */
function twin(browser) {
	return fixture.browser({ jar: browser.jar.clone() });
}

function assertAlreadyDone(hop) {
	assert.equal(hop.status, 200);
	assert.match(hop.body, /<h1>Already done<\/h1>/);
}

test('reloading a return that is done shows “already done”, and changes nothing', async () => {
	const browser = fixture.browser();
	const flow = await fixture.goOn(browser);
	const url = flow.returnTo({ code: 'first' });
	assert.equal((await comeBack(browser, url)).status, 303);
	const before = await fixture.row(flow.id);

	for (const again of [
		url,
		flow.returnTo({ code: 'another' }),
		flow.returnTo({ error: 'access_denied' }),
		flow.returnTo({ error: 'server_error' }),
	]) {
		assertAlreadyDone(await comeBack(browser, again));
	}
	assert.equal(await fixture.row(flow.id), before);
	assert.equal((await outcomeOf(flow)).result.code, 'first');
});

test('the link of a completed elicitation shows “already done”', async () => {
	const browser = fixture.browser();
	const flow = await fixture.goOn(browser);
	await comeBack(browser, flow.returnTo({ code: 'c' }));
	const before = await fixture.row(flow.id);

	const page = await browser.open(flow.url);
	assert.equal(page.status, 200);
	assert.equal(page.find('h1')[0].text, 'Already done');
	for (const button of ['continue', 'refuse']) {
		const late = await browser.submit(flow.confirm, { button });
		assert.equal(late.url, fixture.url('/done'));
		assert.equal(late.find('h1')[0].text, 'Already done');
	}
	assert.equal(await fixture.row(flow.id), before);
});

for (const [name, end] of [
	['cancelled', ({ id, owner }) => fixture.urlmode.cancel(id, owner)],
	['abandoned', ({ id, owner }) => fixture.urlmode.abandon(id, owner)],
	['superseded', ({ owner }) => fixture.create({ ...owner, exclusive: true })],
	['expired', async ({ id, owner }) => {
		await fixture.stack.sql(`UPDATE urlmode.elicitation SET expires_at = now() WHERE id = $1`, [id]);
		await fixture.urlmode.waitForCompletion(id, owner);
	}],
]) {
	test(`the link of an elicitation that was ${name} before its user came says that it has ended`, async () => {
		const browser = fixture.browser();
		const elicitation = await fixture.create();
		const shown = await browser.open(elicitation.url);
		await end(elicitation);
		assert.deepEqual((await fixture.state(elicitation)).slice(0, 2), ['completed', 'cancel']);
		const before = await fixture.row(elicitation.id);

		for (const page of [await fixture.browser().open(elicitation.url), await browser.open(elicitation.url)]) {
			assert.equal(page.status, 200);
			assert.equal(page.find('h1')[0].text, 'This request has ended');
			assert.match(page.body, /It was ended before you came\..*go back and ask again\./);
		}
		for (const button of ['continue', 'refuse']) {
			const late = await browser.submit(shown, { button });
			assert.equal(late.url, fixture.url('/done'));
			assert.equal(late.find('h1')[0].text, 'This request has ended');
		}
		assert.equal(await fixture.row(elicitation.id), before);
	});
}

test('the return of a user whose request was cancelled meanwhile says that it has ended', async () => {
	const browser = fixture.browser();
	const flow = await fixture.goOn(browser);
	await fixture.urlmode.cancel(flow.id, flow.owner);
	const before = await fixture.row(flow.id);
	const hop = await comeBack(browser, flow.returnTo({ code: 'c' }));
	assert.equal(hop.status, 200);
	assert.match(hop.body, /<h1>This request has ended<\/h1>/);
	assert.equal(await fixture.row(flow.id), before);
});

test('the last page has a clean address, and says how it ended', async () => {
	for (const [parameters, title] of [
		[{ code: 'c' }, 'You can go back'],
		[{ error: 'access_denied' }, 'Declined'],
		[{ error: 'server_error' }, 'That did not work'],
	]) {
		const browser = fixture.browser();
		const flow = await fixture.goOn(browser);
		const page = await browser.open(flow.returnTo(parameters));
		assert.equal(page.url, fixture.url('/done'));
		assert.equal(page.find('h1')[0].text, title);
		assert.match(page.text, /[Cc]lose this tab/);
		assert.equal(page.hops[0].body, '');
		assert.equal((await browser.open(page.url)).find('h1')[0].text, title, 'and when it is reloaded');
	}
});

describe('the page of an account says what is true', () => {
	const titleOf = async (browser) => (await browser.open(fixture.url('/done'))).find('h1')[0].text;

	/** A user who has agreed and come back. */
	async function agreed() {
		const browser = fixture.browser();
		const flow = await fixture.goOn(browser);
		const page = await browser.open(flow.returnTo({ code: 'c' }));
		return { browser, page, ...flow };
	}

	for (const [how, end, title, text] of [
		['has succeeded', (claim) => claim.fulfil(), 'The account is connected', /close this tab/],
		['has failed', (claim) => claim.release('exchange_refused'), 'The account is not connected', /connect the account again/],
	]) {
		test(`when the exchange ${how}`, async () => {
			const { browser, page, id, owner } = await agreed();
			assert.equal(page.find('h1')[0].text, 'You can go back');
			const claim = await fixture.urlmode.beginClaim(id, owner);
			assert.equal(await titleOf(browser), 'You can go back', 'while it goes on');
			await end(claim);
			const last = await browser.open(page.url);
			assert.equal(last.find('h1')[0].text, title);
			assert.match(last.text, text);
			assert.equal(last.hops.at(-1).headers.refresh, undefined);
		});
	}

	test('it asks again by itself, for a minute, at an address that says nothing', async () => {
		const { browser, page } = await agreed();
		assert.equal(page.url, fixture.url('/done'));
		assert.equal(page.hops.at(-1).headers.refresh, '2');
		const [cookie] = page.hops[0].headers['set-cookie'].filter((one) => one.startsWith('__Host-urlmode-follow='));
		assert.match(cookie, /; Path=\/; Max-Age=60; Secure; HttpOnly; SameSite=Lax$/);
		assert.ok(!/[?#]/.test(page.url));
		const other = await fixture.browser().open(page.url);
		assert.deepEqual([other.find('h1')[0].text, other.hops.at(-1).headers.refresh], ['You can go back', undefined], 'another browser follows nothing');
		assert.ok(browser);
	});

	test('a server that is gone leaves neutral words', async () => {
		const { browser, id, owner } = await agreed();
		await fixture.urlmode.beginClaim(id, owner);
		for (let n = 0; n < 3; n += 1) assert.equal(await titleOf(browser), 'You can go back');
	});
});

describe('two identical returns at the same instant', () => {
	/** Sends `returns` one after another, all while the row `held` is locked, which stops the first. */
	async function race(held, returns) {
		const underWay = await countRequests(fixture.stack, 'oauth-return', '/oauth/');
		const lock = await holdRow(fixture.stack, held);
		await transactions();

		try {
			const hops = [];
			for (const [index, [browser, url]] of returns.entries()) {
				hops.push(comeBack(browser, url));
				await untilHeld(fixture.stack, 'oauth-return');
				await underWay(index + 1);
			}
			await lock.release();
			return await Promise.all(hops);
		} finally {
			await lock.release();
		}
	}

	async function assertOnce(hops, flow) {
		const [last, first] = hops.sort((a, b) => a.status - b.status);
		assert.deepEqual([first.status, first.location], [303, '/done']);
		assertAlreadyDone(last);
		assert.equal((await outcomeOf(flow)).result.code, 'once');
	}

	test('in two transactions: one is sent to /done, the other is “already done”', async () => {
		const browser = fixture.browser();
		const flow = await fixture.goOn(browser);
		const url = flow.returnTo({ code: 'once' });

		await assertOnce(await race(flow.id, [[browser, url], [twin(browser), url]]), flow);
		assert.deepEqual(await transactions(), [1, 0]);
	});

	test('behind another transaction', async () => {
		const [browser, other] = [fixture.browser(), fixture.browser()];
		const [flow, blocker] = [await fixture.goOn(browser), await fixture.goOn(other)];
		const url = flow.returnTo({ code: 'once' });

		const [, ...hops] = await race(blocker.id, [
			[other, blocker.returnTo({ code: 'blocks' })], [browser, url], [twin(browser), url],
		]);
		await assertOnce(hops, flow);
		assert.deepEqual(await transactions(), [1, 1, 0]);
	});
});

describe('two tabs of one browser', () => {
	for (const order of [[0, 1], [1, 0]]) {
		test(`with a flow each end in the order ${order.map((tab) => tab + 1)}`, async () => {
			const browser = fixture.browser();
			const tabs = [await fixture.goOn(browser), await fixture.goOn(browser)];

			for (const tab of order) {
				assert.equal((await comeBack(browser, tabs[tab].returnTo({ code: `tab ${tab}` }))).location, '/done');
			}
			for (const [tab, flow] of tabs.entries()) {
				assert.equal((await outcomeOf(flow)).result.code, `tab ${tab}`);
			}
		});
	}

	test('with the same flow: whichever comes first', async () => {
		const browser = fixture.browser();
		const flow = await fixture.goOn(browser);
		assert.doesNotMatch(flow.confirm.text, /opened this in this browser before/);
		const again = await browser.open(flow.url);
		assert.match(again.text, /opened this in this browser before/, 'it is told of the first tab, and goes on');
		assert.doesNotMatch((await fixture.browser().open(flow.url)).text, /opened this in this browser before/, 'another browser');
		const other = await press(browser, again, 'continue');
		const otherState = new URL(other.location).searchParams.get('state');

		assert.equal(other.status, 303, 'it may be opened again');
		assert.notEqual(otherState, flow.state);
		const second = flow.returnTo({ code: 'second tab', state: otherState });
		assert.equal((await comeBack(browser, second)).location, '/done');
		assertAlreadyDone(await comeBack(browser, flow.returnTo({ code: 'first tab' })));
		assert.equal((await outcomeOf(flow)).result.code, 'second tab');
	});
});
