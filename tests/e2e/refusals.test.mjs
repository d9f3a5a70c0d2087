// What a program refuses: a plain page with the right status, a short reason
// and a request id that the log has as well; nothing is written, and the
// database is not asked where it need not be.
//
// One elicitation that waits and one that is under way stand for all of it:
// what is refused changes neither, so that both go on at the end.
//
// Every row of what plan() and answer() refuse is a unit test
// (tests/unit/test_connect*.c, test_oauth_return*.c, test_token*.c, test_form.c,
// test_http.c). Here are some rows of each table, and those in which nginx has
// a part.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';

import { comeBack, press, stateOf } from '../support/flow.mjs';
import { request } from '../support/http.mjs';
import { assertPlainPage, assertSecurityHeaders } from '../support/pages.mjs';
import { openFixture } from '../support/fixture.mjs';
import { Tokens, withByte } from '../support/tokens.mjs';
import { until } from '../support/wait.mjs';

const FORM = 'application/x-www-form-urlencoded';
const PATHS = { connect: '/connect/demo', 'oauth-return': '/oauth/demo/return' };

let fixture;
let tokens;
let pending; // nobody has opened it
let flow;    // its browser is at the provider
let cookie;  // of that browser
let bound;   // the state of the confirm page, for that browser

before(async () => {
	fixture = await openFixture({ name: 'refusals' });
	tokens = new Tokens(fixture.stack);
	const browser = fixture.browser();
	pending = await fixture.create();
	flow = { browser, ...await fixture.goOn(browser) };
	[[, bound]] = (await browser.open(pending.url)).forms[0].fields;
	cookie = browser.jar.header(new URL(fixture.url('/')));
});

after(() => fixture?.close());

const query = (fields) => new URLSearchParams(fields).toString();
const linkState = () => stateOf(pending.url);

/** The fields of a good return, with some of them changed; undefined leaves one out. */
function returned(change) {
	const fields = Object.entries({ ...flow.parameters({ code: 'a-code' }), ...change });
	return query(fields.filter(([, value]) => value !== undefined));
}

/**
 * What tells whether the programs have asked their database anything: but for status, which commits and measures
 * every ten seconds, if it is another one that is asked.
 */
const databaseCalls = (program) => fixture.stack.sql(`
	SELECT pid, query_start, state_change FROM pg_stat_activity
	WHERE usename = 'urlmode_cgi' AND application_name <> ALL ($1) ORDER BY pid`, [['beat', ...program === 'status' ? [] : ['status']]]);

const rows = async () => [await fixture.row(pending.id), await fixture.row(flow.id)];

/**
 * Sends a request and holds the answer against everything that is true of
 * every refusal.
 *
 * @param {{ program: 'connect' | 'oauth-return' | 'status', status: number,
 *     reason: string, asks?: boolean, path?: string, query?: string,
 *     method?: string, headers?: object, form?: string, body?: string }} expected
 *     asks: the database has to be asked; form: a body of that type
 */
async function assertRefused({ program, status, reason, asks = false, path = PATHS[program], ...sent }, again = program === 'status' ? 5 : 0) {
	const before = [await rows(), await databaseCalls(program)];
	const answer = await request(`${fixture.url(path)}${sent.query === undefined ? '' : `?${sent.query}`}`, {
		method: sent.method ?? (sent.form === undefined ? 'GET' : 'POST'),
		headers: { Cookie: cookie, ...sent.form !== undefined && { 'Content-Type': FORM }, ...sent.headers },
		body: sent.form ?? sent.body,
	});

	assert.deepEqual([answer.status, answer.reason], [status, reason]);
	assertPlainPage(answer, [sent.query, sent.form, sent.body, sent.headers?.Cookie ?? cookie]);
	assertSecurityHeaders(answer);
	const line = await until('the request is in the log', async () => (
		(await fixture.stack.programLog()).find(({ request: id }) => id === answer.headers['x-request-id'])));
	assert.deepEqual([line.program, line.status, line.reason], [program, status, reason]);

	assert.deepEqual(await rows(), before[0], 'nothing is written');
	const calls = await databaseCalls(program);
	if (asks) {
		assert.notDeepEqual(calls, before[1], 'one can be seen');
	} else if (again > 0 && !isDeepStrictEqual(calls, before[1])) {
		// It has measured meanwhile, and so mostly does not again just now.
		await assertRefused({ program, status, reason, path, ...sent }, again - 1);
	} else {
		assert.deepEqual(calls, before[1], 'no database call');
	}
	return answer;
}

/** One test a case: [name, status, reason, () => request]. */
function refuses(program, cases) {
	for (const [name, status, reason, sent] of cases) {
		test(name, () => assertRefused({ program, status, reason, ...sent() }));
	}
}

/** What no query and no form may be; `place` says which of them, `good` is one that is fine. */
const badForms = (place, good) => [
	['without a state', 400, 'state_missing', () => ({ [place]: good().replace(/(^|&)state=[^&]*/, '') })],
	['with the state twice, once spelled otherwise', 400, 'duplicate_parameter', () => ({ [place]: `${good()}&st%61te=x` })],
	['with bytes that are not UTF-8', 400, 'malformed_parameters', () => ({ [place]: `${good()}&x=%c3%28` })],
	['with a name over 64 bytes', 400, 'parameters_too_large', () => ({ [place]: `${good()}&${'n'.repeat(65)}=x` })],
	...place === 'body' ? [['with a value over 12288 bytes', 400, 'parameters_too_large', () => ({ [place]: `${good()}&x=${'v'.repeat(12_289)}` })]] : [],
];

/** Of a return, only what decides is refused. */
const badReturns = (place, good) => [
	...badForms(place, good).slice(0, 2),
	['with a code that is not UTF-8', 400, 'malformed_parameters', () => ({ [place]: good().replace(/code=/, 'code=%c3%28') })],
	['with the code twice', 400, 'duplicate_parameter', () => ({ [place]: `${good()}&code=x` })],
];

/** States that a query may not have; `mint` makes a genuine one with something changed. */
const badStates = (fields, { good, mint, otherPurpose }) => [
	['with a changed ciphertext', 400, 'state_invalid', () => withByte(good(), 14, (byte) => byte ^ 0x80)],
	[`for the purpose ${otherPurpose}`, 400, 'state_invalid', () => mint({ purpose: otherPurpose })],
	['expired a second ago', 410, 'state_expired', () => mint({ expires: Math.floor(Date.now() / 1000) - 1 })],
].map(([name, status, reason, state]) => [name, status, reason, () => ({ query: fields(state()) })]);

const METHODS = ['PUT', 'OPTIONS', 'PROPFIND'];

function methods(program, names, allow) {
	for (const method of names) {
		test(`${method}: 405, and what is allowed`, async () => {
			const answer = await assertRefused({
				program, status: 405, reason: 'method_not_allowed', method, query: `state=${flow.state}`,
			});
			assert.equal(answer.headers.allow, allow);
		});
	}
}

function prefetches(program, good) {
	for (const [name, value] of [
		['Sec-Purpose', 'prefetch;prerender'], ['Purpose', 'prefetch'], ['X-Purpose', 'preview'], ['X-Moz', 'prefetch'],
	]) {
		test(`a prefetch (${name}: ${value})`, () => assertRefused({
			program, status: 503, reason: 'prefetch', query: good(), headers: { [name]: value },
		}));
	}
}

function contentTypes(program, good) {
	for (const type of ['application/json', '']) {
		test(`a body of type “${type}”`, () => assertRefused({
			program, status: 415, reason: 'unsupported_media_type', method: 'POST', body: good(), headers: { 'Content-Type': type },
		}));
	}
	test('a form over 16 KB', () => assertRefused({
		program, status: 413, reason: 'body_too_large', form: `${good()}&x=${'y'.repeat(16_384)}`,
	}));
	test('a form beside a query', () => assertRefused({
		program, status: 400, reason: 'query_and_form', method: 'POST', query: good(), form: 'answer=continue',
	}));
}

describe('/connect/<provider>, with a link', () => {
	const good = () => `state=${linkState()}`;
	refuses('connect', badForms('query', good));
	refuses('connect', [
		['with a query over 16 KB', 400, 'parameters_too_large', () => (
			{ query: `${good()}${Array.from({ length: 6 }, (_, i) => `&${i}=${'x'.repeat(3_000)}`).join('')}` })],
		...['nobody', '%64emo', 'demo%3Fx'].map((name) => (
			[`an unknown provider: ${name}`, 404, 'unknown_provider', () => ({ path: `/connect/${name}`, query: good() })])),
		...['/connect/', '/connect//demo', '/connect/demo/x'].map((path) => (
			[`no such route: ${path}`, 404, 'unknown_route', () => ({ path, query: good() })])),
	]);
	methods('connect', METHODS, 'GET, HEAD, POST');
	prefetches('connect', good);
	test('of an elicitation of another kind than its provider', async () => {
		const other = await fixture.create({ kind: 'signature', targetUrl: 'https://documents.example/sign' });
		const row = await fixture.row(other.id);
		await assertRefused({ program: 'connect', status: 404, reason: 'wrong_kind', asks: true, query: `state=${stateOf(other.url)}` });
		const form = query({ state: tokens.mint(other, { purpose: 'connect', cookie: cookie.split('=')[1] }), answer: 'continue' });
		await assertRefused({ program: 'connect', status: 404, reason: 'wrong_kind', asks: true, form });
		assert.equal(await fixture.row(other.id), row);
	});
});

describe('/connect/<provider>, with a state', () => {
	refuses('connect', [
		['with another id', 'state_invalid', () => withByte(linkState(), 2, (byte) => byte ^ 1)],
		['with another proof', 'state_invalid', () => withByte(linkState(), 31, (byte) => byte ^ 1)],
		['of another provider', 'state_invalid', () => tokens.link({ ...pending, provider: 'github' })],
		['without its last character', 'state_invalid', () => linkState().slice(0, -1)],
		['with padding', 'state_invalid', () => `${linkState()}=`],
	].map(([name, reason, state]) => [`a link ${name}`, 400, reason, () => ({ query: query({ state: state() }) })]));
	refuses('connect', badStates((state) => query({ state }), {
		good: linkState, mint: (change) => tokens.mint(pending, { purpose: 'connect', ...change }), otherPurpose: 'return',
	}));
});

describe('/connect/<provider>, with an answer of the confirm page', () => {
	const answer = (change) => query({ state: bound, answer: 'continue', ...change });
	refuses('connect', badForms('form', answer));
	contentTypes('connect', answer);
	refuses('connect', [
		['without the answer', 400, 'answer_invalid', () => ({ form: query({ state: bound }) })],
		['continue, of another browser', 403, 'wrong_browser', () => (
			{ form: answer(), headers: { Cookie: '__Host-urlmode=AAECAwQFBgcICQoLDA0ODw' } })],
		['refuse, with the link\'s own state', 403, 'wrong_browser', () => (
			{ form: answer({ answer: 'refuse', state: linkState() }) })],
	]);
});

describe('/oauth/<provider>/return, with a query', () => {
	refuses('oauth-return', badReturns('query', returned));
	refuses('oauth-return', [
		['both code and error', 400, 'response_ambiguous', () => ({ query: returned({ error: 'access_denied' }) })],
		['a code without iss', 400, 'issuer_missing', () => ({ query: returned({ iss: undefined }) })],
		['an error with another iss', 400, 'issuer_mismatch', () => (
			{ query: returned({ code: undefined, error: 'access_denied', iss: 'https://mallory.example' }) })],
		...['/oauth/demo', '/oauth//return', '/oauth/demo%2Freturn'].map((path) => (
			[`no such route: ${path}`, 404, 'unknown_route', () => ({ path, query: returned() })])),
		['an unknown provider', 404, 'unknown_provider', () => ({ path: '/oauth/nobody/return', query: returned() })],
		['a token for another provider of this site', 400, 'state_invalid', () => (
			{ path: '/oauth/github/return', query: returned() })],
	]);
	methods('oauth-return', METHODS, 'GET, POST');
	test('HEAD: 405, without a page', async () => {
		const before = [await rows(), await databaseCalls()];
		const answer = await request(`${flow.returnUrl}?${returned()}`, { method: 'HEAD', headers: { Cookie: cookie } });

		assert.deepEqual([answer.status, answer.headers.allow, answer.body], [405, 'GET, POST', '']);
		assert.deepEqual([await rows(), await databaseCalls()], before);
	});
	prefetches('oauth-return', returned);
});

describe('/oauth/<provider>/return, with a state', () => {
	const cookieValue = () => cookie.split('=')[1];
	refuses('oauth-return', badStates((state) => returned({ state }), {
		good: () => flow.state, mint: (change) => tokens.mint(flow, { cookie: cookieValue(), ...change }), otherPurpose: 'connect',
	}));
});

describe('/oauth/<provider>/return, with form_post', () => {
	refuses('oauth-return', badReturns('form', returned));
	contentTypes('oauth-return', returned);
	refuses('oauth-return', [
		['a tampered state without a cookie', 400, 'state_invalid', () => (
			{ form: returned({ state: withByte(flow.state, 40, (byte) => byte ^ 1) }), headers: { Cookie: '' } })],
		['another browser', 403, 'wrong_browser', () => (
			{ form: returned(), headers: { Cookie: '__Host-urlmode=AAECAwQFBgcICQoLDA0ODw' } })],
	]);
});

describe('/oauth/<provider>/return, in another browser', () => {
	const OTHER = 'AAECAwQFBgcICQoLDA0ODw';
	refuses('oauth-return', [
		['without a cookie', ''],
		['with another cookie', `__Host-urlmode=${OTHER}`],
		['with two cookies of that name', () => `${cookie}; __Host-urlmode=${OTHER}`],
		['with a cookie of 3 KB', `__Host-urlmode=${'A'.repeat(3_000)}`],
	].map(([name, Cookie]) => [name, 403, 'wrong_browser', () => (
		{ query: returned(), headers: { Cookie: typeof Cookie === 'function' ? Cookie() : Cookie } })]));

	refuses('oauth-return', [
		['with a genuine token that is bound to no browser', 403, 'wrong_browser', () => (
			{ query: returned({ state: tokens.mint(flow) }) })],
	]);
});

describe('refusals that need the database', () => {
	const STRANGE_ID = 'b3b7c1d2-0000-4000-8000-000000000000';
	const mine = () => ({ purpose: 'return', cookie: cookie.split('=')[1] });

	for (const [name, change] of [
		['an elicitation that is not there', () => ({ id: STRANGE_ID })],
		['an elicitation of another subject', () => ({ owner: { subject: 'mallory', session: '' } })],
		['an elicitation of another session', () => ({ owner: { ...flow.owner, session: 'another' } })],
	]) {
		const UNKNOWN = { status: 404, reason: 'unknown_elicitation', asks: true };
		test(`${name}: its link`, () => assertRefused({
			program: 'connect', ...UNKNOWN, query: query({ state: tokens.mint(flow, { purpose: 'connect', ...change() }) }),
		}));
		test(`${name}: its return`, () => assertRefused({
			program: 'oauth-return', ...UNKNOWN, query: returned({ state: tokens.mint(flow, { ...mine(), ...change() }) }),
		}));
	}

	test('the link of an elicitation that is not there', () => assertRefused({
		program: 'connect', status: 404, reason: 'unknown_elicitation', asks: true, query: query({ state: tokens.link({ ...flow, id: STRANGE_ID }) }),
	}));

	test('the link of an elicitation of another provider', () => assertRefused({
		program: 'connect', status: 404, reason: 'unknown_elicitation', asks: true, path: '/connect/github',
		query: query({ state: tokens.link({ ...flow, provider: 'github' }) }),
	}));

	test('an elicitation of another provider', () => assertRefused({
		program: 'oauth-return', status: 404, reason: 'unknown_elicitation', asks: true, path: '/oauth/github/return',
		query: returned({ state: tokens.mint(flow, { ...mine(), provider: 'github' }) }),
	}));

	test('a row that has expired before its token', async () => {
		const late = await fixture.create({ ttl: 1 });
		const before = await fixture.row(late.id);
		const EXPIRED = { status: 410, reason: 'expired', asks: true };

		await assertRefused({
			program: 'connect', ...EXPIRED, query: query({ state: tokens.link(late) }),
		});
		for (const answer of ['continue', 'refuse']) {
			await assertRefused({
				program: 'connect', ...EXPIRED,
				form: query({ state: tokens.mint(late, { ...mine(), purpose: 'connect' }), answer }),
			});
		}
		await assertRefused({
			program: 'oauth-return', ...EXPIRED, query: returned({ state: tokens.mint(late, mine()) }),
		});
		assert.equal(await fixture.row(late.id), before);
	});
});

describe('/done and /status', () => {
	refuses('status', [
		['/done is read alone', 405, 'method_not_allowed', () => ({ path: '/done', form: 'x=1' })],
		['/done/ is no route', 404, 'unknown_route', () => ({ path: '/%64one' })],
	]);

	for (const [name, status, reason, ask] of [
		['of an unknown provider', 404, 'unknown_provider', () => ({ provider: 'nobody' })],
		['without a state', 400, 'state_missing', () => ({ provider: 'demo' })],
		['with a link', 400, 'state_invalid', () => ({ provider: 'demo', state: linkState() })],
	]) {
		test(`/status ${name}: no page, since a script asks, but the reason`, async () => {
			const before = [await rows(), await databaseCalls()];
			const answer = await request(`${fixture.url('/status')}?${query(ask())}`, { headers: { Cookie: cookie } });

			assert.equal(answer.status, status);
			assert.match(answer.headers['content-type'], /^text\/plain/);
			assert.ok(answer.body.includes(reason));
			assert.deepEqual([await rows(), await databaseCalls()], before);
		});
	}
});

describe('what nginx refuses without asking a program', () => {
	const long = 'x'.repeat(30_000);

	for (const [status, reason, path, options] of [
		[404, 'unknown_route', '/'],
		[404, 'unknown_route', '/connect?state=a-state-of-nobody'],
		[404, 'unknown_route', '/connect/..?state=a-state-of-nobody'],
		[400, 'malformed_request', '/connect/demo%00'],
		[400, 'malformed_request', '/connect/demo?state=a-state-of-nobody', { headers: { 'X-Long': long } }],
		[403, 'forbidden', '/healthz', { localAddress: '127.0.0.2' }],
		[405, 'method_not_allowed', '/connect/demo?state=a-state-of-nobody', { method: 'TRACE' }],
		[413, 'body_too_large', '/oauth/demo/return', { method: 'POST', body: long.repeat(3) }],
		[414, 'parameters_too_large', `/connect/demo?state=${long}`],
	]) {
		test(`${status} ${reason}: ${options?.method ?? 'GET'} ${path.slice(0, 40)}`, async () => {
			const before = [await rows(), await databaseCalls()];
			const answer = await request(fixture.url(path), options);

			assert.deepEqual([answer.status, answer.reason], [status, reason]);
			assertPlainPage(answer, ['a-state-of-nobody', long]);
			assertSecurityHeaders(answer);
			await until('the request is in the log', async () => (
				(await fixture.stack.accessLog()).find(({ request_id: id }) => id === answer.headers['x-request-id'])));
			assert.deepEqual([await rows(), await databaseCalls()], before);
		});
	}
});

test('after all refusals both elicitations can still be completed', async () => {
	const { browser } = flow;

	assert.equal((await comeBack(browser, flow.returnTo({ code: 'a-code' }))).location, '/done');
	const hop = await press(browser, await browser.open(pending.url), 'continue');
	assert.equal(hop.status, 303);
});
