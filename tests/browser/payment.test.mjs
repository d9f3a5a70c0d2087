// The demo in a real browser: the pages of the MCP host, of urlmode, of the provider and of
// the checkout, and unusual actions of users there.

import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { DEMO_KEY } from '../demo/store-key.mjs';
import { openFixture } from '../support/fixture.mjs';
import { until } from '../support/wait.mjs';
import { axe, overflow, PHONE, picture, sideBySide, startChromium } from './chromium.mjs';

const PICTURE = fileURLToPath(new URL('../demo/demo.png', import.meta.url)); // the one of README.md
const PICTURE_MAX = 150_000; // bytes

let fixture;
let chromium;

before(async () => {
	fixture = await openFixture({ name: 'browser-payment', own: true, demo: true });
	chromium = fixture.closeAtEnd(await startChromium());
});

after(() => fixture?.close());

/** A person with the page of the MCP host in front of them. */
async function openHost(options) {
	const who = fixture.closeAtEnd(await chromium.person(options));
	const host = await who.tab();
	await host.goto(fixture.stack.env.URLMODE_DEMO_URL);
	await host.waitForSelector('button[value=buy_report]:enabled');
	return { who, host };
}

/** Starts a tool, and opens the link that it asks for in a new tab. */
async function start(host, tool = 'buy_report') {
	await host.click(`button[value=${tool}]`);
	await host.waitForSelector('#request:not([hidden])');
	const [tab] = await Promise.all([host.context().waitForEvent('page'), host.click('#open')]);
	return tab;
}

/** In the first tab of a browser the user signs in, at the demo's provider. */
async function goToCheckout(tab) {
	await tab.waitForSelector('button[value=sign-in], button[value=good]');
	if (await tab.isVisible('button[value=sign-in]')) await tab.click('button[value=sign-in]');
	await tab.waitForSelector('button[value=good]');
}

/** Until the host shows a result of the tool that begins so. */
async function untilResult(host, beginning) {
	await host.waitForFunction((text) => document.getElementById('result').textContent.startsWith(text), beginning);
}

/** The user no longer waits for the tool: the call is cancelled. */
async function stop(host) {
	await host.click('#stop');
	await untilResult(host, 'You no longer wait for the tool.');
	assert.equal(await host.isVisible('#stop'), false);
}

const heading = (tab) => tab.textContent('h1');

async function untilHeading(tab, expected) {
	await tab.waitForFunction((text) => document.querySelector('h1')?.textContent === text, expected);
}

/** Opens the page to which the checkout sent a browser again, until it shows a heading. */
async function comeBackUntil(who, tab, expected) {
	const { url } = (await who.recorded()).find((request) => request.url.startsWith(fixture.url('/payment/checkout/return')));
	await until(`the page says “${expected}”`, async () => {
		await tab.goto(url);
		return await heading(tab) === expected;
	});
}

/** The facts that the page of the host shows of a stage of the call. */
const stage = (host, name) => host.locator(`#stage-${name} .fact span`).allTextContents();

test('an account: each stage of the call is shown as it is reached, and the page of the host is accessible', async () => {
	const { who, host } = await openHost();
	assert.deepEqual(await stage(host, 'row'), []);
	await host.click('button[value=connect_account]');
	await host.waitForSelector('#request:not([hidden])');
	await picture(host, 'account-host-asked');
	await host.click('#stop');
	await untilResult(host, 'You no longer wait for the tool.');
	const tab = await start(host, 'connect_account');
	assert.deepEqual(await stage(host, 'row'), ['pending']);
	assert.deepEqual(await stage(host, 'promise'), ['waits']);
	await tab.waitForSelector('[name=name]');
	assert.equal(await tab.inputValue('[name=name]'), 'ada@example.org');
	await tab.click('button[value=sign-in]');
	await untilHeading(tab, 'The account is connected');
	await untilResult(host, 'Connected the account of ada@example.org.');
	assert.deepEqual(await stage(host, 'row'), ['pending', 'opened', 'completed']);
	assert.deepEqual((await stage(host, 'notify')).map((text) => text.split(',')[0]), ['opened', 'completed']);
	assert.match((await stage(host, 'promise'))[0], /^resolved after \d/);
	for (const colorScheme of ['light', 'dark']) {
		await host.emulateMedia({ colorScheme });
		assert.deepEqual(await axe(host), [], colorScheme);
		await picture(host, `account-host-${colorScheme}`);
	}
	await host.setViewportSize(PHONE);
	assert.ok(await overflow(host) <= 0);
	await picture(host, 'account-host-320');
	assert.deepEqual(who.problems, []);
});

test('the picture of README.md: a payment, from the tool to its result', async () => {
	const { host } = await openHost({ viewport: { width: 1100, height: 850 }, deviceScaleFactor: 0.8 });
	const tab = await start(host);
	await tab.setViewportSize({ width: 460, height: 850 });
	await tab.waitForSelector('button[value=sign-in]');
	const signIn = await tab.screenshot();
	await goToCheckout(tab);
	await tab.click('button[value=good]');
	await untilResult(host, 'Here is your report. Paid with cs_test_');
	await sideBySide(await chromium.person({ viewport: { width: 1296, height: 712 } }), [await host.screenshot(), signIn], 'demo');
	// It shows times, and so differs with each run: this one is put there by hand.
	assert.ok(statSync(PICTURE).size < PICTURE_MAX);
});

test('a card is declined, and another one pays', async () => {
	const { who, host } = await openHost();
	const tab = await start(host);
	await tab.waitForSelector('button[value=sign-in]');
	await picture(tab, 'payment-1-sign-in');
	await goToCheckout(tab);
	await picture(tab, 'payment-2-checkout');
	await tab.click('button[value=declined]');
	assert.match(await tab.textContent('[role=alert]'), /declined/);
	await picture(tab, 'payment-3-declined');
	await tab.click('button[value=good]');
	await untilHeading(tab, 'All done');
	await picture(tab, 'payment-4-done');
	await untilResult(host, 'Here is your report. Paid with cs_test_');
	const steps = await host.locator('#progress li').allTextContents();
	assert.ok(steps.includes('An attempt to pay has failed. The user can try again.'), String(steps));
	await picture(host, 'payment-5-host');
	assert.deepEqual(who.problems, []);
});

test('the tab is closed, and the next call goes on with the same payment', async () => {
	const { host } = await openHost();
	const first = await start(host);
	await goToCheckout(first);
	const checkout = first.url();
	await first.close();
	await stop(host);
	await picture(host, 'payment-6-host-stopped');

	const second = await start(host);
	await goToCheckout(second);
	assert.equal(second.url(), checkout, 'the same session of the checkout');
	await second.click('button[value=good]');
	await untilHeading(second, 'All done');
	await untilResult(host, 'Here is your report.');
});

test('paid after the tool gave up: the next call has the report, and asks nothing', async () => {
	const { host } = await openHost();
	const tab = await start(host);
	await goToCheckout(tab);
	await stop(host);
	await tab.click('button[value=good]');
	await untilHeading(tab, 'All done');

	await host.click('button[value=buy_report]');
	await untilResult(host, 'Here is your report.');
	assert.equal(await host.isVisible('#request'), false);
	assert.equal(host.context().pages().length, 2, 'no other page was opened');
});

test('paid in a tab that was left open, after going back without paying', async () => {
	const { who, host } = await openHost();
	const tab = await start(host);
	await goToCheckout(tab);
	const left = await host.context().newPage();
	await left.goto(tab.url());
	await tab.click('a');
	await untilHeading(tab, 'Declined');
	await untilResult(host, 'Not done: the user cancelled.');

	await left.click('button[value=good]');
	await left.waitForURL(fixture.url('/done'));
	await comeBackUntil(who, left, 'Your payment has arrived');
	await picture(left, 'payment-7-late');
	await host.click('button[value=buy_report]');
	await untilResult(host, 'Here is your report. You had paid it before.');
	await picture(host, 'payment-8-host-late');
});

test('a secret: a key that is not known, the problem at its field, then the right one, each step live', async () => {
	const { who, host } = await openHost();
	const tab = await start(host, 'store_key');
	await tab.waitForSelector('button[value=sign-in], input[type=password]');
	if (await tab.isVisible('button[value=sign-in]')) await tab.click('button[value=sign-in]');
	await tab.fill('input[type=password]', 'another-key');
	await tab.keyboard.press('Enter');
	await tab.waitForSelector('text=The report service does not know this key.');
	assert.equal(await tab.inputValue('input[type=password]'), '');
	await host.waitForSelector('#progress li >> text=What the user typed was not accepted.');
	await tab.fill('input[type=password]', DEMO_KEY);
	await tab.keyboard.press('Enter');
	await untilHeading(tab, 'All done');
	await untilResult(host, 'The key works, and is stored.');
	assert.equal((await stage(host, 'row')).at(-1), 'completed');
	assert.ok(!(await host.content()).includes(DEMO_KEY));
	assert.deepEqual(who.problems, []);
});

test('an approval: somebody else signs in with the link of the page, approves, and the row of the page is completed', async () => {
	const { who, host } = await openHost();
	await host.click('button[value=delete_archive]');
	await untilResult(host, 'Somebody else must agree');
	assert.deepEqual(await stage(host, 'row'), ['pending']);
	await picture(host, 'approval-host');
	const link = await host.getAttribute('#approval a', 'href');
	const other = fixture.closeAtEnd(await chromium.person());
	const tab = await other.tab();
	await tab.goto(link);
	await tab.fill('[name=name]', 'grace@example.org');
	await tab.click('button[value=sign-in]');
	await tab.waitForSelector('button[value=approve]');
	await host.waitForSelector('#stage-row .fact span >> text=opened');
	await tab.click('button[value=approve]');
	await untilHeading(tab, 'All done');
	await host.waitForSelector('#stage-row .fact span >> text=completed');
	await host.click('button[value=delete_archive]');
	await untilResult(host, 'The archive is deleted, as grace@example.org has agreed.');
	assert.deepEqual([...who.problems, ...other.problems], []);
});
