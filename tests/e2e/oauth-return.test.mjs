// What comes back from a provider without a code: in the words of RFC 6749, in the
// provider's own, or in no words at all. tests/unit/test_oauth_return_words.c has each case.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { configure } from '../security/deployment.mjs';
import { openFixture } from '../support/fixture.mjs';
import { comeBack, goOn, PROVIDER_PAGE } from '../support/flow.mjs';
import { titleOf } from '../support/pages.mjs';

const NAMES = ['github', 'linkedin', 'microsoft-entra', 'meta'];

let fixture;

before(async () => {
	fixture = await openFixture({ name: 'oauth-return', own: true });
	await configure(fixture.stack, ({ providers }) => {
		for (const name of NAMES) {
			providers[name] = { kind: 'oauth', description: fileURLToPath(new URL(`../../lib/providers/${name}.json`, import.meta.url)) };
		}
	});
});

after(() => fixture?.close());

/** @param {string} query as the provider writes it, behind the state */
async function returned(provider, query, browser = fixture.browser()) {
	const flow = await goOn(fixture.urlmode, browser, { provider });
	const page = await browser.open(`${flow.returnTo({})}${query}`);
	return { flow, page };
}

for (const [provider, query, title, state, result] of [
	['linkedin', '&error=user_cancelled_login&error_description=x', 'Declined', ['completed', 'decline', 'access_denied'],
		{ error: 'user_cancelled_login', error_description: 'x' }],
	['microsoft-entra', '&error=consent_required&error_subcode=cancel', 'Declined', ['completed', 'decline', 'access_denied'],
		{ error: 'consent_required', error_subcode: 'cancel' }],
	['meta', '&error_code=1349126&error_message=App+not+set+up', 'That did not work', ['completed', 'cancel', 'provider_error'],
		{ error_code: '1349126', error_message: 'App not set up' }],
	['meta', '&error_code=200&error_message=refus%E9', 'That did not work', ['completed', 'cancel', 'provider_error'],
		{ error_code: '200', error_message: 'refus?' }],
	['linkedin', '&error=user_cancelled_authorize', 'Declined', ['completed', 'decline', 'access_denied'], { error: 'user_cancelled_authorize' }],
	['github', '&error=server_error&error_description=access_denied', 'That did not work', ['completed', 'cancel', 'provider_error'],
		{ error: 'server_error', error_description: 'access_denied' }],
	['github', '&error=access_denied&error_description=refus%E9', 'Declined', ['completed', 'decline', 'access_denied'],
		{ error: 'access_denied', error_description: 'refus?' }],
	['github', '&hint=1&hint=2', 'That did not work', ['completed', 'cancel', 'provider_error'], {}],
]) {
	test(`${provider}: ${query}`, async () => {
		const { flow, page } = await returned(provider, query);
		assert.equal(titleOf(page), title);
		assert.deepEqual(await fixture.state(flow), state);
		assert.deepEqual((await fixture.urlmode.waitForCompletion(flow.id, flow.owner)).result, result);
	});
}

test('a code beside an error of the provider changes nothing', async () => {
	const browser = fixture.browser();
	const flow = await goOn(fixture.urlmode, browser, { provider: 'meta' });
	const hop = await comeBack(browser, flow.returnTo({ code: 'c', error_code: '200' }));
	assert.equal(hop.status, 400);
	assert.deepEqual(await fixture.state(flow), ['opened', null, '']);
});

test('somebody else decides: it is processing, its link opens again, and a later code completes it', async () => {
	const browser = fixture.browser();
	const { flow, page } = await returned('github', '&setup_action=request', browser);
	assert.equal(titleOf(page), 'Somebody else has to agree');
	assert.deepEqual(await fixture.state(flow), ['processing', null, '']);
	assert.equal(titleOf(await browser.open(`${flow.returnTo({})}&setup_action=request`)), 'Somebody else has to agree');
	assert.deepEqual((await fixture.events(flow)).map(({ action }) => action), ['processing']);

	assert.equal(titleOf(await browser.open(flow.url)), 'Do you want to continue?');
	assert.equal(titleOf(await browser.open(String(flow.returnTo({ code: 'c' })))), 'You can go back');
	assert.deepEqual(await fixture.state(flow), ['completed', 'accept', '']);
});

test('it is processing, and the user goes on from its link', async () => {
	const browser = fixture.browser();
	const { flow } = await returned('github', '&setup_action=request', browser);
	const [{ action, fields }] = (await browser.open(flow.url)).forms;
	const hop = await browser.send({ url: new URL(action, flow.url), method: 'POST',
		body: new URLSearchParams([...fields, ['answer', 'continue']]).toString(), from: await browser.open(flow.url) });
	assert.equal(hop.status, 303);
	assert.deepEqual(await fixture.state(flow), ['opened', null, '']);
});

test('an admin has agreed: it stays open, and the page leads to /connect', async () => {
	const browser = fixture.browser();
	const { flow, page } = await returned('microsoft-entra', '&admin_consent=True&tenant=t', browser);
	assert.equal(titleOf(page), 'Your organization has agreed');
	assert.deepEqual(await fixture.state(flow), ['opened', null, '']);
	const [, href] = page.body.match(/<a href="([^"]+)">Continue<\/a>/);
	const way = new URL(href.replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code))), page.url);
	assert.equal(way.pathname, '/connect/microsoft-entra');
	assert.equal(titleOf(await browser.open(way.href)), 'Do you want to continue?');
});

test('a posted answer of 16 KB comes again by GET, in which the cookie comes along', async () => {
	const browser = fixture.browser();
	const flow = await goOn(fixture.urlmode, browser, { provider: 'github' });
	const fields = { state: flow.state, code: 'c'.repeat(12_000), extra: '' };
	const body = String(new URLSearchParams({ ...fields, extra: 'é'.repeat((16_384 - String(new URLSearchParams(fields)).length) / 6) }));
	const hop = await browser.send({ url: new URL(flow.returnUrl), method: 'POST', body, from: PROVIDER_PAGE });
	assert.equal(hop.status, 303);
	assert.equal(titleOf(await browser.open(new URL(hop.location, flow.returnUrl).href)), 'You can go back');
	assert.equal((await fixture.urlmode.waitForCompletion(flow.id, flow.owner)).result.code, fields.code);
});
