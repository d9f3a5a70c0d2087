// Every page there is, in a real browser: without a violation of its policy,
// without a finding of axe in light and dark, without a scroll bar on a phone,
// and with the longest texts that fit into it. Pictures go to build/browser/.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { after, before, describe, test } from 'node:test';

import { configure, setUpNginx } from '../security/deployment.mjs';
import { sender } from '../support/deliveries.mjs';
import { openFixture } from '../support/fixture.mjs';
import { axe, overflow, PHONE, picture, startChromium } from './chromium.mjs';

const NARROW = { width: 280, height: 653 };
const LONG = {
	requester: 'W'.repeat(200),
	subject: 'averyveryverylongsubjectwithoutanyspace'.repeat(13),
};

let fixture;
let chromium;
let provider; // a page, where the links lead

before(async () => {
	provider = createServer((request, response) => {
		response.writeHead(200, { 'Content-Type': 'text/html' }).end('<!doctype html><title>The provider</title>');
	}).listen(0, '127.0.0.1');
	await once(provider, 'listening');
	fixture = await openFixture({ name: 'browser-pages', own: true });
	chromium = fixture.closeAtEnd(await startChromium());
});

after(async () => {
	provider?.closeAllConnections();
	provider?.close();
	await fixture?.close();
});

const target = () => `http://localhost:${provider.address().port}/`;
const open = (path) => (tab) => tab.goto(fixture.url(path));

/** Goes on with a payment, and comes back to the page that follows it. */
async function followPayment(tab) {
	const payment = await goToCheckout(tab);
	await tab.goto(payment.returnUrl);
}

/** The same after a card was refused. */
async function followFailedAttempt(tab) {
	const payment = await goToCheckout(tab);
	const adyen = sender(fixture, 'adyen');
	await adyen.send(adyen.event(payment.id, 'failed'));
	await tab.goto(payment.returnUrl);
}

async function goToCheckout(tab) {
	const payment = await fixture.createPayment('adyen', { targetUrl: target(), expected: { amount: 1050, currency: 'EUR' } });
	await tab.goto(payment.url);
	await tab.click('button[value=continue]');
	await tab.waitForURL(target());
	return payment;
}

async function ending(tab, code) {
	const url = fixture.url('/done').replace('http:', 'https:');
	await tab.context().addCookies([{ name: '__Host-urlmode-done', value: code, url, secure: true }]);
	await tab.goto(fixture.url('/done'));
}

/** [name, title, how to get there] */
const PAGES = [
	['confirm', 'Do you want to continue?', async (tab) => tab.goto((await fixture.create()).url)],
	['confirm-long', 'Do you want to continue?', async (tab) => {
		const urlmode = fixture.openUrlMode({ name: LONG.requester });
		const { url } = await urlmode.create({ provider: 'demo', kind: 'oauth', subject: LONG.subject, targetUrl: target() });
		await tab.goto(url);
	}],
	['confirm-rtl', 'Do you want to continue?', async (tab) => {
		const urlmode = fixture.openUrlMode({ name: 'חברת הדוגמה' });
		const { url } = await urlmode.create({ provider: 'demo', kind: 'oauth', subject: 'مستخدم', targetUrl: target() });
		await tab.goto(url);
	}],
	['done', 'All done', open('/done')],
	...[['declined', 'Declined'], ['failed', 'That did not work'], ['processing', 'Still processing'], ['already', 'Already done'], ['expired', 'This request has expired'],
		['mismatch', 'The amount does not match'], ['late', 'Your payment has arrived']]
		.map(([code, title]) => [code, title, (tab) => ending(tab, code)]),
	['follow', 'Waiting for confirmation', followPayment],
	['follow-failed', 'Waiting for confirmation', followFailedAttempt],
	['refusal', "We can't continue", open('/connect/demo?state=x')],
	['unknown-provider', "We can't continue", open('/connect/nobody')],
	['nginx-404', 'Page not found', open('/no/such/page')],
	['nginx-414', 'The address is too long', open(`/done?${'x'.repeat(13_000)}`)],
];

/** A page, in a browser of its own. */
async function visit(go, options, check) {
	const person = await chromium.person(options);
	try {
		const tab = await person.tab();
		await go(tab);
		await check(tab, person);
	} finally {
		await person.close();
	}
}

function pages(list) {
	for (const [name, title, go] of list) {
		describe(name, () => {
			test('the policy is not violated, axe finds nothing in light and dark, nothing is wider than a phone', async () => {
				await visit(go, {}, async (tab, { troubles }) => {
					assert.equal(await tab.title(), title);
					for (const colorScheme of ['light', 'dark']) {
						await tab.emulateMedia({ colorScheme });
						assert.deepEqual(await axe(tab), [], colorScheme);
						await picture(tab, `${name}-${colorScheme}`);
					}
					for (const viewport of [PHONE, NARROW]) {
						await tab.setViewportSize(viewport);
						const wider = await overflow(tab);
						assert.ok(wider <= 0, `${wider} px too wide for ${viewport.width}`);
						await picture(tab, `${name}-${viewport.width}`);
					}
					assert.deepEqual(troubles, []);
				});
			});

			test('it is the same without JavaScript', async () => {
				await visit(go, { javaScriptEnabled: false }, async (tab) => {
					assert.equal(await tab.locator('h1').textContent(), title);
				});
			});
		});
	}
}

pages(PAGES);

describe('the confirm page', () => {
	test('goes by keyboard alone: the first button is to go on', async () => {
		await visit(PAGES[0][2], {}, async (tab) => {
			await tab.keyboard.press('Tab');
			assert.equal(await tab.evaluate('document.activeElement.textContent'), 'Continue');
			await tab.keyboard.press('Tab');
			assert.equal(await tab.evaluate('document.activeElement.textContent'), 'Decline');
		});
	});

	test('its buttons are large enough for a finger', async () => {
		await visit(PAGES[0][2], { viewport: PHONE, isMobile: true }, async (tab) => {
			for (const button of await tab.locator('button').all()) {
				const { width, height } = await button.boundingBox();
				// WCAG 2.2, 2.5.8.
				assert.ok(width >= 24 && height >= 24, `${width} × ${height}`);
			}
		});
	});
});

// Last: the deployment is another from here on.
describe('where the web server signs users in', () => {
	before(async () => {
		await setUpNginx(fixture.stack, { snippets: ['auth-basic.conf'], files: { 'urlmode.htpasswd': 'ada:{PLAIN}secret\n' } });
		await configure(fixture.stack, (config) => {
			config.user_check = 'remote-user';
		});
	});

	pages([['wrong-user', "We can't continue", async (tab) => {
		await tab.context().setHTTPCredentials({ username: 'ada', password: 'secret' });
		await tab.goto((await fixture.create()).url);
	}]]);
});

describe('where the web server says nobody', () => {
	before(() => setUpNginx(fixture.stack));

	pages([['sign-in-not-set-up', 'Something went wrong', async (tab) => tab.goto((await fixture.create()).url)]]);
});

describe('where nothing answers', () => {
	before(async () => {
		await fixture.stack.service('stop', 'connect');
	});

	pages([['nginx-502', 'Temporarily unavailable', open('/connect/demo?state=x')]]);
});

describe('where the database is away', () => {
	before(async () => {
		await fixture.stack.service('start', 'connect');
		await setUpNginx(fixture.stack);
		await configure(fixture.stack, (config) => {
			config.user_check = 'confirm';
		});
		({ url } = await fixture.create());
		await fixture.stack.service('stop', 'postgres');
	});
	let url;

	pages([['unavailable', 'One moment, please', (tab) => tab.goto(url)]]);
});
