// The console in a real browser: its policy, axe in light and dark, forced colours, from 320 px to
// wide, by the keyboard alone, without script, and a decision that is pressed. Pictures go to
// build/browser/.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { Console, hold, OPERATOR, pay } from '../support/console.mjs';
import { openFixture } from '../support/fixture.mjs';
import { until } from '../support/wait.mjs';
import { axe, overflow, PHONE, picture, startChromium, textSize } from './chromium.mjs';

const WIDE = { width: 1600, height: 1000 };

let fixture;
let chromium;
let site;
let held;

before(async () => {
	fixture = await openFixture({ name: 'browser-console', own: true, env: { CONSOLE: '1' } });
	site = new Console(fixture.stack);
	chromium = fixture.closeAtEnd(await startChromium());
	await pay(fixture, { item: 'report:42' });
	held = await hold(fixture, { subject: 'ada@example.org', item: 'report:43' });
	const declined = await fixture.createPayment('stripe', { expected: { amount: 500, currency: 'EUR' }, item: 'report:44' });
	await fixture.urlmode.cancel(declined.id, declined.owner);
	await fixture.stack.sql(`INSERT INTO urlmode.ended_count (provider, unit, begins_at, kind, action, reason, number)
		SELECT 'stripe', u.unit, date_trunc(u.unit, now(), 'UTC') - n * u.length, k.kind, k.action, k.reason, 1 + (n * n * k.factor) % (40 * k.factor)
		FROM (VALUES ('hour', interval '1 hour', 24), ('day', interval '24 hours', 30)) AS u (unit, length, times) CROSS JOIN generate_series(0, u.times - 1) AS n,
			(VALUES ('oauth', 'accept', '', 9), ('payment', 'accept', '', 4), ('payment', 'cancel', 'expired', 2), ('payment', 'decline', '', 1),
				('oauth', 'decline', 'access_denied', 1)) AS k (kind, action, reason, factor) WHERE n % 7 <> 3`);
	await until('the console serves', async () => (await site.ask('/console/')).status === 200);
});

after(() => fixture?.close());

const act = (action) => `/console/act?${new URLSearchParams({ action, id: held.id, provider: 'stripe', reference: held.reference })}`;

/** Each page, by the name of its picture. */
const PAGES = {
	overview: () => '/console/', search: () => '/console/search?q=ada%40example.org', timeline: () => `/console/elicitation?id=${held.id}`,
	list: () => '/console/list?what=unclaimed', provider: () => '/console/provider?name=stripe', act: () => act('refunded'), refused: () => '/console/elicitation?id=1',
};

/** An operator's browser. */
const operator = (options = {}) => chromium.person({ extraHTTPHeaders: { 'X-Remote-User': OPERATOR }, ...options });

for (const [name, address] of Object.entries(PAGES)) {
	test(`${name}: light, dark and forced colours, from a phone to wide, in each direction`, async () => {
		const person = await operator({ viewport: PHONE });
		try {
			const tab = await person.tab();
			const fits = async (what) => assert.ok(await overflow(tab) <= 0, `${name} ${what} is ${await overflow(tab)} px too wide`);
			for (const language of ['ar', 'de', 'en']) {
				await tab.setExtraHTTPHeaders({ 'X-Remote-User': OPERATOR, 'Accept-Language': language });
				await tab.goto(site.url + address());
				await fits(`in ${language}`);
				// The figures of the charts.
				await tab.evaluate(() => document.querySelectorAll('details').forEach((details) => { details.open = true; }));
				await fits(`in ${language} with its tables`);
				if (language === 'ar') await picture(tab, `console-${name}-arabic`);
			}
			await picture(tab, `console-${name}-phone`);
			await textSize(tab, 2);
			await tab.setViewportSize({ width: 640, height: 800 });
			await fits('with text of twice its size');
			await textSize(tab, 1);
			await tab.setViewportSize(WIDE);
			assert.deepEqual(await axe(tab), [], name);
			await tab.evaluate(() => document.querySelectorAll('details').forEach((details) => { details.open = false; }));
			await picture(tab, `console-${name}-light`);
			await tab.emulateMedia({ colorScheme: 'dark' });
			assert.deepEqual(await axe(tab, { colours: true }), [], `${name}, dark`);
			await picture(tab, `console-${name}-dark`);
			await tab.emulateMedia({ forcedColors: 'active' });
			await picture(tab, `console-${name}-forced`);
			assert.deepEqual(person.problems, []);
		} finally {
			await person.close();
		}
	});
}

describe('by the keyboard alone, without script', () => {
	test('an operator finds a held payment, releases it with a reason, and sees it in the timeline', async () => {
		const person = await operator({ javaScriptEnabled: false });
		try {
			const tab = await person.tab();
			const focus = async (selector) => {
				for (let i = 0; i < 40; i++) {
					await tab.keyboard.press('Tab');
					if (await tab.locator(`${selector}:focus`).count() > 0) return;
				}
				assert.fail(`Tab does not lead to ${selector}`);
			};
			await tab.goto(`${site.url}/console/`);
			await focus('#q');
			await tab.keyboard.type('ada@example.org');
			await tab.keyboard.press('Enter');
			await tab.waitForURL(/search/);
			await focus(`a[href$="${held.id}"]`);
			await tab.keyboard.press('Enter');
			await tab.waitForURL(/elicitation/);
			await focus('a[href*="action=release"]');
			await tab.keyboard.press('Enter');
			await tab.waitForURL(/act/);
			await focus('textarea');
			await tab.keyboard.type('the customer called');
			await focus('button.main');
			await tab.keyboard.press('Enter');
			await tab.waitForURL(/done=release/);
			assert.equal(await tab.locator('[role=status]').textContent(), 'Released');
			assert.match(await tab.locator('.line').textContent(), /Released[^]*ada[^]*the customer called/);
			assert.deepEqual(person.problems, []);
		} finally {
			await person.close();
		}
	});

	test('the first stop leads past the header', async () => {
		const person = await operator({ javaScriptEnabled: false });
		try {
			const tab = await person.tab();
			await tab.goto(`${site.url}/console/`);
			await tab.keyboard.press('Tab');
			assert.equal(await tab.locator(':focus').textContent(), 'Skip to the contents');
			assert.ok((await tab.locator(':focus').boundingBox()).x >= 0);
		} finally {
			await person.close();
		}
	});
});

test('another site cannot send a decision', async () => {
	const person = await operator({ javaScriptEnabled: false });
	try {
		const tab = await person.tab();
		await tab.goto(`${site.url}/console/`);
		const fields = Object.entries(await site.actionForm('void', held)).map(([name, value]) => `<input name="${name}" value="${value}">`).join('');
		await tab.route('http://localhost:9/', (route) => route.fulfill({ contentType: 'text/html',
			body: `<form method="post" action="${site.url}/console/act">${fields}<input name="note" value="x"><button>go</button></form>` }));
		await tab.goto('http://localhost:9/');
		await tab.locator('button').click();
		await tab.waitForURL(/act/);
		assert.match(await tab.locator('footer').textContent(), /cross_site/);
	} finally {
		await person.close();
	}
});
