// Who the user is (MCP specification, URL mode: the one who completes must be
// the one who started): by the web server's own authentication, by a session
// ticket of the MCP server, or not at all.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, test } from 'node:test';

import { request } from '../support/http.mjs';
import { stateOf } from '../support/flow.mjs';
import { assertPlainPage, assertSecurityHeaders } from '../support/pages.mjs';
import { openFixture } from '../support/fixture.mjs';
import { startAuthDouble } from './auth-double.mjs';
import { configure, setUpNginx } from './deployment.mjs';

const ADA = 'ada@example.org';
const MALLORY = 'mallory@example.org';
const PASSWORD = 'a password: with äöü';

/** What a client may call the header in which a web server passes a name. */
const CLAIMS = [
	'Remote-User', 'REMOTE_USER', 'Remote_User', 'X-Remote-User', 'X-REMOTE_USER', 'X_Remote_User', 'HTTP_REMOTE_USER',
	'Http-Remote-User', 'Auth-User', 'X-Auth-User', 'X-Auth-Request-User', 'X-Forwarded-User', 'X-User', 'User',
	'REDIRECT_REMOTE_USER', 'Redirect-Remote-User', 'urlmode_user', 'X-Urlmode-User', 'Proxy-Remote-User', 'Authenticated-User',
];

let fixture;
let auth;

before(async () => {
	fixture = await openFixture({ name: 'users', own: true });
	auth = fixture.closeAtEnd(await startAuthDouble());
	// The default: nothing is said of user_check.
	await configure(fixture.stack, (config) => {
		delete config.user_check;
		config.providers.demo.issuer = 'https://issuer.example';
	});
});

after(() => fixture?.close());

const basic = (name, password = PASSWORD) => `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;

/** The event that a stranger leaves. */
const events = (id) => fixture.stack.sql('SELECT provider, type, action FROM urlmode.event WHERE elicitation = $1', [id]);

/**
 * Refused as somebody else than the subject: nothing is changed, and it is recorded. The page names who is signed in, who knows that
 * already, and nobody else. `added`: how many events are recorded, which is one for each user.
 */
async function assertWrongUser(id, send, user, provider = 'demo', added = 1) {
	const untouched = await fixture.row(id);
	const known = await events(id);
	const answer = await send();

	assert.deepEqual([answer.status, answer.reason], [403, 'wrong_user']);
	assertPlainPage(answer);
	assertSecurityHeaders(answer);
	const [before, named, after] = answer.body.split(/(?<=You are signed in as )(<strong><bdi>.*?<\/bdi><\/strong>)/);
	assert.equal(named, `<strong><bdi>${user}</bdi></strong>`);
	assert.ok(![ADA, MALLORY].some((name) => `${before}${after}`.includes(name)), 'nobody else is named');
	assert.equal(await fixture.row(id), untouched, 'the row is as it was');
	assert.deepEqual(await events(id), [...known, ...Array(added).fill({ provider, type: 'wrong_user', action: 'ignored' })]);
}

/** What the provider's answer looks like, in the browser that came from /connect. */
const returnUrl = (state, code = 'a-code') => (
	`${fixture.url('/oauth/demo/return')}?${new URLSearchParams({ code, iss: 'https://issuer.example', state })}`);

const cookiesOf = ({ headers }) => (headers['set-cookie'] ?? []).map((line) => line.split(';')[0]).join('; ');

describe('remote-user, with a web server that names nobody', () => {
	test('a page that says that signing in is not set up; the row is untouched', async () => {
		const { id, url } = await fixture.create({ subject: ADA });
		const untouched = await fixture.row(id);
		const answer = await request(url);

		assert.deepEqual([answer.status, answer.reason], [500, 'sign_in_not_set_up']);
		assertPlainPage(answer, [new URL(url).search]);
		assertSecurityHeaders(answer);
		assert.match(answer.document.text, /Sign-in is not set up/);
		assert.equal(await fixture.row(id), untouched);
	});

	for (const name of CLAIMS) {
		test(`a header ${name} from outside is not a name`, async () => {
			const { id, url } = await fixture.create({ subject: ADA });
			const untouched = await fixture.row(id);
			const answer = await request(url, { headers: { [name]: ADA } });

			assert.deepEqual([answer.status, answer.reason], [500, 'sign_in_not_set_up']);
			assert.equal(await fixture.row(id), untouched);
		});
	}

	test('credentials that nobody has checked are not a name', async () => {
		const { url } = await fixture.create({ subject: ADA });
		const answer = await request(url, { headers: { Authorization: basic(ADA) } });
		assert.deepEqual([answer.status, answer.reason], [500, 'sign_in_not_set_up']);
	});

	test('a ticket is no name where the configuration does not say so', async () => {
		const { url } = await fixture.create({ subject: ADA });
		const { name, value } = fixture.urlmode.ticket({ subject: ADA });
		const answer = await request(url, { headers: { Cookie: `${name}=${value}` } });
		assert.deepEqual([answer.status, answer.reason], [500, 'sign_in_not_set_up']);
	});
});

/**
 * What holds for every way in which a web server signs users in.
 *
 * @param {(name: string) => Promise<Record<string, string>>} signedIn the headers of a user's requests
 */
function remoteUser(signedIn) {
	const open = async (elicitation, name, headers = {}) => request(elicitation.url, { headers: { ...await signedIn(name), ...headers } });

	/** Goes on from /connect as a user; the cookie of the browser is in the answer. */
	async function goOn(elicitation, name = ADA) {
		const answer = await open(elicitation, name);
		assert.equal(answer.status, 303, answer.body);
		return { state: stateOf(answer.location), cookie: cookiesOf(answer), answer };
	}

	async function comeBack({ state, cookie }, name, headers = {}) {
		const user = await signedIn(name);
		const all = [user.Cookie, cookie].filter(Boolean).join('; ');
		return request(returnUrl(state), { headers: { ...user, Cookie: all, ...headers } });
	}

	test('the subject goes on at once, comes back, and it is done', async () => {
		const elicitation = await fixture.create({ subject: ADA });
		const way = await goOn(elicitation);
		assert.match(way.answer.location, /^http:\/\/localhost:9\/authorize\?client_id=tests&state=[\w-]{115}$/);
		assert.equal((await fixture.stack.elicitation(elicitation.id)).status, 'opened');

		const back = await comeBack(way, ADA);
		assert.deepEqual([back.status, back.location], [303, '/done']);
		const { action, result } = await fixture.urlmode.waitForCompletion(elicitation.id, elicitation.owner);
		assert.deepEqual([action, result.code], ['accept', 'a-code']);
		assert.deepEqual(await events(elicitation.id), []);
	});

	test('somebody else at /connect: 403, the row untouched, the event recorded', async () => {
		const elicitation = await fixture.create({ subject: ADA });
		await assertWrongUser(elicitation.id, () => open(elicitation, MALLORY), MALLORY);
	});

	test('a link that a stranger made, followed by its victim: 403', async () => {
		const elicitation = await fixture.create({ subject: MALLORY });
		await assertWrongUser(elicitation.id, () => open(elicitation, ADA), ADA);
	});

	test('somebody else at the return: 403, the row untouched, the event recorded', async () => {
		const elicitation = await fixture.create({ subject: ADA });
		const way = await goOn(elicitation);
		await assertWrongUser(elicitation.id, () => comeBack(way, MALLORY), MALLORY);
		assert.equal((await comeBack(way, ADA)).location, '/done', 'the subject still can');
	});

	test('another user after completion: 403, not “already done”', async () => {
		const elicitation = await fixture.create({ subject: ADA });
		const way = await goOn(elicitation);
		await comeBack(way, ADA);
		await assertWrongUser(elicitation.id, () => comeBack(way, MALLORY), MALLORY);
	});

	test('the ways back from a payment are for the subject alone, too', async () => {
		const payment = await fixture.create({ subject: ADA, provider: 'stripe', kind: 'payment' });
		const went = await open(payment, ADA);
		assert.equal(went.status, 303);
		const back = async (url, name) => {
			const user = await signedIn(name);
			return request(url, { headers: { ...user, Cookie: [user.Cookie, cookiesOf(went)].filter(Boolean).join('; ') } });
		};

		await assertWrongUser(payment.id, () => back(payment.returnUrl, MALLORY), MALLORY, 'stripe');
		await assertWrongUser(payment.id, () => back(payment.cancelUrl, MALLORY), MALLORY, 'stripe', 0);
		assert.equal((await back(payment.returnUrl, ADA)).status, 200);
		assert.equal((await back(payment.cancelUrl, ADA)).location, '/done');
		assert.equal((await fixture.stack.elicitation(payment.id)).action, 'decline');
	});

	test('a webhook asks nobody to sign in', async () => {
		const answer = await request(fixture.url('/webhook/stripe'), { method: 'POST', body: '{}', headers: { 'Content-Type': 'application/json' } });
		assert.match(answer.body, /^signature_missing:/);
	});

	for (const name of ['Ada@example.org', 'ada@example.or', 'ada@example.org.', 'ada@example.org%00']) {
		test(`a name that is almost the subject's is another: ${name}`, async () => {
			const elicitation = await fixture.create({ subject: ADA });
			await assertWrongUser(elicitation.id, () => open(elicitation, name), name);
		});
	}

	for (const name of CLAIMS) {
		test(`a header ${name} from outside changes no name`, async () => {
			const elicitation = await fixture.create({ subject: ADA });
			await assertWrongUser(elicitation.id, () => open(elicitation, MALLORY, { [name]: ADA }), MALLORY);
		});
	}

	test('nobody signed in: a way to sign in, and the row untouched', async () => {
		const elicitation = await fixture.create({ subject: ADA });
		const untouched = await fixture.row(elicitation.id);
		for (const headers of [{}, ...CLAIMS.map((name) => ({ [name]: ADA }))]) {
			const answer = await request(elicitation.url, { headers });
			assert.ok(answer.status === 401 || /Sign in here/.test(answer.document.title), `${answer.status}`);
			assert.equal(answer.location, undefined);
		}
		assert.equal(await fixture.row(elicitation.id), untouched);
	});

	test('there is no confirm page to answer: 405', async () => {
		const elicitation = await fixture.create({ subject: ADA });
		const answer = await request(elicitation.url, { method: 'POST', headers: await signedIn(ADA) });
		assert.deepEqual([answer.status, answer.headers.allow], [405, 'GET, HEAD']);
	});

	test('HEAD, and a browser that only looks ahead, consume nothing, and tell another user nothing', async () => {
		const elicitation = await fixture.create({ subject: ADA });
		const untouched = await fixture.row(elicitation.id);
		const user = await signedIn(ADA);

		assert.equal((await request(elicitation.url, { method: 'HEAD', headers: user })).status, 200);
		const stranger = await request(elicitation.url, { method: 'HEAD', headers: await signedIn(MALLORY) });
		assert.deepEqual([stranger.status, stranger.headers['set-cookie']], [403, undefined]);
		assert.deepEqual(await events(elicitation.id), []);
		assert.equal((await request(elicitation.url, { headers: { ...user, 'Sec-Purpose': 'prefetch' } })).status, 503);
		assert.equal(await fixture.row(elicitation.id), untouched);
	});

	test('what is public asks nobody to sign in', async () => {
		for (const [path, status] of [['/done', 200], ['/healthz', 200], ['/metrics', 200], ['/status', 404]]) {
			assert.equal((await request(fixture.url(path))).status, status, path);
		}
	});

	test('a form_post from another site, which says neither browser nor user, comes again by GET', async () => {
		const elicitation = await fixture.create({ subject: ADA });
		const way = await goOn(elicitation);
		const url = new URL(returnUrl(way.state));
		const posted = await request(url.origin + url.pathname, {
			method: 'POST', body: url.search.slice(1), headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...await formPostUser() },
		});
		assert.equal(posted.status, 303);
		assert.match(posted.location, /^\/oauth\/demo\/return\?/);
		assert.equal((await fixture.stack.elicitation(elicitation.id)).status, 'opened');

		const user = await signedIn(ADA);
		const done = await request(fixture.url(posted.location), {
			headers: { ...user, Cookie: [user.Cookie, way.cookie].filter(Boolean).join('; ') },
		});
		assert.equal(done.location, '/done');
	});

	/** Browsers send basic credentials with every request, and Lax cookies not with this one. */
	async function formPostUser() {
		const { Authorization } = await signedIn(ADA);
		return Authorization === undefined ? {} : { Authorization };
	}
}

describe('remote-user, by HTTP basic authentication', () => {
	before(() => setUpNginx(fixture.stack, {
		snippets: ['auth-basic.conf'],
		files: {
			'urlmode.htpasswd': ['ada@example.org', 'mallory@example.org', 'Ada@example.org', 'ada@example.or', 'ada@example.org.', 'ada@example.org%00']
				.map((name) => `${name}:{SHA}${createHash('sha1').update(PASSWORD).digest('base64')}\n`).join(''),
		},
	}));

	remoteUser((name) => ({ Authorization: basic(name) }));

	for (const [what, value] of [
		['a wrong password', basic(ADA, 'guessed')],
		['no password', basic(ADA, '')],
		['an unknown user', basic('nobody')],
		['another scheme', 'Bearer YWRhQGV4YW1wbGUub3JnOg=='],
		['no base64', 'Basic %%%'],
	]) {
		test(`${what}: 401, with a plain page`, async () => {
			const elicitation = await fixture.create({ subject: ADA });
			const untouched = await fixture.row(elicitation.id);
			const answer = await request(elicitation.url, { headers: { Authorization: value } });

			assert.equal(answer.status, 401);
			assert.match(answer.headers['www-authenticate'], /^Basic realm=/);
			assertSecurityHeaders(answer);
			assert.match(answer.document.title, /sign in/i);
			assert.equal(await fixture.row(elicitation.id), untouched);
		});
	}
});

describe('remote-user, by auth_request', () => {
	const browsers = new Map();

	before(() => setUpNginx(fixture.stack, {
		snippets: ['auth-request.conf'],
		edit: { 'auth-request.conf': (text) => text.replaceAll('127.0.0.1:4180', `127.0.0.1:${auth.port}`) },
	}));

	/** Signs in once on the double's own page. */
	async function cookieOf(name) {
		if (!browsers.has(name)) {
			const browser = fixture.browser();
			const page = await browser.open(fixture.url('/connect/demo?state=x'));
			await browser.submit(page, { button: 'sign-in', fields: { name } });
			browsers.set(name, browser.jar.header(new URL(fixture.url('/'))));
		}
		return browsers.get(name);
	}

	remoteUser(async (name) => ({ Cookie: await cookieOf(name) }));

	test('signing in leads back to where it came from, query and all', async () => {
		const browser = fixture.browser();
		const elicitation = await fixture.create({ subject: ADA });
		const page = await browser.open(elicitation.url);
		assert.equal(page.title, 'Sign in here');

		const next = await browser.submit(page, { button: 'sign-in', fields: { name: ADA } }).catch((error) => error);
		// Nothing listens where it is sent on to; the way there is what counts.
		assert.match(String(next.message ?? next), /ECONNREFUSED|fetch failed|9/);
		assert.ok(browser.history.some(({ url, status }) => url === elicitation.url && status === 303));
		assert.equal((await fixture.stack.elicitation(elicitation.id)).status, 'opened');
	});

	test('the authentication request has no body, no query, and no name that the client claims', async () => {
		const elicitation = await fixture.create({ subject: ADA });
		auth.asked.length = 0;
		await request(elicitation.url, {
			headers: { Cookie: await cookieOf(ADA), 'X-Forwarded-Uri': '/done', 'X-Forwarded-Host': 'mallory.example', 'X-Auth-Request-Redirect': '/x' },
		});
		const [{ method, ...headers }] = auth.asked;
		assert.equal(auth.asked.length, 1);
		assert.equal(method, 'GET');
		assert.equal(headers['x-forwarded-uri'], undefined);
		assert.equal(headers['x-auth-request-redirect'], undefined);
		assert.equal(headers['x-forwarded-host'], '127.0.0.1');
		assert.ok(!JSON.stringify(headers).includes(new URL(elicitation.url).searchParams.get('state')));
	});

	test('a session that ends during a form: nothing is stored, and what was typed is there again, for the same user alone', async () => {
		const { elicitationId: id, url } = await fixture.urlmode.create({ provider: 'approvals', kind: 'approval', subject: ADA,
			form: { title: 'Terms', comment: 'optional' } });
		const browser = fixture.browser();
		const signIn = (page, name) => browser.submit(page, { button: 'sign-in', fields: { name } });
		const signOut = () => browser.jar.store('_oauth2_proxy=; Path=/; Max-Age=0; Secure', new URL(fixture.url('/')));
		const page = await signIn(await browser.open(url), ADA);
		signOut();
		const sent = await browser.submit(page, { button: 'approve', fields: { comment: 'Not "yet"' } });
		assert.deepEqual([sent.status, sent.find('code')[0].text], [403, 'session_ended']);
		assert.equal((await fixture.stack.elicitation(id)).status, 'opened');
		const [{ attributes: { href } }] = sent.find('a');

		const other = await signIn(await browser.follow(sent, href), MALLORY);
		assert.deepEqual([other.status, other.body.includes('Not &quot;yet')], [403, false]);
		signOut();
		const again = await signIn(await browser.follow(sent, href), ADA);
		assert.match(again.text, /Your session had ended, and nothing was stored/);
		assert.equal(again.forms[0].fields.find(([name]) => name === 'comment')[1], 'Not "yet"');
		await browser.submit(again, { button: 'approve' });
		assert.deepEqual(await fixture.state({ id }).then(([status, action]) => [status, action]), ['completed', 'accept']);
	});

	test('a cookie that the proxy has not signed signs nobody in', async () => {
		const elicitation = await fixture.create({ subject: ADA });
		const forged = `_oauth2_proxy=${Buffer.from(ADA).toString('base64url')}.${'A'.repeat(43)}`;
		const answer = await request(elicitation.url, { headers: { Cookie: forged } });
		assert.equal(answer.document.title, 'Sign in here');
	});

	test('the proxy is not there: 5xx, nobody comes in', async () => {
		await setUpNginx(fixture.stack, {
			snippets: ['auth-request.conf'],
			edit: { 'auth-request.conf': (text) => text.replaceAll('127.0.0.1:4180', '127.0.0.1:9') },
		});
		const elicitation = await fixture.create({ subject: ADA });
		const untouched = await fixture.row(elicitation.id);
		const answer = await request(elicitation.url, { headers: { Cookie: await cookieOf(ADA), 'Remote-User': ADA } });
		assert.ok(answer.status >= 500, `${answer.status}`);
		assert.equal(await fixture.row(elicitation.id), untouched);
	});
});

describe('where it is not known who the user is (confirm)', () => {
	test('a name that the web server passes is not looked at', async () => {
		await setUpNginx(fixture.stack, {
			snippets: ['auth-basic.conf'],
			files: { 'urlmode.htpasswd': `${MALLORY}:{SHA}${createHash('sha1').update(PASSWORD).digest('base64')}\n` },
		});
		await configure(fixture.stack, (config) => {
			config.user_check = 'confirm';
		});
		const { url } = await fixture.create({ subject: ADA });
		const page = await request(url, { headers: { Authorization: basic(MALLORY) } });
		assert.equal(page.status, 200);
		assert.match(page.document.text, /ada@example\.org/);
	});
});
