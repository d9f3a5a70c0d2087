// session-ticket: the MCP server's own web session says who the user is, in a
// cookie that only the keys file's owner can make.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';

import { Key, keyRing, parseKeys } from '../../lib/node/src/core/keys.js';
import { mintTicket } from '../../lib/node/src/core/ticket.js';
import { request } from '../support/http.mjs';
import { assertPlainPage, assertSecurityHeaders } from '../support/pages.mjs';
import { openFixture } from '../support/fixture.mjs';
import { withByte } from '../support/tokens.mjs';
import { configure } from './deployment.mjs';

const ADA = 'ada@example.org';
const MALLORY = 'mallory';
const COOKIE = '__Host-urlmode-ticket';

let fixture;
let keys;

before(async () => {
	fixture = await openFixture({ name: 'tickets', own: true });
	const file = fixture.stack.env.URLMODE_KEYS_FILE;
	keys = parseKeys(readFileSync(file, 'latin1'), file);
	await configure(fixture.stack, (config) => {
		config.user_check = 'session-ticket';
	});
});

after(() => fixture?.close());

const inSeconds = (seconds) => Math.floor(Date.now() / 1_000) + seconds;
const ticket = (subject, { expires = inSeconds(300), ring = keys } = {}) => mintTicket(ring, subject, expires);
const open = ({ url }, value, more = '') => request(url, { headers: { Cookie: `${COOKIE}=${value}${more}` } });

async function assertRefused(elicitation, send, [status, reason]) {
	const untouched = await fixture.row(elicitation.id);
	const answer = await send(elicitation);

	assert.deepEqual([answer.status, answer.reason], [status, reason]);
	assertPlainPage(answer);
	assertSecurityHeaders(answer);
	assert.equal(await fixture.row(elicitation.id), untouched, 'the row is as it was');
}

const SIGN_IN = [403, 'sign_in_required'];
const WRONG_USER = [403, 'wrong_user'];

test('the subject goes on at once, comes back, and it is done', async () => {
	const browser = fixture.browser();
	const elicitation = await fixture.create({ subject: ADA });
	const { name, value, header } = fixture.urlmode.ticket({ subject: ADA });
	browser.jar.store(header, new URL(fixture.url('/')));
	assert.match(browser.jar.header(new URL(fixture.url('/'))), new RegExp(`${name}=${value}`));

	const hop = await browser.send({ url: new URL(elicitation.url) });
	assert.equal(hop.status, 303);
	const state = new URL(hop.location).searchParams.get('state');
	const back = new URL(elicitation.returnUrl);
	back.search = new URLSearchParams({ code: 'a-code', iss: fixture.stack.env.URLMODE_DEMO_ISSUER, state });
	assert.equal((await browser.send({ url: back })).location, '/done');
	assert.equal((await fixture.urlmode.waitForCompletion(elicitation.id, elicitation.owner)).action, 'accept');
});

describe('refused at /connect, with the row untouched', () => {
	for (const [name, send, expected = SIGN_IN] of [
		['no cookie', ({ url }) => request(url)],
		['an empty ticket', (e) => open(e, '')],
		['an expired ticket', (e) => open(e, ticket(ADA, { expires: inSeconds(-1) }))],
		['a ticket that has expired this second', (e) => open(e, ticket(ADA, { expires: inSeconds(0) }))],
		['a ticket of another key with the same number', (e) => open(e, ticket(ADA, {
			ring: keyRing([new Key(keys.minting.kid, Buffer.alloc(32, 7))]) }))],
		['a ticket of a key that is not in the file', (e) => open(e, ticket(ADA, {
			ring: keyRing([new Key(keys.minting.kid + 1, Buffer.alloc(32, 7))]) }))],
		['a changed version', (e) => open(e, withByte(ticket(ADA), 0, () => 2))],
		['a changed nonce', (e) => open(e, withByte(ticket(ADA), 5, (byte) => byte ^ 1))],
		['a changed subject', (e) => open(e, withByte(ticket(ADA), 24, (byte) => byte ^ 1))],
		['a changed expiry', (e) => open(e, withByte(ticket(ADA, { expires: inSeconds(-1) }), 18, (byte) => byte ^ 1))],
		['a ticket that is cut short', (e) => open(e, ticket(ADA).slice(0, -1))],
		['the plain name', (e) => open(e, ADA)],
		['the name in base64', (e) => open(e, Buffer.from(ADA).toString('base64url'))],
		['the state of the link', (e) => open(e, new URL(e.url).searchParams.get('state'))],
		['the ticket twice', (e) => open(e, ticket(ADA), `; ${COOKIE}=${ticket(ADA)}`)],
		['the ticket under another name', ({ url }) => request(url, { headers: { Cookie: `urlmode-ticket=${ticket(ADA)}` } })],
		['the ticket in the query', ({ url }) => request(`${url}&ticket=${ticket(ADA)}`)],
		['the ticket in a header of that name', ({ url }) => request(url, { headers: { 'X-Urlmode-Ticket': ticket(ADA) } })],
		['a name from the web server instead', ({ url }) => request(url, { headers: { 'Remote-User': ADA } })],
		['a ticket of somebody else', (e) => open(e, ticket(MALLORY)), WRONG_USER],
		['a ticket of nearly the same name', (e) => open(e, ticket(`${ADA}x`)), WRONG_USER],
	]) {
		test(name, async () => assertRefused(await fixture.create({ subject: ADA }), send, expected));
	}
});

describe('refused at the return, with the row untouched', () => {
	for (const [name, value, expected] of [
		['no ticket', () => undefined, SIGN_IN],
		['an expired ticket', () => ticket(ADA, { expires: inSeconds(-1) }), SIGN_IN],
		['a ticket of somebody else', () => ticket(MALLORY), WRONG_USER],
	]) {
		test(name, async () => {
			const elicitation = await fixture.create({ subject: ADA });
			const went = await open(elicitation, ticket(ADA));
			const state = new URL(went.location).searchParams.get('state');
			const browser = went.headers['set-cookie'][0].split(';')[0];
			const query = new URLSearchParams({ code: 'c', iss: fixture.stack.env.URLMODE_DEMO_ISSUER, state });
			const send = (given) => request(`${elicitation.returnUrl}?${query}`, {
				headers: { Cookie: [browser, given && `${COOKIE}=${given}`].filter(Boolean).join('; ') },
			});

			await assertRefused(elicitation, () => send(value()), expected);
			const events = await fixture.stack.sql('SELECT type FROM urlmode.event WHERE elicitation = $1', [elicitation.id]);
			assert.deepEqual(events, expected === WRONG_USER ? [{ type: 'wrong_user' }] : []);
			assert.equal((await send(ticket(ADA))).location, '/done', 'the subject still can');
		});
	}
});

test('a ticket is not a state', async () => {
	const { id } = await fixture.create({ subject: ADA });
	const untouched = await fixture.row(id);
	const answer = await request(`${fixture.url('/connect/demo')}?state=${ticket('x'.repeat(48))}`, {
		headers: { Cookie: `${COOKIE}=${ticket(ADA)}` },
	});
	assert.deepEqual([answer.status, answer.reason], [400, 'state_invalid']);
	assert.equal(await fixture.row(id), untouched);
});

test('nothing of a ticket is in a log', async () => {
	const value = ticket('somebody-who-is-not-logged@example.org');
	const elicitation = await fixture.create({ subject: ADA });
	await open(elicitation, value);
	for (const [name, text] of await fixture.stack.logs()) {
		assert.ok(!text.includes(value) && !text.includes('somebody-who-is-not-logged'), name);
	}
});
