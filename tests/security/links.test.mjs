// The contents of a link and a state, as seen by those who can read them: an MCP client, a
// model, a provider, a history, a log.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';

import { parseKeys } from '../../lib/node/src/core/keys.js';
import { openLink } from '../../lib/node/src/core/link.js';
import { request } from '../support/http.mjs';
import { stateOf } from '../support/flow.mjs';
import { openFixture } from '../support/fixture.mjs';

const OWNER = { subject: 'ada.lovelace@example.org', session: 'session-of-ada-0123456789' };
const TARGET = 'https://provider.example/authorize?client_id=client-of-ours&login_hint=ada.lovelace%40example.org';

let fixture;

before(async () => {
	fixture = await openFixture({ name: 'links' });
});

after(() => fixture?.close());

const confirmState = ({ document }) => document.forms[0].fields.find(([name]) => name === 'state')[1];

test('a link holds nothing of the user, the session, the target or the provider’s parameters', async () => {
	const { url } = await fixture.create({ ...OWNER, targetUrl: TARGET, pkce: true });
	const { origin, pathname, searchParams } = new URL(url);

	assert.equal(origin + pathname, fixture.url('/connect/demo'));
	assert.deepEqual([...searchParams.keys()], ['state']);
	const bytes = Buffer.from(stateOf(url), 'base64url').toString('latin1');
	for (const secret of ['ada', 'lovelace', 'example.org', OWNER.session, 'client-of-ours', 'provider.example']) {
		assert.ok(!url.includes(secret) && !bytes.includes(secret), secret);
	}
});

test('opened, a link is an id, the number of a key and a proof, and nothing else', async () => {
	const file = fixture.stack.env.URLMODE_KEYS_FILE;
	const keys = parseKeys(readFileSync(file, 'latin1'), file);
	const { url, id } = await fixture.create({ ...OWNER, targetUrl: TARGET });
	assert.deepEqual(openLink(keys, 'demo', stateOf(url)), { id, kid: keys.minting.kid });
	assert.equal(Buffer.from(stateOf(url), 'base64url').length, 2 + 16 + 14);
});

test('a link alone opens nothing and shows nothing of what came back', async () => {
	const elicitation = await fixture.create(OWNER);
	const untouched = await fixture.row(elicitation.id);
	const page = await request(elicitation.url);

	assert.equal(page.status, 200);
	assert.equal(page.location, undefined);
	assert.equal(await fixture.row(elicitation.id), untouched);
	const posted = await request(elicitation.url.replace(/\?.*/, ''), {
		method: 'POST', body: `state=${stateOf(elicitation.url)}&answer=continue`, headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
	});
	assert.deepEqual([posted.status, posted.reason], [403, 'wrong_browser']);
	assert.equal(await fixture.row(elicitation.id), untouched);
});

test('no two states have the same nonce, whoever mints them', async () => {
	const { url } = await fixture.create(OWNER);
	const pages = await Promise.all(Array.from({ length: 200 }, async () => confirmState(await request(url))));
	const nonces = pages.map((state) => Buffer.from(state, 'base64url').subarray(2, 14).toString('hex'));
	assert.equal(new Set(nonces).size, 200);
});

test('the state that goes to the provider is another one, for this browser and this provider alone', async () => {
	const browser = fixture.browser();
	const flow = await fixture.goOn(browser, OWNER);
	assert.notEqual(flow.state, stateOf(flow.url));
	const cookie = browser.jar.header(new URL(fixture.url('/')));

	for (const [path, headers, reason] of [
		['/oauth/demo/return', {}, 'wrong_browser'],
		['/oauth/github/return', { Cookie: cookie }, 'state_invalid'],
		['/connect/demo', { Cookie: cookie }, 'state_invalid'],
	]) {
		const answer = await request(`${fixture.url(path)}?code=c&state=${flow.state}`, { headers });
		assert.equal(answer.reason, reason, path);
	}
});
