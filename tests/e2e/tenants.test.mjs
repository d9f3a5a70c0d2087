// Tenants: no route of the api tells one that another's row exists, and a provider may name those that may use it. Elicitations
// of several tenants come from the api, whose keys have a tenant each.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';

import { parseKeys } from '../../lib/node/src/core/keys.js';
import { bindingOf, browserOf, mintState } from '../../lib/node/src/core/token.js';
import { startApi } from '../support/api.mjs';
import { Browser } from '../support/browser.mjs';
import { sender } from '../support/deliveries.mjs';
import { press } from '../support/flow.mjs';
import { configure } from '../security/deployment.mjs';

const FORM = { title: 'Name', fields: [{ name: 'a', label: 'A', type: 'text' }] };
const ASKED = {
	demo: { provider: 'demo', kind: 'oauth', target_url: 'https://provider.example/authorize' },
	stripe: { provider: 'stripe', kind: 'payment', item: 'report', expected: { amount: 1_050, currency: 'EUR' }, target_url: 'https://checkout.stripe.com/c/pay' },
	intake: { provider: 'intake', kind: 'input', form: FORM },
};

let api;
let keys;

before(async () => {
	api = await startApi('tenants');
	keys = { acme: await api.as('acme', 'acme'), shop: await api.as('shop', 'shop'), none: api };
});

after(() => api?.close());

const allow = (tenants) => configure(api.stack, ({ providers }) => {
	for (const name of Object.keys(ASKED)) {
		if (tenants === undefined) delete providers[name].tenants;
		else providers[name].tenants = name === 'stripe' ? tenants.slice(0, 1) : tenants;
	}
});

/** What a browser with a new link of this tenant gets: a page to go on, or the reason code and that the row stays as it is. */
async function follow(tenant, name) {
	const { id, url } = await keys[tenant].ok('create', { ...ASKED[name], subject: `${tenant}-${name}-${Math.random()}` }, 201);
	const browser = new Browser();
	const page = await browser.open(url);
	if (page.status === 200) {
		if (name !== 'intake') assert.ok((await press(browser, page, 'continue')).location, 'it goes on');
		return 'goes on';
	}
	assert.equal((await api.stack.elicitation(id)).status, 'pending');
	return `${page.status} ${/\bwrong_\w+/.exec(page.text)}`;
}

const all = async (tenant) => Promise.all(Object.keys(ASKED).map((name) => follow(tenant, name)));

test('a provider without tenants is for all, and with them for these alone', async () => {
	const [yes, no] = ['goes on', '404 wrong_tenant'];
	assert.deepEqual([await all('acme'), await all('none')], [[yes, yes, yes], [yes, yes, yes]]);
	await allow(['acme']);
	assert.deepEqual([await all('acme'), await all('shop'), await all('none')], [[yes, yes, yes], [no, no, no], [no, no, no]]);
	await allow(['-', 'shop']);
	assert.deepEqual([await all('acme'), await all('shop'), await all('none')], [[no, no, no], [yes, no, yes], [yes, yes, yes]]);
	await allow(undefined);
	assert.deepEqual(await all('shop'), [yes, yes, yes]);
});

test('no other tenant makes a payment of an entry that names one its own', async () => {
	await allow(['acme']);
	const stripe = sender({ stack: api.stack, url: (where) => new URL(where, api.stack.baseUrl) }, 'stripe');
	const price = { amount: 1_050, currency: 'EUR' };
	const [mine, theirs] = await Promise.all([keys.acme, keys.shop].map((as) => as.ok('create', { ...ASKED.stripe, subject: 'eve', checkout: 'cs_1' }, 201)));
	const accept = { subject: 'eve', action: 'accept', ...price };
	// Before acme's event has come; and what nobody has is refused in the same words.
	for (const reference of ['cs_1', 'pi_nobody']) {
		assert.deepEqual(await keys.shop.error('complete', { ...accept, id: theirs.id, reference }), [409, 'reference_taken']);
	}
	const send = async (id, what, more) => assert.equal((await stripe.send(stripe.event(id, what, { ...price, ...more }))).status, 200);
	await send(theirs.id, 'paid', { reference: 'cs_1' });
	await send(mine.id, 'paid', { reference: 'cs_1' });
	assert.deepEqual([(await api.stack.elicitation(theirs.id)).status, (await api.stack.elicitation(mine.id)).action], ['pending', 'accept']);
	assert.deepEqual((await keys.shop.ok('unclaimed', {})).items, []);
	assert.deepEqual((await keys.acme.ok('unclaimed', {})).items.map(({ reference }) => reference), ['cs_1']);
	await allow(undefined);
	await keys.shop.ok('complete', { ...accept, id: theirs.id, reference: 'pi_theirs' });
});

/** Of each method that names a row, what it takes beside id and subject, in each of its ways. */
const OF_A_ROW = {
	complete: [{ action: 'cancel' }], cancel: [{}], abandon: [{}], claim: [{}], begin_claim: [{ lease_ms: 1_000 }, { lease_ms: 1_000, fence: 1 }], renew_claim: [{ fence: 1, lease_ms: 1_000 }],
	fulfil_claim: [{ fence: 1, end: 'delivered' }, { fence: 1, result: 'x' }, {}], confirm_claim: [{ fence: 1 }], release_claim: [{ fence: 1 }, { reason: 'access_denied' }],
	begin_ask: [{ client: {} }, { client: { name: 'x' }, awaited: true }], end_ask: [{ client: {}, answer: 'declined' }],
	end_check: [{ lease: '1' }, { lease: '1', failed: true }, { lease: '1', problem: { field: 'a', problem: 'It is wrong.' } }],
	end_recheck: [
		{ lease: '1-1' }, { lease: '1-1', failed: true }, { lease: '1-1', payments: [] },
		{ lease: '1-1', payments: [{ reference: 'pi_x', amount: 1_050, currency: 'EUR', status: 'paid' }] },
	],
};
/** Of each list, its filters. */
const LISTS = { unclaimed: {}, refunds: {}, ledger: { consumer: 'books' }, entitlements: { subject: 'ada' }, paid: { subject: 'ada', item: 'report' } };

test('each method answers another tenant as for a row that does not exist, and no list has it', async () => {
	const methods = [...readFileSync(new URL('../../cgi-bin/api.c', import.meta.url), 'utf8').matchAll(/\.prefix = "\/v1\/(\w+)"/g)].map(([, name]) => name);
	assert.deepEqual([...Object.keys(OF_A_ROW), ...Object.keys(LISTS), 'create', 'wait'].sort(), methods.sort());
	const { acme, shop } = keys;
	const asked = { ...ASKED.stripe, subject: 'ada' };
	const { id: paid } = await acme.ok('create', asked, 201);
	await acme.ok('complete', { id: paid, subject: 'ada', action: 'accept', amount: 1_050, currency: 'EUR', reference: 'pi_acme' });
	const { id: open } = await acme.ok('create', { ...ASKED.demo, subject: 'ada' }, 201);
	const { id: form } = await acme.ok('create', { ...ASKED.intake, subject: 'ada', verify_ms: 5_000 }, 201);

	const told = async (method, id, more) => {
		const { status, body } = await shop.call(method, { id, subject: 'ada', ...more });
		return JSON.stringify([status, body]).replaceAll(id, 'ID');
	};
	for (const [method, ways] of Object.entries(OF_A_ROW)) {
		for (const more of ways) {
			assert.deepEqual(await shop.error(method, { id: randomUUID(), subject: 'ada', ...more }), [404, 'not_found'], `${method} ${JSON.stringify(more)}`);
			const nothing = await told(method, randomUUID(), more);
			for (const id of [paid, open, form]) assert.equal(await told(method, id, more), nothing, method);
			// Nor is it another user's of the same tenant.
			assert.deepEqual(await acme.error(method, { id: paid, subject: 'eve', ...more }), [404, 'not_found'], method);
		}
	}
	const { elicitations } = await shop.ok('wait', { of: [paid, open, form].map((id) => ({ id, subject: 'ada' })), for_ms: 0 });
	const byId = (rows) => rows.toSorted((one, other) => one.id.localeCompare(other.id));
	assert.deepEqual(byId(elicitations), byId([paid, open, form].map((id) => ({ id, error: 'not_found' }))));
	for (const [method, more] of Object.entries(LISTS)) {
		const answer = JSON.stringify(await shop.ok(method, more));
		assert.doesNotMatch(answer, new RegExp(`${paid}|pi_acme|"paid":true`), method);
	}
	assert.match(JSON.stringify(await acme.ok('unclaimed', {})), /pi_acme/, 'whose it is has it');
	assert.equal((await acme.ok('paid', LISTS.paid)).paid, true);
	// The same thing of the same user is another one.
	const other = await shop.ok('create', asked, 201);
	assert.deepEqual([other.resumed, other.id === paid], [false, false]);
	assert.deepEqual([(await api.stack.elicitation(open)).status, (await api.stack.elicitation(form)).status], ['pending', 'pending']);
});

/** Each route that takes a state, and what a browser sends. That of a form is opened by a link alone, which names no owner. */
const ROUTES = [
	...['demo', 'stripe'].map((name) => ({ route: `/connect/${name}`, name, purpose: 'connect' })),
	...['demo', 'stripe'].map((name) => ({ route: `/connect/${name}`, name, purpose: 'connect', fields: { answer: 'continue' } })),
	...['demo', 'stripe'].map((name) => ({ route: `/connect/${name}`, name, purpose: 'connect', fields: { answer: 'refuse' } })),
	{ route: '/oauth/demo/return', name: 'demo', purpose: 'return', query: { code: 'c' }, fromIssuer: true },
	{ route: '/payment/stripe/return', name: 'stripe', purpose: 'return' },
	{ route: '/payment/stripe/cancel', name: 'stripe', purpose: 'cancel' },
	{ route: '/form/intake', name: 'intake', purpose: 'form' },
];

test('each route answers a state of another tenant as that of a row that does not exist', async () => {
	const file = api.stack.env.URLMODE_KEYS_FILE;
	const ring = parseKeys(readFileSync(file, 'latin1'), file);
	const cookie = 'A'.repeat(22);
	const ask = async ({ route, name, purpose, query, fromIssuer, fields }, id, tenant) => {
		const state = mintState(ring, purpose, name, { id, expires: Math.ceil(Date.now() / 1_000) + 600, binding: bindingOf('ada', '', tenant), browser: browserOf(cookie) });
		const url = new URL(route, api.stack.baseUrl);
		const headers = { cookie: `__Host-urlmode=${cookie}` };
		const form = fields && { method: 'POST', body: new URLSearchParams({ state, ...fields }) };
		url.search = form ? '' : new URLSearchParams({ state, ...query, ...fromIssuer && { iss: api.stack.env.URLMODE_DEMO_ISSUER } });
		const answer = await fetch(url, { redirect: 'manual', headers: form ? { ...headers, origin: url.origin, 'sec-fetch-site': 'same-origin' } : headers, ...form });
		const text = await answer.text();
		return [answer.status, answer.headers.get('location'), text].join('\n').replaceAll(state, 'STATE').replaceAll(id, 'ID').replaceAll(/\b[0-9a-f]{32}\b/g, 'REQUEST');
	};
	for (const route of ROUTES) {
		const { id } = await keys.acme.ok('create', { ...ASKED[route.name], item: route.name === 'stripe' ? randomUUID() : undefined, subject: 'ada' }, 201);
		const nothing = await ask(route, randomUUID(), 'shop');
		assert.equal(await ask(route, id, 'shop'), nothing, JSON.stringify(route));
		assert.equal((await api.stack.elicitation(id)).status, 'pending');
		assert.notEqual(await ask(route, id, 'acme'), nothing, `whose it is sees it: ${JSON.stringify(route)}`);
	}
});
