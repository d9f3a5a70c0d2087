// Users sign in at the company's OpenID provider, in a real browser: there and
// back, as somebody else, in two tabs, and what other sites can do with it.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';

import { OpenIdClient } from '../demo/openid.mjs';
import { configure } from '../security/deployment.mjs';
import { openFixture } from '../support/fixture.mjs';
import { DRESSES, startOpenIdProvider } from '../support/openid-provider.mjs';
import { until } from '../support/wait.mjs';
import { axe, picture, startChromium } from './chromium.mjs';
import { startFirefox } from './firefox.mjs';

const SESSION = '__Host-urlmode-session';
const SIGNIN = '__Host-urlmode-signin';

let fixture;
let chromium;
let provider;
let keys;
let refresh;

before(async () => {
	fixture = await openFixture({ name: 'signin', own: true });
	chromium = fixture.closeAtEnd(await startChromium());
	keys = path.join(fixture.stack.runDir, 'jwks.json');
	refresh = path.join(fixture.stack.runDir, 'refresh');
});

after(() => fixture?.close());

/** Signs in at this provider from now on. */
async function use(dress, more = {}) {
	provider = fixture.closeAtEnd(await startOpenIdProvider(dress));
	await writeFile(keys, JSON.stringify(provider.jwks));
	await configure(fixture.stack, (config) => {
		config.user_check = 'openid';
		config.openid = { ...provider.openid, jwks_file: keys, refresh_file: refresh, scope: 'openid profile', ...more };
		delete config.providers.demo.issuer;
	});
}

/** An elicitation of this user, whose target is a page of the provider's. */
const create = (name, options) => fixture.create({ subject: provider.subject(name), targetUrl: `${provider.origin}/target`, ...options });
const person = async () => fixture.closeAtEnd(await chromium.person());
const statusOf = async ({ id }) => (await fixture.stack.elicitation(id)).status;
const atTarget = (tab) => tab.waitForURL((url) => url.pathname === '/target');
/** Two JSON objects in base64url. Three letters alone may stand in a state by chance. */
const JWT = /eyJ[\w-]+\.eyJ/;
const heading = (tab) => tab.textContent('h1');
const names = async (who) => (await who.cookies()).map(({ name }) => name).sort();

for (const dress of Object.keys(DRESSES)) {
	test(`${dress}: there and back, with a session for the next link`, async () => {
		await use(dress);
		const ada = await person();
		const tab = await ada.tab();
		const elicitation = await create('ada');

		await tab.goto(elicitation.url);
		await atTarget(tab);
		assert.equal(await statusOf(elicitation), 'opened');
		const [asked] = provider.asked;
		assert.deepEqual([asked.response_type, asked.response_mode, asked.client_id, asked.redirect_uri, asked.scope],
			['id_token', 'form_post', 'urlmode', fixture.url('/signin/return'), 'openid profile']);

		const session = (await ada.cookies()).find(({ name }) => name === SESSION);
		assert.deepEqual([session.sameSite, session.httpOnly, session.secure, session.path, session.domain], ['Lax', true, true, '/', '127.0.0.1']);
		assert.ok(Math.abs(session.expires - Date.now() / 1_000 - 3_600) < 60);
		assert.deepEqual(await names(ada), ['__Host-urlmode', SESSION], 'the cookie of the sign-in is deleted');

		const next = await create('ada', { provider: 'github' });
		await tab.goto(next.url);
		await atTarget(tab);
		assert.equal(provider.asked.length, 1, 'no more than one id token in the time of a session');
		assert.equal(await statusOf(next), 'opened');
		assert.deepEqual(ada.problems, []);

		const sent = (await ada.recorded()).filter(({ url }) => url.startsWith(fixture.stack.baseUrl));
		assert.deepEqual(sent.map(({ method, url }) => [method, new URL(url).pathname]),
			[['GET', '/connect/demo'], ['POST', '/signin/return'], ['GET', '/connect/demo'], ['GET', '/connect/github']]);
		for (const { url, location } of await ada.recorded()) {
			assert.doesNotMatch(`${url} ${location}`, JWT, 'an id token stands in no address');
		}
		for (const [name, text] of await fixture.stack.logs()) {
			assert.doesNotMatch(text, JWT, `${name} has an id token`);
			for (const secret of [asked.state, asked.nonce, session.value, provider.subject('ada')]) {
				assert.ok(!text.includes(secret), `${name} has a secret`);
			}
		}
	});
}

test('the demo: its user signs in once, at its own provider, and connects the account there', async () => {
	const demo = await openFixture({ name: 'signin-demo', own: true, demo: true });
	try {
		const openid = new OpenIdClient(demo.stack.env.URLMODE_DEMO_ISSUER);
		const elicitation = await demo.create({
			subject: 'ada@example.org', pkce: true, targetUrl: ({ returnUrl }) => openid.authorizationUrl(returnUrl),
		});
		const ada = await person();
		const tab = await ada.tab();
		await tab.goto(elicitation.url);
		await tab.click('button[value=sign-in]');
		await tab.waitForURL(demo.url('/done'));
		const { action } = await demo.urlmode.waitForCompletion(elicitation.id, elicitation.owner);
		assert.equal(action, 'accept');
		assert.deepEqual(ada.problems, []);
	} finally {
		await demo.close();
	}
});

describe('one provider', () => {
	before(() => use('google'));
	afterEach(() => {
		Object.assign(provider, { users: ['ada'], claims: {}, error: undefined, waits: false, asked: [] });
	});

	test('a wrong user is named, signs in as somebody else, and goes nowhere by himself', async () => {
		const who = await person();
		const tab = await who.tab();
		const elicitation = await create('ada');
		provider.users = ['mallory', 'mallory', 'ada'];

		await tab.goto(elicitation.url);
		assert.equal(await heading(tab), 'This was started by another user');
		assert.match(await tab.textContent('main'), /You are signed in as mallory@corp\.example\./);
		assert.equal(await tab.getAttribute('text=Sign out at the provider', 'href'), `${provider.origin}/logout?client_id=urlmode`);
		assert.ok(!(await tab.content()).includes(new URL(elicitation.url).searchParams.get('state')), 'no state on the page');
		assert.deepEqual(await axe(tab), []);
		await picture(tab, 'wrong-user-openid');
		await tab.click('text=Sign in as somebody else');
		assert.equal(await heading(tab), 'This was started by another user');
		assert.deepEqual(provider.asked.map(({ prompt }) => prompt), [undefined, 'select_account']);
		assert.equal(await statusOf(elicitation), 'pending');
		await tab.click('text=Sign in as somebody else');
		await atTarget(tab);
		assert.equal(await statusOf(elicitation), 'opened');
		assert.deepEqual(who.problems, []);
	});

	test('two tabs share a sign-in: the second one goes on by the session of the first', async () => {
		const who = await person();
		const tabs = [await who.tab(), await who.tab()];
		const flows = [await create('ada'), await create('ada')];
		provider.waits = true;

		await tabs[0].goto(flows[0].url);
		await tabs[1].goto(flows[1].url);
		assert.equal((await who.cookies()).filter(({ name }) => name === SIGNIN).length, 1, 'one cookie for both');
		assert.notEqual(provider.asked[0].nonce, provider.asked[1].nonce);
		await tabs[1].click('button');
		await atTarget(tabs[1]);
		await tabs[0].click('button');
		await tabs[0].waitForSelector('h1');
		assert.equal(await heading(tabs[0]), 'This was started in another browser');
		await tabs[0].click('a:text("Try again")');
		await atTarget(tabs[0]);
		assert.deepEqual([await statusOf(flows[0]), await statusOf(flows[1])], ['opened', 'opened']);
		assert.equal(provider.asked.length, 2);
	});

	test('the provider refuses: the page leads back, and nobody goes in circles', async () => {
		const who = await person();
		const tab = await who.tab();
		const elicitation = await create('ada');
		provider.error = 'access_denied';

		await tab.goto(elicitation.url);
		assert.equal(await heading(tab), 'Sign-in did not work');
		assert.equal(provider.asked.length, 1);
		provider.error = undefined;
		await tab.click('a:text("Try again")');
		await atTarget(tab);
	});

	test('a new key of the provider: refused and asked for, then it works', async () => {
		const who = await person();
		const tab = await who.tab();
		const elicitation = await create('ada');
		await rm(refresh, { force: true });
		provider.rotate();

		await tab.goto(elicitation.url);
		assert.equal(await heading(tab), 'Sign-in did not work');
		assert.ok(existsSync(refresh), 'the refresh is asked for');
		const [line] = (await fixture.stack.programLog()).filter(({ reason }) => reason === 'unknown_signing_key');
		assert.equal(line.detail, 'id token: is signed with a key that is not in the file');
		await writeFile(keys, JSON.stringify(provider.jwks));
		await tab.click('a:text("Try again")');
		await atTarget(tab);
	});

	test('the return: its state counts without a session, and not with that of somebody else', async () => {
		for (const [user, ends] of [[undefined, ['completed', 'accept']], ['mallory', ['opened', null]]]) {
			const who = await person();
			const tab = await who.tab();
			const elicitation = await create('ada');
			await tab.goto(elicitation.url);
			await atTarget(tab);
			const back = `${elicitation.returnUrl}?${new URLSearchParams({ code: 'c', state: new URL(tab.url()).searchParams.get('state') })}`;

			await tab.context().clearCookies({ name: SESSION });
			if (user !== undefined) {
				provider.users = [user];
				await tab.goto((await create(user)).url);
				await atTarget(tab);
				provider.users = ['ada'];
			}
			await tab.goto(back);
			const { status, action } = await fixture.stack.elicitation(elicitation.id);
			assert.deepEqual([status, action], ends);
			assert.equal(await heading(tab), user === undefined ? 'You can go back' : 'This was started by another user');
		}
	});

	test('another site signs nobody in: neither with a token and state of its own, nor by replaying one', async () => {
		const mallory = await person();
		const ada = await person();
		const elicitation = await create('mallory');
		const hers = await mallory.tab();
		provider.users = ['mallory'];
		provider.waits = true;
		await hers.goto(elicitation.url);
		const { state, nonce } = provider.asked[0];
		const idToken = provider.idToken('mallory', nonce);
		const tab = await ada.tab();

		const attack = async (fields) => {
			const action = fixture.url('/signin/return');
			const inputs = Object.entries(fields).map(([name, value]) => `<input name="${name}" value="${value}">`).join('');
			await tab.goto(`${provider.origin}/elsewhere`);
			await tab.setContent(`<form method="post" action="${action}">${inputs}<button>go</button></form>`);
			await tab.click('button');
			await tab.waitForURL(action);
			assert.equal((await names(ada)).includes(SESSION), false);
			return heading(tab);
		};

		// Without a sign-in under way, and with one of her own.
		assert.equal(await attack({ state, id_token: idToken }), 'This was started in another browser');
		provider.users = ['ada'];
		await tab.goto((await create('ada')).url);
		const own = provider.asked.at(-1);
		assert.equal(await attack({ state, id_token: idToken }), 'This was started in another browser');
		assert.equal(await attack({ state: own.state, id_token: idToken }), 'Sign-in did not work');
		assert.equal(await attack({ state: own.state, id_token: provider.idToken('ada', own.nonce, { aud: 'another' }) }), 'Sign-in did not work');
		assert.equal(await attack({ state: own.state, id_token: provider.idToken('ada', own.nonce, { iss: 'https://evil.example' }) }), 'Sign-in did not work');
		assert.equal(await attack({ state: own.state, iss: 'https://evil.example', id_token: provider.idToken('ada', own.nonce) }), "We can't continue");
		assert.equal(await attack({ state: own.state, id_token: 'x'.repeat(60_000) }), 'This is too large');

		// A good one is used up with its cookie.
		await hers.click('button');
		await atTarget(hers);
		await hers.goto(`${provider.origin}/elsewhere`);
		await hers.setContent(`<form method="post" action="${fixture.url('/signin/return')}"><input name="state" value="${state}">
			<input name="id_token" value="${idToken}"><button>go</button></form>`);
		await hers.click('button');
		await hers.waitForURL(fixture.url('/signin/return'));
		assert.equal(await heading(hers), 'This was started in another browser');
	});
});

// What the end of a sign-in brings is the first party's: the provider's form takes the whole tab along.
describe('a browser that blocks or partitions the cookies of third parties', () => {
	before(() => use('google'));

	/** Signs in, fills in a form, approves, and comes back from the provider, in this tab. */
	async function walk(tab) {
		const urlmode = { subject: provider.subject('ada') };
		const atEnd = () => tab.waitForURL((url) => url.href === fixture.url('/done'));
		const form = await fixture.urlmode.create({ ...urlmode, provider: 'intake', kind: 'input', form: { title: 'Key', fields: [{ name: 'api_key', type: 'secret', label: 'Key' }] } });
		await tab.goto(form.url);
		await tab.fill('#f-api_key', 'S3cr3t');
		assert.match(await tab.textContent('main'), /You are signed in as ada@corp\.example\./);
		await tab.click('.secret button');
		assert.equal(await tab.textContent('.secret button'), 'Hide');
		await tab.picture('form-signed-in');
		await tab.click('button[value=submit]');
		await atEnd();
		const { result } = await fixture.urlmode.waitForCompletion(form.elicitationId, urlmode);
		assert.deepEqual(result.values, { api_key: 'S3cr3t' });

		const approval = await fixture.urlmode.create({ ...urlmode, provider: 'approvals', kind: 'approval', form: { title: 'Expense' }, stepUp: true });
		await tab.goto(approval.url);
		await tab.click('button[value=approve]');
		await atEnd();
		assert.ok((await fixture.urlmode.waitForCompletion(approval.elicitationId, urlmode)).signedInAt);

		const elicitation = await create('ada');
		await tab.goto(elicitation.url);
		await atTarget(tab);
		await tab.goto(`${elicitation.returnUrl}?${new URLSearchParams({ code: 'c', state: new URL(await tab.url()).searchParams.get('state') })}`);
		assert.deepEqual([(await fixture.stack.elicitation(elicitation.id)).action, await heading(tab)], ['accept', 'You can go back']);
	}

	/** Whether a frame of our host on the provider's page has our cookies. */
	async function hasCookieInFrame(tab) {
		const seen = [];
		const server = createServer((request, response) => {
			seen.push(request.headers.cookie ?? '');
			response.writeHead(200, { 'Content-Type': 'text/html' }).end('<!doctype html>');
		}).listen(0, '127.0.0.1');
		try {
			await once(server, 'listening');
			provider.waits = true;
			await tab.goto((await create('ada')).url);
			await tab.evaluate(`const frame = document.createElement('iframe');
				frame.src = 'http://127.0.0.1:${server.address().port}/';
				document.body.append(frame);`);
			return (await until('the frame is asked for', () => seen.length > 0 && seen))[0].includes(SIGNIN);
		} finally {
			provider.waits = false;
			server.closeAllConnections();
			server.close();
		}
	}

	test('Chromium, which blocks them, and does not by default', async () => {
		for (const blocksThirdParties of [false, true]) {
			const who = fixture.closeAtEnd(await chromium.person({ blocksThirdParties }));
			const tab = await who.tab();
			assert.equal(await hasCookieInFrame(tab), !blocksThirdParties);
			await tab.context().clearCookies();
			if (!blocksThirdParties) continue;
			tab.picture = async (name) => {
				assert.deepEqual(await axe(tab), []);
				await picture(tab, name);
			};
			await walk(tab);
			assert.deepEqual(who.problems, []);
		}
	});

	// network.cookie.cookieBehavior: 0 accepts all, 5 is the default, 1 blocks those of third parties.
	for (const [does, behaviour, has] of [['accepts', 0, true], ['partitions', 5, false], ['blocks', 1, false]]) {
		test(`Firefox ESR, which ${does} them`, async () => {
			const firefox = await startFirefox({ 'network.cookie.cookieBehavior': behaviour });
			try {
				assert.equal(await hasCookieInFrame(firefox), has);
				await firefox.clearCookies();
				firefox.picture = ((draw) => (name) => draw.call(firefox, `firefox-${name}`))(firefox.picture);
				await walk(firefox);
			} finally {
				await firefox.close();
			}
		});
	}
});
