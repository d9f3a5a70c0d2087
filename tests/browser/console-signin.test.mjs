// Operators sign in at a real OpenID provider (oidc-provider, which is certified), in a real
// browser: there and back, again for what acts, and as somebody who is no operator.

import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';

import { SIGN_IN_CLIENT_ID, startProvider } from '../demo/provider.mjs';
import { Console, hold } from '../support/console.mjs';
import { openFixture } from '../support/fixture.mjs';
import { until } from '../support/wait.mjs';
import { startChromium } from './chromium.mjs';

const ADA = 'ada@example.org';
const GRACE = 'grace@example.org';

let fixture;
let chromium;
let site;
let provider;

before(async () => {
	fixture = await openFixture({ name: 'console-signin', own: true, env: { CONSOLE: '1' } });
	chromium = fixture.closeAtEnd(await startChromium());
	site = new Console(fixture.stack);
	provider = await useProvider();
});

after(() => fixture?.close());

/** Operators sign in at this provider from now on. */
async function useProvider() {
	const one = fixture.closeAtEnd(await startProvider({ redirectUris: [site.url], signInUri: `${site.url}/console/signin` }));
	const file = fixture.stack.env.URLMODE_CONSOLE_CONFIG;
	const keys = `${fixture.stack.runDir}/console-jwks.json`;
	await writeFile(keys, await (await fetch(`${one.issuer}/jwks`)).text(), { mode: 0o644 });
	await writeFile(file, JSON.stringify({ ...JSON.parse(await readFile(file, 'utf8')), user_check: 'openid', console: { operators: [ADA, GRACE] },
		openid: { issuer: one.issuer, client_id: SIGN_IN_CLIENT_ID, authorization_endpoint: `${one.issuer}/auth`, jwks_file: keys, scope: 'openid email', claim: 'email' } }));
	await fixture.stack.service('restart', 'console');
	await until('the console asks to sign in', async () => (await fetch(`${site.url}/console/`, { redirect: 'manual' })).status === 303);
	return one;
}

const person = async () => fixture.closeAtEnd(await chromium.person());
const reason = (tab) => tab.locator('footer code').first().textContent();
const decisions = (of) => fixture.stack.sql('SELECT decision, decided_by, note FROM urlmode.decision WHERE reference = $1', [of.reference]);

/** At the provider; the end of it is a page of the console, or a refusal at the address of the provider's answer. */
async function signIn(tab, name, isRefused = false) {
	await tab.waitForURL((url) => url.origin === provider.issuer && url.pathname.startsWith('/interaction/'));
	await tab.fill('input[name=name]', name);
	await tab.click('button[value=sign-in]');
	await tab.waitForURL((url) => url.origin === site.url && (url.pathname === '/console/signin') === isRefused);
}

async function decide(tab, note) {
	await tab.fill('textarea', note);
	await tab.click('button.main');
	await tab.waitForURL(/done=/);
}

test('an operator signs in once for what shows, and once more for what acts', async () => {
	const [one, other] = [await hold(fixture), await hold(fixture)];
	const ada = await person();
	const tab = await ada.tab();
	await tab.goto(`${site.url}/console/elicitation?id=${one.id}`);
	await signIn(tab, ADA);
	assert.equal(new URL(tab.url()).searchParams.get('id'), one.id, 'where she wanted to go');
	assert.match(await tab.textContent('footer'), new RegExp(ADA));
	await tab.goto(`${site.url}/console/list?what=held`);
	assert.equal(new URL(tab.url()).pathname, '/console/list', 'the session is there');

	await tab.goto(`${site.url}/console/elicitation?id=${one.id}`);
	await tab.click('a[href*="action=release"]');
	await signIn(tab, ADA);
	assert.equal(new URL(tab.url()).pathname, '/console/act');
	await decide(tab, 'she called');
	assert.deepEqual(await decisions(one), [{ decision: 'released', decided_by: ADA, note: 'she called' }]);

	// Within ten minutes of it: not again.
	await tab.goto(`${site.url}/console/elicitation?id=${other.id}`);
	await tab.click('a[href*="action=void"]');
	await decide(tab, 'a stolen card');
	assert.deepEqual(await decisions(other), [{ decision: 'voided', decided_by: ADA, note: 'a stolen card' }]);
	assert.deepEqual(ada.problems, []);
});

test('whoever signs in for what acts is who has decided', async () => {
	const of = await hold(fixture);
	const tab = await (await person()).tab();
	await tab.goto(`${site.url}/console/elicitation?id=${of.id}`);
	await signIn(tab, ADA);
	// Nobody is signed in at the provider any more.
	await tab.context().clearCookies({ domain: 'localhost' });
	await tab.click('a[href*="action=release"]');
	await signIn(tab, GRACE);
	await decide(tab, 'for ada');
	assert.deepEqual(await decisions(of), [{ decision: 'released', decided_by: GRACE, note: 'for ada' }]);
});

test('somebody else is refused, and an operator can sign in from there', async () => {
	const eve = await person();
	const tab = await eve.tab();
	await tab.goto(`${site.url}/console/`);
	await signIn(tab, 'eve@example.org', true);
	assert.equal(await reason(tab), 'not_operator');
	const text = await tab.content();
	for (const name of ['ada', 'grace']) assert.ok(!text.includes(name), name);
	assert.match(await tab.textContent('main'), /You are signed in as eve@example\.org\. Sign in as somebody else/);
	await tab.goto(`${site.url}/console/`);
	await tab.waitForURL((url) => url.origin === site.url && url.pathname === '/console/signin');
	assert.equal(await reason(tab), 'not_operator', 'the provider knows her: she has no session here');
	// This provider lets nobody choose an account; the second time, the console asks it for a sign-in.
	await tab.click('a[href*="signin"]');
	await tab.waitForURL(`${site.url}/console/signin`);
	assert.equal(await reason(tab), 'sign_in_refused');
	await tab.click('a');
	await tab.waitForURL(`${site.url}/console/signin`);
	await tab.context().clearCookies({ domain: 'localhost' });
	await tab.click('a[href*="signin"]');
	await signIn(tab, GRACE);
	assert.equal(await tab.textContent('h1'), 'Overview');
});

test('a session ends with its issuer, also where the next one has the same names', async () => {
	const tab = await (await person()).tab();
	await tab.goto(`${site.url}/console/`);
	await signIn(tab, ADA);
	assert.equal(await tab.textContent('h1'), 'Overview');
	provider = await useProvider();
	await tab.goto(`${site.url}/console/`);
	assert.equal(new URL(tab.url()).origin, provider.issuer);
	await signIn(tab, ADA);
	assert.equal(await tab.textContent('h1'), 'Overview');
});
