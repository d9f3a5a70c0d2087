// PostgreSQL away, frozen or restarted: nothing is consumed, what needs no
// database is answered as ever, and everything goes on when it is back.

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';

import { comeBack, press } from '../support/flow.mjs';
import { request } from '../support/http.mjs';
import { assertPlainPage, assertSecurityHeaders } from '../support/pages.mjs';
import { familyOf } from '../support/processes.mjs';
import { openFixture } from '../support/fixture.mjs';
import { Tokens } from '../support/tokens.mjs';
import { until } from '../support/wait.mjs';

const PROGRAMS = ['connect', 'oauth-return', 'status'];

let fixture;
let tokens;

before(async () => {
	fixture = await openFixture({ name: 'outage', own: true });
	tokens = new Tokens(fixture.stack);
});

after(() => fixture?.close());

const programs = () => Promise.all(PROGRAMS.map((name) => fixture.stack.program(name)));

function waitFor({ id, owner }) {
	const outcome = fixture.urlmode.waitForCompletion(id, owner);
	outcome.catch(() => {}); // heard of where it is awaited
	return outcome;
}

const health = async () => (await request(fixture.url('/healthz'))).status;

function assertUnavailable(hop, { again } = {}) {
	assert.equal(hop.status, 503);
	assert.equal(hop.headers['retry-after'], '3');
	assert.equal(hop.headers.refresh, again === undefined ? '3' : `3; url=${again}`);
	assert.match(hop.body, /This page will reload by itself/);
	assert.match(hop.body, /<code>unavailable<\/code>/);
	assertSecurityHeaders(hop);
}

/** What a browser does with a Refresh header. */
function refresh(browser, { url, headers }) {
	const [, again] = headers.refresh.split('; url=');
	return browser.send({ url: new URL(again ?? url, url) });
}

/** Requests that a program refuses without its database: the answer must not wait for it. */
async function assertForgedAreRefused(flow) {
	const forged = 'A'.repeat(115);
	const cookie = flow.browser.jar.header(new URL(flow.returnUrl));

	for (const [url, status] of [
		[fixture.url(`/connect/demo?state=${forged}`), 400],
		[fixture.url(`/connect/demo?state=${tokens.mint(flow, { purpose: 'connect', expires: 1 })}`), 410],
		[`${flow.returnUrl}?code=c&state=${forged}`, 400],
		[`${flow.returnUrl}?code=c&iss=wrong&state=${flow.state}`, 400],
		[fixture.url('/connect/nobody'), 404],
		[fixture.url('/%68ealthz'), 404],
		[fixture.url('/done'), 200],
	]) {
		// What waits for the database is answered after three seconds at the earliest (UM_STORE_WAIT_MS).
		const answer = await request(url, { headers: { Cookie: cookie }, timeout: 2_500 });
		assert.equal(answer.status, status);
		if (status !== 200) {
			assertPlainPage(answer);
		}
	}
}

let pending;  // nobody has opened it
let flow;     // the browser is at the provider
let posted;   // the same, and the provider will use form_post
let refusal;  // its confirm page is open
let untouched;

beforeEach(async () => {
	const browser = fixture.browser();
	pending = { browser, ...await fixture.create() };
	flow = { browser, ...await fixture.goOn(browser) };
	posted = { browser, ...await fixture.goOn(browser) };
	refusal = { browser, ...await fixture.create() };
	refusal.page = await browser.open(refusal.url);
	untouched = await rows();
});

const rows = () => Promise.all([pending, flow, posted, refusal].map(({ id }) => fixture.row(id)));

/** Every kind of request that needs the database, while it is away. Answers the 503s. */
async function askInVain() {
	const { browser } = flow;
	const [link, button, back, post] = await Promise.all([
		browser.send({ url: new URL(pending.url) }),
		press(browser, refusal.page, 'refuse'),
		comeBack(browser, flow.returnTo({ code: 'by GET' })),
		browser.send({
			url: new URL(posted.returnUrl),
			method: 'POST',
			body: new URLSearchParams(posted.parameters({ code: 'by POST' })).toString(),
		}),
	]);
	const state = new URLSearchParams(button.headers.refresh.split('?')[1]).get('state');

	assertUnavailable(link);
	assertUnavailable(button, { again: `/connect/demo?state=${state}` });
	assertUnavailable(back);
	assertUnavailable(post, { again: `${new URL(posted.returnTo({ code: 'by POST' })).pathname}?${
		new URLSearchParams(posted.parameters({ code: 'by POST' })).toString().replaceAll('+', '%20')}` });
	for (const hop of [link, back]) {
		assert.ok(!hop.body.includes('state='), 'what the address holds is not on the page');
	}
	return { link, button, back, post };
}

describe('PostgreSQL is stopped and started again', () => {
	test('503 and a page that tries again; the same request completes; the program is the same', async () => {
		const before = await programs();
		const wait = waitFor(flow);
		assert.equal(await health(), 200);

		await fixture.stack.service('stop', 'postgres');
		const inVain = await askInVain();
		assert.equal(await health(), 503);
		await assertForgedAreRefused(flow);
		await fixture.stack.service('start', 'postgres');
		assert.deepEqual(await rows(), untouched, 'nothing was consumed');
		await fixture.untilServing();

		assert.equal((await refresh(flow.browser, inVain.link)).status, 200);
		assert.equal((await refresh(flow.browser, inVain.back)).location, '/done');
		assert.equal((await refresh(flow.browser, inVain.post)).location, '/done');
		assert.equal((await refresh(flow.browser, inVain.button)).status, 200, 'the question again');
		assert.equal((await wait).result.code, 'by GET', 'which was waited for throughout');
		assert.equal((await waitFor(posted)).result.code, 'by POST');
		assert.equal((await press(flow.browser, refusal.page, 'refuse')).location, '/done');
		assert.equal((await waitFor(refusal)).action, 'decline');
		assert.deepEqual(await programs(), before, 'no program was started anew');
	});

	test('a request that comes while it starts waits for it', async () => {
		await fixture.stack.service('stop', 'postgres');
		const [hop] = await Promise.all([
			until('it is done', async () => {
				const answer = await comeBack(flow.browser, flow.returnTo({ code: 'patient' }));
				return [502, 503, 504].includes(answer.status) ? undefined : answer;
			}),
			fixture.stack.service('start', 'postgres'),
		]);

		assert.deepEqual([hop.status, hop.location], [303, '/done'], hop.body);
		assert.equal((await waitFor(flow)).result.code, 'patient');
	});

	test('programs that were started without a database find it', async () => {
		await fixture.stack.service('stop', 'postgres');
		const before = await programs();
		for (const { pid } of before) {
			process.kill(pid, 'SIGTERM');
		}
		await until('they are others', async () => (await programs())
			.every((now, index) => now && now.pid !== before[index].pid));
		await until('they serve', async () => await health() === 503);
		await assertForgedAreRefused(flow);
		await fixture.stack.service('start', 'postgres');
		await fixture.untilServing();
		assert.equal((await comeBack(flow.browser, flow.returnTo({ code: 'c' }))).location, '/done');
	});

	test('terminated connections are opened again, and no request is lost by it', async () => {
		for (let round = 0; round < 10; round++) {
			const browser = fixture.browser();
			const one = await fixture.goOn(browser);
			await fixture.stack.sql(`
				SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'urlmode_cgi'`);
			const hop = await comeBack(browser, one.returnTo({ code: `round ${round}` }));
			assert.deepEqual([hop.status, hop.location], [303, '/done']);
			assert.equal((await waitFor(one)).result.code, `round ${round}`);
		}
	});
});

describe('PostgreSQL is frozen', () => {
	/** Every process of the cluster, its postmaster first: a stopped one starts no other. */
	async function signal(name) {
		const postmaster = await fixture.stack.pid('postgres');

		process.kill(postmaster, name);
		for (const { pid } of await familyOf(postmaster)) {
			process.kill(pid, name);
		}
	}

	test('503 after three seconds, forged states are refused at once, and everything goes on', async () => {
		const before = await programs();
		await signal('SIGSTOP');
		try {
			const inVain = askInVain();
			await assertForgedAreRefused(flow);
			await inVain;
			assert.equal(await health(), 503);
		} finally {
			await signal('SIGCONT');
		}
		await fixture.untilServing();

		// Whether what was on its way has been done meanwhile is PostgreSQL's to know: done once it is.
		for (const [one, code] of [[flow, 'by GET'], [posted, 'by POST']]) {
			const hop = await comeBack(one.browser, one.returnTo({ code }));
			assert.ok(hop.status === 303 || /Already done/.test(hop.body), `${hop.status}`);
			assert.equal((await waitFor(one)).result.code, code);
		}
		assert.deepEqual(await programs(), before);
	});
});

for (const [what, begin, end] of [
	['a server that was demoted', [
		'ALTER ROLE urlmode_cgi SET default_transaction_read_only = on',
		"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'urlmode_cgi'",
	], 'ALTER ROLE urlmode_cgi RESET default_transaction_read_only'],
	// The connections stay, of which one only reads.
	['one whose disk is full', ['ALTER SYSTEM SET default_transaction_read_only = on'],
		'ALTER SYSTEM RESET default_transaction_read_only'],
]) {
	test(`read-only, as ${what} is: 503, also of /healthz, and then as before`, async () => {
		const before = await rows();
		try {
			for (const statement of [...begin, 'SELECT pg_reload_conf()']) await fixture.stack.sql(statement);
			await until('it is read-only', async () => (await request(fixture.url('/healthz'))).status === 503);
			const { body } = await request(fixture.url('/healthz'));
			assert.equal(JSON.parse(body).database, 'unavailable');
			assertUnavailable(await comeBack(flow.browser, flow.returnTo({ code: 'c' })));
			assert.deepEqual(await rows(), before);
		} finally {
			for (const statement of [end, 'SELECT pg_reload_conf()']) await fixture.stack.sql(statement);
		}
		await fixture.untilServing();
		assert.equal((await comeBack(flow.browser, flow.returnTo({ code: 'c' }))).location, '/done');
	});
}
