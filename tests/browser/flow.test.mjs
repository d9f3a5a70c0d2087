// The whole way in a real browser: cookies, form_post across sites, tabs, back
// and reload, and what other sites can do with our pages.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { after, before, describe, test } from 'node:test';

import { OpenIdClient } from '../demo/openid.mjs';
import { startAuthDouble } from '../security/auth-double.mjs';
import { configure, setUpNginx } from '../security/deployment.mjs';
import { startDemo } from '../support/demo.mjs';
import { openFixture } from '../support/fixture.mjs';
import { until } from '../support/wait.mjs';
import { startChromium } from './chromium.mjs';

let fixture;
let openid;
let chromium;

before(async () => {
	fixture = await openFixture({ name: 'browser', own: true });
	const demo = fixture.closeAtEnd(await startDemo(fixture.stack));
	openid = new OpenIdClient(demo.issuer);
	chromium = fixture.closeAtEnd(await startChromium());
});

after(() => fixture?.close());

/** An elicitation whose target is the provider, on another site than ours. */
function create({ responseMode, ...options } = {}) {
	return fixture.create({
		pkce: true,
		async targetUrl({ returnUrl }) {
			const url = await openid.authorizationUrl(returnUrl);
			if (responseMode) {
				url.searchParams.set('response_mode', responseMode);
			}
			return url;
		},
		...options,
	});
}

async function person(options) {
	return fixture.closeAtEnd(await chromium.person(options));
}

async function signIn(tab, name = 'Ada') {
	await tab.fill('[name=name]', name);
	await tab.click('button[value=sign-in]');
}

async function untilDone(tab) {
	await tab.waitForURL(fixture.url('/done'));
}

const statusOf = async ({ id }) => (await fixture.stack.elicitation(id)).status;

/** Everything was well, and nothing came from anywhere but here and the provider. */
async function assertClean(who) {
	assert.deepEqual(who.problems, []);
	for (const { url } of await who.recorded()) {
		assert.ok(['127.0.0.1', 'localhost'].includes(new URL(url).hostname), url);
	}
}

const path = ({ method, url, status }) => [method, new URL(url).pathname, status];

test('from the link to /done, with one cookie that no script and no other site sees', async () => {
	const ada = await person();
	const tab = await ada.tab();
	const elicitation = await create();

	await tab.goto(elicitation.url);
	assert.equal(await tab.title(), 'Do you want to continue?');
	const [cookie, ...others] = await ada.cookies();
	assert.deepEqual(others, []);
	const { expires, value, ...attributes } = cookie;
	assert.deepEqual(attributes, {
		name: '__Host-urlmode', domain: '127.0.0.1', path: '/', httpOnly: true, secure: true, sameSite: 'Lax',
	});
	assert.match(value, /^[\w-]{22}$/);
	assert.ok(expires > Date.now() / 1_000);
	assert.equal(await tab.evaluate('document.cookie'), '');

	await tab.click('button[value=continue]');
	await signIn(tab, 'Ada Lovelace');
	await untilDone(tab);
	assert.match(await tab.textContent('main'), /You can close this tab/);

	const { action, result } = await fixture.urlmode.waitForCompletion(elicitation.id, elicitation.owner);
	assert.equal(action, 'accept');
	assert.ok(result.code);
	for (const { url, headers } of (await ada.recorded()).filter((request) => request.url.startsWith(fixture.stack.env.URLMODE_DEMO_ISSUER))) {
		assert.ok(!String(headers.cookie).includes(value), `the provider got our cookie: ${url}`);
		assert.ok(!String(headers.referer).startsWith(fixture.stack.baseUrl), 'and no referer of ours');
	}
	await assertClean(ada);
});

test('form_post: the POST from the other site has no cookie, the GET after it has', async () => {
	const ada = await person();
	const tab = await ada.tab();
	const elicitation = await create({ responseMode: 'form_post' });

	await tab.goto(elicitation.url);
	await tab.click('button[value=continue]');
	await signIn(tab);
	await untilDone(tab);

	const ours = (await ada.recorded()).filter(({ url }) => url.startsWith(elicitation.returnUrl));
	assert.deepEqual(ours.map(path), [['POST', '/oauth/demo/return', 303], ['GET', '/oauth/demo/return', 303]]);
	assert.equal(ours[0].headers.cookie, undefined);
	assert.equal(ours[0].headers.origin, fixture.stack.env.URLMODE_DEMO_ISSUER);
	assert.match(ours[1].headers.cookie, /__Host-urlmode=/);
	assert.equal((await fixture.urlmode.waitForCompletion(elicitation.id, elicitation.owner)).action, 'accept');
	await assertClean(ada);
});

for (const order of [[0, 1], [1, 0]]) {
	test(`two tabs with a flow each, ended in the order ${order.map((tab) => tab + 1)}`, async () => {
		const ada = await person();
		const tabs = [await ada.tab(), await ada.tab()];
		const flows = [await create(), await create()];

		for (const [index, tab] of tabs.entries()) {
			await tab.goto(flows[index].url);
		}
		assert.equal((await ada.cookies()).filter(({ name }) => name === '__Host-urlmode').length, 1, 'one cookie for both');
		for (const tab of tabs) {
			await tab.click('button[value=continue]');
			await tab.waitForSelector('[name=name]');
		}
		for (const index of order) {
			await signIn(tabs[index]);
			await untilDone(tabs[index]);
			const { id, owner, returnUrl } = flows[index];
			const outcome = await fixture.urlmode.waitForCompletion(id, owner);
			assert.equal((await openid.exchange(outcome, returnUrl)).name, 'Ada');
		}
		await assertClean(ada);
	});
}

test('back and reload: nothing is done twice, and no code is left in the history', async () => {
	const ada = await person();
	const tab = await ada.tab();
	const elicitation = await create();

	await tab.goto(elicitation.url);
	await tab.reload();
	await tab.click('button[value=continue]');
	await signIn(tab);
	await untilDone(tab);
	const row = await fixture.row(elicitation.id);

	await tab.reload();
	assert.equal(await tab.textContent('h1'), 'You can go back');
	const seen = [];
	for (let steps = 0; steps < 10 && await tab.goBack().catch(() => null); steps++) {
		seen.push(tab.url());
	}
	assert.ok(seen.length > 0);
	for (const url of seen) {
		assert.ok(!/[?&]code=/.test(url), `${url} is in the history`);
	}
	await tab.goto(elicitation.url);
	assert.equal(await tab.textContent('h1'), 'Already done');
	assert.equal(await fixture.row(elicitation.id), row, 'the row is as it was');
	await assertClean(ada);
});

test('back to the confirm page after going on, and on again', async () => {
	const ada = await person();
	const tab = await ada.tab();
	const elicitation = await create();

	await tab.goto(elicitation.url);
	await tab.click('button[value=continue]');
	await tab.waitForSelector('[name=name]');
	await tab.goto(elicitation.url);
	await tab.click('button[value=continue]');
	await signIn(tab);
	await untilDone(tab);
	assert.equal(await statusOf(elicitation), 'completed');
	await assertClean(ada);
});

test('a second click does no harm', async () => {
	const ada = await person();
	const tab = await ada.tab();
	const elicitation = await create();

	await tab.goto(elicitation.url);
	await tab.dblclick('button[value=continue]');
	await signIn(tab);
	await untilDone(tab);
	assert.equal(await statusOf(elicitation), 'completed');
});

test('refusing', async () => {
	const ada = await person();
	const tab = await ada.tab();
	const elicitation = await create();

	await tab.goto(elicitation.url);
	await tab.click('button[value=refuse]');
	await untilDone(tab);
	assert.equal(await tab.textContent('h1'), 'Declined');
	const { action, reason } = await fixture.urlmode.waitForCompletion(elicitation.id, elicitation.owner);
	assert.deepEqual([action, reason], ['decline', 'access_denied']);
	await assertClean(ada);
});

test('another person’s browser with the same link cannot come back for the first', async () => {
	const [ada, mallory] = [await person(), await person()];
	const elicitation = await create();
	const [tab, other] = [await ada.tab(), await mallory.tab()];

	await tab.goto(elicitation.url);
	await tab.click('button[value=continue]');
	await tab.waitForSelector('[name=name]');
	// Where the provider would send the first browser, in the other one.
	const { location } = (await ada.recorded()).find(({ method, status }) => method === 'POST' && status === 303);
	const back = new URL(elicitation.returnUrl);
	back.search = new URLSearchParams({
		code: 'stolen', iss: fixture.stack.env.URLMODE_DEMO_ISSUER, state: new URL(location).searchParams.get('state'),
	});
	await other.goto(back.href);
	await other.waitForSelector('code');
	assert.equal(await other.textContent('code'), 'wrong_browser');
	assert.equal(await statusOf(elicitation), 'opened');
});

test('without JavaScript', async () => {
	const ada = await person({ javaScriptEnabled: false });
	const tab = await ada.tab();
	const elicitation = await create();

	await tab.goto(elicitation.url);
	await tab.click('button[value=continue]');
	await signIn(tab);
	await untilDone(tab);
	assert.equal(await statusOf(elicitation), 'completed');
});

test('the database is away: the page tries again by itself, and goes on', async () => {
	const ada = await person();
	const tab = await ada.tab();
	const elicitation = await create();

	await fixture.stack.service('stop', 'postgres');
	await tab.goto(elicitation.url);
	assert.equal(await tab.textContent('h1'), 'One moment, please');
	await fixture.stack.service('start', 'postgres');
	await tab.waitForSelector('button[value=continue]');
	await tab.click('button[value=continue]');
	await signIn(tab);
	await untilDone(tab);
	assert.equal(await statusOf(elicitation), 'completed');
});

describe('the page that follows a payment', () => {
	const PRICE = { amount: 1050, currency: 'EUR' };

	async function pay(tab) {
		let returnUrl;
		const elicitation = await fixture.create({
			provider: 'stripe', kind: 'payment', expected: PRICE,
			targetUrl(way) {
				({ returnUrl } = way);
				return `${fixture.stack.env.URLMODE_DEMO_ISSUER}/.well-known/openid-configuration`;
			},
		});
		await tab.goto(elicitation.url);
		await tab.click('button[value=continue]');
		await tab.waitForURL(/\.well-known/);
		await tab.goto(returnUrl);
		assert.equal(await tab.textContent('h1'), 'Waiting for confirmation');
		return elicitation;
	}

	for (const [name, options] of [['goes on by itself', {}], ['goes on by itself without JavaScript', { javaScriptEnabled: false }]]) {
		test(name, async () => {
			const ada = await person(options);
			const tab = await ada.tab();
			const elicitation = await pay(tab);
			await fixture.urlmode.complete(elicitation.id, { ...elicitation.owner, action: 'accept', reference: `cs_test_${elicitation.id}`, ...PRICE });
			await untilDone(tab);
			assert.equal(await tab.textContent('h1'), 'All done');
			await assertClean(ada);
		});
	}
});

describe('another site', () => {
	let site; // http://localhost:PORT: to browsers another one than 127.0.0.1
	let page;
	let server;

	before(async () => {
		server = createServer((request, response) => {
			response.writeHead(200, { 'Content-Type': 'text/html' }).end(`<!doctype html><title>Another site</title>${page}`);
		}).listen(0, '127.0.0.1');
		await once(server, 'listening');
		site = `http://localhost:${server.address().port}/`;
	});

	after(() => {
		server.closeAllConnections();
		server.close();
	});

	test('cannot frame a page', async () => {
		const ada = await person();
		const tab = await ada.tab();
		const { url } = await create();
		page = `<iframe src="${url}"></iframe>`;
		await tab.goto(site);
		await until('it was refused', () => ada.problems.some(([what]) => /frame-ancestors/.test(what)));
		const frame = tab.frames().find((candidate) => candidate !== tab.mainFrame());
		assert.ok(!(await frame.content()).includes('Continue'));
	});

	test('cannot control a window that it opened', async () => {
		const ada = await person();
		const tab = await ada.tab();
		const { url } = await create();
		page = `<button onclick="window.w = window.open('${url}')">open</button>`;
		await tab.goto(site);
		const [opened] = await Promise.all([tab.context().waitForEvent('page'), tab.click('button')]);
		await opened.waitForSelector('button[value=continue]');
		assert.equal(await opened.evaluate('window.opener'), null);
		// Cross-Origin-Opener-Policy: to the one who opened it, it looks closed.
		await until('it is cut off', () => tab.evaluate('window.w.closed'));
	});

	test('that looks ahead consumes nothing', async () => {
		const ada = await person();
		const tab = await ada.tab();
		const elicitation = await create();
		const row = await fixture.row(elicitation.id);
		const refused = async () => (await fixture.stack.programLog()).filter(({ reason }) => reason === 'prefetch').length;
		const before = await refused();
		page = `<link rel="prefetch" href="${elicitation.url}">`;
		await tab.goto(site);
		await until('it was asked for', async () => await refused() > before);
		assert.equal(await fixture.row(elicitation.id), row);
		await tab.goto(elicitation.url);
		await tab.waitForSelector('button[value=continue]');
	});

	test('cannot answer the confirm page', async () => {
		const ada = await person();
		const tab = await ada.tab();
		const elicitation = await create();
		await tab.goto(elicitation.url);
		const state = await tab.getAttribute('[name=state]', 'value');
		page = `<form method="post" action="${fixture.url('/connect/demo')}"><input name="state" value="${state}">
			<button name="answer" value="continue">Win</button></form>`;
		await tab.goto(site);
		await tab.click('button');
		await tab.waitForSelector('code');
		assert.equal(await tab.textContent('code'), 'wrong_browser', 'no Lax cookie comes with it');
		assert.equal(await statusOf(elicitation), 'pending');
	});

	test('cannot read a page or a status', async () => {
		const ada = await person();
		const tab = await ada.tab();
		const { url } = await create();
		page = '';
		await tab.goto(site);
		for (const address of [url, fixture.url('/done'), fixture.url('/status')]) {
			assert.equal(await tab.evaluate((target) => fetch(target, { credentials: 'include' }).then(() => 'read', () => 'refused'), address), 'refused');
		}
	});
});

// Last: it is another deployment from here on.
test('form_post where oauth2-proxy says who the user is: neither cookie comes with the POST', async () => {
	const auth = fixture.closeAtEnd(await startAuthDouble());
	await setUpNginx(fixture.stack, {
		snippets: ['auth-request.conf'],
		edit: { 'auth-request.conf': (text) => text.replaceAll('127.0.0.1:4180', `127.0.0.1:${auth.port}`) },
	});
	await configure(fixture.stack, (config) => {
		config.user_check = 'remote-user';
	});
	const ada = await person();
	const tab = await ada.tab();
	const elicitation = await create({ responseMode: 'form_post', subject: 'ada' });

	await tab.goto(elicitation.url);
	await signIn(tab, 'ada');
	await tab.waitForURL(`${fixture.stack.env.URLMODE_DEMO_ISSUER}/**`);
	await signIn(tab, 'Ada Lovelace');
	await untilDone(tab);
	const ours = (await ada.recorded()).filter(({ url }) => url.startsWith(elicitation.returnUrl));
	assert.deepEqual(ours.map(path), [['POST', '/oauth/demo/return', 303], ['GET', '/oauth/demo/return', 303]]);
	assert.equal(ours[0].headers.cookie, undefined);
	assert.equal((await fixture.urlmode.waitForCompletion(elicitation.id, elicitation.owner)).action, 'accept');
});
