// The whole way: the official client and server, the real provider, nginx,
// the programs and PostgreSQL.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { OpenIdClient } from '../demo/openid.mjs';
import { demoUsers } from '../demo/users.mjs';
import { startDemo } from '../support/demo.mjs';
import { comeBack, PROVIDER_PAGE } from '../support/flow.mjs';
import { connectClient } from '../support/mcp.mjs';
import { openFixture } from '../support/fixture.mjs';
import { deferred } from '../support/wait.mjs';

const [[ADA, ADAS_SUBJECT], [GRACE]] = demoUsers;

let fixture;
let demo;
let openid;

before(async () => {
	fixture = await openFixture({ name: 'flow' });
	demo = fixture.closeAtEnd(await startDemo(fixture.stack));
	openid = new OpenIdClient(demo.issuer);
});

after(() => fixture?.close());

/** A client that calls the tool; `asked` is the elicitation that its user gets. */
async function callTool({ token = ADA, answer = 'accept', url = demo.url } = {}) {
	const asked = deferred();
	const completed = [];
	const progress = [];
	const client = fixture.closeAtEnd(await connectClient({
		url,
		token,
		onElicit(elicitation) {
			asked.resolve(elicitation);
			return answer;
		},
		onComplete: (id) => completed.push(id),
	}));
	const result = client.callTool('connect_account', { onProgress: ({ message }) => progress.push(message) });
	result.then(({ text }) => asked.reject(new Error(text)), asked.reject);
	return { client, completed, progress, result, elicitation: await asked.promise };
}

/** From the link to the provider's sign-in page. */
async function goToProvider(browser, { url }) {
	return browser.submit(await browser.open(url), { button: 'continue' });
}

const signIn = (browser, page, name) => browser.submit(page, { button: 'sign-in', fields: { name } });

/** An elicitation whose target is the provider, with parameters of its authorization request changed. */
function createAtProvider(change) {
	return fixture.create({
		pkce: true,
		async targetUrl({ returnUrl }) {
			const url = await openid.authorizationUrl(returnUrl);
			Object.entries(change).forEach(([name, value]) => url.searchParams.set(name, value));
			return url;
		},
	});
}

const outcomeOf = ({ id, owner }) => fixture.urlmode.waitForCompletion(id, owner);

describe('with the official client and server', () => {
	test('the tool asks, the user signs in and comes back, the tool answers', async () => {
		const browser = fixture.browser();
		const { elicitation, result, completed, progress } = await callTool();
		const id = elicitation.elicitationId;

		assert.equal(elicitation.mode, 'url');
		assert.match(elicitation.url, new RegExp(`^${fixture.url('/connect/demo')}\\?state=[\\w-]{43}$`));
		assert.equal((await fixture.stack.elicitation(id)).status, 'pending');

		const confirm = await browser.open(elicitation.url);
		assert.equal((await fixture.stack.elicitation(id)).status, 'pending', 'looking opens nothing');
		const page = await browser.submit(confirm, { button: 'continue' });
		const [sentOn] = page.hops;
		const target = new URL(sentOn.location);
		assert.equal(sentOn.status, 303);
		assert.equal(target.origin, demo.issuer);
		assert.match(target.searchParams.get('state'), /^[\w-]{115}$/);
		assert.notEqual(target.searchParams.get('state'), new URL(elicitation.url).searchParams.get('state'));
		assert.equal(target.searchParams.get('code_challenge_method'), 'S256');
		assert.match(target.searchParams.get('code_challenge'), /^[\w-]{43}$/);
		assert.ok(target.searchParams.get('nonce'));
		assert.equal((await fixture.stack.elicitation(id)).status, 'opened');

		const done = await signIn(browser, page, 'Ada Lovelace');
		const back = done.hops.at(-2);
		const returned = new URL(back.url);
		assert.equal(returned.pathname, '/oauth/demo/return');
		assert.equal(returned.searchParams.get('iss'), demo.issuer, 'RFC 9207');
		assert.equal(back.status, 303);
		assert.equal(back.location, '/done');
		assert.equal(done.status, 200);
		assert.equal(done.url, fixture.url('/done'));
		assert.match(done.text, /You can close this tab/);

		assert.deepEqual(await result, { text: 'Connected the account of Ada Lovelace.', isError: false });
		assert.deepEqual(completed, [id]);
		assert.deepEqual(progress, ['The page is open in the browser.']);
		const row = await fixture.stack.elicitation(id);
		assert.deepEqual([row.status, row.action, row.reason], ['completed', 'accept', '']);
		assert.equal(row.subject, ADAS_SUBJECT);
	});

	test('notifications/elicitation/complete reaches the session that asked, and no other', async () => {
		const calls = [await callTool(), await callTool(), await callTool({ token: GRACE })];

		// One after another, so that each session is still open when the others' notices go out.
		for (const [index, { elicitation, result }] of calls.entries()) {
			const browser = fixture.browser();
			await signIn(browser, await goToProvider(browser, elicitation), `User ${index}`);
			assert.equal((await result).text, `Connected the account of User ${index}.`);
		}
		for (const { elicitation, completed } of calls) {
			assert.deepEqual(completed, [elicitation.elicitationId]);
		}
	});

	test('fifty users at the same time each connect their own account', async () => {
		const users = new Map(Array.from({ length: 50 }, (_, i) => [`token-${i}`, `user-${i}@example.org`]));
		const crowd = fixture.closeAtEnd(await startDemo(fixture.stack, { users }));

		await Promise.all([...users.keys()].map(async (token, index) => {
			const { elicitation, result, completed } = await callTool({ token, url: crowd.url });
			const browser = fixture.browser({ timeout: 60_000 });
			await signIn(browser, await goToProvider(browser, elicitation), `Person ${index}`);
			assert.equal((await result).text, `Connected the account of Person ${index}.`);
			assert.deepEqual(completed, [elicitation.elicitationId]);
		}));
	});

	test('refusing on the confirm page declines', async () => {
		const browser = fixture.browser();
		const { elicitation, result } = await callTool();
		const last = await browser.submit(await browser.open(elicitation.url), { button: 'refuse' });

		assert.equal(last.url, fixture.url('/done'));
		assert.match(last.text, /Declined.*You can close this tab/);
		assert.deepEqual(await result, { text: 'No account was connected: you refused.', isError: true });
		const row = await fixture.stack.elicitation(elicitation.elicitationId);
		assert.deepEqual([row.status, row.action, row.reason], ['completed', 'decline', 'access_denied']);
		assert.equal(row.opened_at, null);
	});

	test('cancelling at the provider declines', async () => {
		const browser = fixture.browser();
		const { elicitation, result } = await callTool();
		const last = await browser.submit(await goToProvider(browser, elicitation), { button: 'cancel' });

		assert.match(last.hops.at(-2).url, /[?&]error=access_denied(&|$)/);
		assert.equal(last.url, fixture.url('/done'));
		assert.match(last.text, /Declined/);
		assert.deepEqual(await result, { text: 'No account was connected: you refused.', isError: true });
		const row = await fixture.stack.elicitation(elicitation.elicitationId);
		assert.deepEqual([row.action, row.reason], ['decline', 'access_denied']);
	});

	test('a server may end what its client has not opened, by abandon', async () => {
		const { elicitation, result } = await callTool({ answer: 'decline' });

		assert.deepEqual(await result, { text: 'No account was connected: the client did not open the page.', isError: true });
		const row = await fixture.stack.elicitation(elicitation.elicitationId);
		assert.deepEqual([row.status, row.action, row.reason], ['completed', 'cancel', 'not_opened']);
		assert.match((await fixture.browser().open(elicitation.url)).text, /This request has ended/);
	});

	test('nobody comes: the tool says so, and the row is closed', async () => {
		const hasty = fixture.closeAtEnd(await startDemo(fixture.stack, { ttl: 1_000 }));
		const { elicitation, result } = await callTool({ url: hasty.url });

		assert.deepEqual(await result, { text: 'No account was connected: nobody signed in in time.', isError: true });
		const row = await fixture.stack.elicitation(elicitation.elicitationId);
		assert.deepEqual([row.status, row.action], ['completed', 'cancel']);
	});

	test('a client without elicitation.url is told in words', async () => {
		const client = fixture.closeAtEnd(await connectClient({ url: demo.url, token: ADA, capabilities: {} }));
		const { text, isError } = await client.callTool('connect_account');

		assert.equal(isError, true);
		assert.match(text, /cannot send its user to a web page/);
	});
});

describe('the confirm page', () => {
	test('names who asks, for whom and for which provider, with a button to go on and one to refuse', async () => {
		const { url, owner } = await fixture.create({ subject: 'Ada <ada@example.org> & "Co"' });
		const page = await fixture.browser().open(url);

		assert.equal(page.status, 200);
		for (const text of ['Tests & Co wants to connect your account at Demo Account.', `whoever continues acts as ${owner.subject}.`]) {
			assert.equal(page.text.split(text).length, 2, `${text} stands on it once`);
		}
		assert.equal(page.forms.length, 1);
		assert.equal(page.forms[0].method, 'post');
		assert.deepEqual(page.forms[0].buttons, [
			{ name: 'answer', value: 'continue', text: 'Continue' },
			{ name: 'answer', value: 'refuse', text: 'Decline' },
		]);
	});

	test('sets one cookie, which no script and no other site can use', async () => {
		const browser = fixture.browser();
		const first = await browser.open((await fixture.create()).url);
		const [cookie] = first.headers['set-cookie'];
		const [pair, ...attributes] = cookie.split('; ');

		assert.match(pair, /^__Host-urlmode=[\w-]{22}$/);
		assert.deepEqual(attributes.sort(), ['HttpOnly', 'Max-Age=31536000', 'Path=/', 'SameSite=Lax', 'Secure']);
		const second = await browser.open((await fixture.create()).url);
		assert.equal(second.headers['set-cookie'][0].split('; ')[0], pair, 'kept for another flow');
	});

	test('cannot be bypassed: a POST with the link\'s state is refused', async () => {
		const { id, url } = await fixture.create();
		const browser = fixture.browser();
		const page = await browser.open(url);
		const before = await fixture.row(id);

		for (const button of ['continue', 'refuse']) {
			const answer = await browser.submit(page, {
				button, fields: { state: new URL(url).searchParams.get('state') },
			});
			assert.equal(answer.status, 403);
			assert.equal(answer.find('code')[0].text, 'wrong_browser');
		}
		assert.equal(await fixture.row(id), before);
	});

	test('HEAD answers as GET does, without a cookie, and opens nothing', async () => {
		const { id, url } = await fixture.create();
		const before = await fixture.row(id);
		const hop = await fixture.browser().send({ url: new URL(url), method: 'HEAD' });

		assert.deepEqual([hop.status, hop.body, hop.headers['set-cookie']], [200, '', undefined]);
		assert.equal(await fixture.row(id), before);
	});

	test('adds the state to a target URL with and without a query, and changes nothing else in it', async () => {
		for (const [targetUrl, separator] of [
			['https://provider.example/authorize', '?'],
			['https://provider.example/a?scope=a+b&x=%2F%20%c3%a9', '&'],
		]) {
			const { hop, state } = await fixture.goOn(fixture.browser(), { targetUrl });
			assert.equal(hop.location, `${targetUrl}${separator}state=${state}`);
		}
	});
});

describe('the answer of the provider', () => {
	test('an error other than access_denied cancels with provider_error', async () => {
		const elicitation = await createAtProvider({ prompt: 'none' });
		const last = await goToProvider(fixture.browser(), elicitation);

		assert.match(last.hops.at(-2).url, /[?&]error=login_required(&|$)/);
		assert.equal(last.url, fixture.url('/done'));
		assert.match(last.text, /provider reported an error/);
		const { action, reason, result } = await outcomeOf(elicitation);
		assert.deepEqual([action, reason, result.error], ['cancel', 'provider_error', 'login_required']);
	});

	test('the provider insists on PKCE', async () => {
		const elicitation = await createAtProvider({});
		await fixture.stack.sql(`UPDATE urlmode.elicitation SET target_url = regexp_replace(
			target_url, '&code_challenge(_method)?=[^&]*', '', 'g') WHERE id = $1`, [elicitation.id]);
		const last = await goToProvider(fixture.browser(), elicitation);

		assert.equal(last.url, fixture.url('/done'));
		const { action, result } = await outcomeOf(elicitation);
		assert.deepEqual([action, result.error], ['cancel', 'invalid_request']);
		assert.match(result.error_description, /PKCE/);
	});

	test('its parameters are the result, sealed for the owner alone', async () => {
		const browser = fixture.browser();
		const elicitation = await createAtProvider({});
		const done = await signIn(browser, await goToProvider(browser, elicitation), 'Ada');
		const sent = Object.fromEntries(new URL(done.hops.at(-2).url).searchParams);
		const outcome = await outcomeOf(elicitation);

		delete sent.state;
		assert.deepEqual(outcome.result, sent);
		assert.equal((await openid.exchange(outcome, elicitation.returnUrl)).name, 'Ada', 'it is a real code');
		const { result } = await fixture.stack.elicitation(elicitation.id);
		assert.equal(result.includes(sent.code), false);
		for (const stranger of [{ subject: 'mallory' }, { ...elicitation.owner, session: 'another' }]) {
			await assert.rejects(fixture.urlmode.waitForCompletion(elicitation.id, stranger),
				{ code: 'ELICITATION_NOT_FOUND' });
		}
	});

	test('form_post of the real provider: the POST comes without the cookie, and again by GET', async () => {
		const browser = fixture.browser();
		const elicitation = await createAtProvider({ response_mode: 'form_post' });
		const posting = await signIn(browser, await goToProvider(browser, elicitation), 'Grace');
		const done = await browser.submit(posting);

		assert.equal(new URL(posting.url).origin, demo.issuer);
		assert.deepEqual(done.hops.map(({ method, status, url }) => [method, new URL(url).pathname, status]), [
			['POST', '/oauth/demo/return', 303], ['GET', '/oauth/demo/return', 303], ['GET', '/done', 200]]);
		assert.deepEqual(Object.fromEntries(new URL(done.hops[1].url).searchParams),
			Object.fromEntries(posting.forms[0].fields));
		assert.equal((await openid.exchange(await outcomeOf(elicitation), elicitation.returnUrl)).name, 'Grace');
	});

	test('form_post with the cookie is done at once', async () => {
		const browser = fixture.browser();
		const flow = await fixture.goOn(browser);
		const hop = await browser.send({
			url: new URL(flow.returnUrl),
			method: 'POST',
			body: new URLSearchParams(flow.parameters({ code: 'a+b/ü&=' })).toString(),
		});

		assert.deepEqual([hop.status, hop.location], [303, '/done']);
		assert.equal((await outcomeOf(flow)).result.code, 'a+b/ü&=');
	});

	test('form_post by a stranger without the cookie changes nothing', async () => {
		const flow = await fixture.goOn(fixture.browser());
		const before = await fixture.row(flow.id);
		const stranger = fixture.browser();
		const page = await stranger.navigate({
			url: new URL(flow.returnUrl),
			method: 'POST',
			body: new URLSearchParams(flow.parameters({ code: 'stolen' })).toString(),
			from: PROVIDER_PAGE,
		});

		assert.deepEqual(page.hops.map(({ status }) => status), [303, 403]);
		assert.equal(page.find('code')[0].text, 'wrong_browser');
		assert.equal(await fixture.row(flow.id), before);
	});

	test('a provider without a configured issuer need not say who it is', async () => {
		const browser = fixture.browser();
		const flow = await fixture.goOn(browser, { provider: 'github' });

		assert.equal((await comeBack(browser, flow.returnTo({ code: 'c' }))).status, 303);
		assert.deepEqual((await outcomeOf(flow)).result, { code: 'c' });
	});
});
