// The api: who may call it, what it refuses, and how an elicitation is created over HTTP. Everything goes through nginx.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';

import { checkRequest } from '../../lib/node/src/core/create-options.js';
import { openKeys } from '../../lib/node/src/core/keys.js';
import { unseal } from '../../lib/node/src/core/seal.js';
import { startApi } from '../support/api.mjs';
import { until } from '../support/wait.mjs';

let api;

before(async () => {
	api = await startApi('api');
});

after(() => api?.close());

const ACCOUNT = { provider: 'github', kind: 'oauth', subject: 'ada', target_url: 'https://github.com/login/oauth/authorize?client_id=x' };
const PAYMENT = { provider: 'stripe', kind: 'payment', subject: 'ada', item: 'report:42', expected: { amount: 1_050, currency: 'eur' } };
const FORM = { title: 'Name', fields: [{ name: 'a', label: 'A', type: 'text' }] };
const APPROVAL = { provider: 'approvals', kind: 'approval', subject: 'ada', form: { title: 'T' }, approver: ['eve', 'bob'] };
const rowOf = (id) => api.stack.elicitation(id);

describe('who may call it', () => {
	test('nobody without a key, and nobody with another one', async () => {
		const wrong = `Bearer umk_${'A'.repeat(43)}`;
		for (const headers of [{}, { authorization: '' }, { authorization: api.key }, { authorization: `Basic ${api.key}` }, { authorization: wrong }, { authorization: `Bearer ${api.key}A` }]) {
			const { status, body, headers: answered } = await api.call('create', ACCOUNT, { headers });
			assert.deepEqual([status, body.error.code], [401, 'unauthorized'], JSON.stringify(headers));
			assert.equal(answered.get('www-authenticate'), 'Bearer');
		}
	});

	test('a key that is added counts within a second, and one that is removed no longer', async () => {
		const other = await api.as('second');
		assert.equal((await other.call('create', ACCOUNT)).status, 201);
		await api.remove('second');
		await until('it is not known any more', async () => (await other.call('create', ACCOUNT)).status === 401);
		assert.equal((await api.call('create', ACCOUNT)).status, 201, 'the others stay');
	});

	test('a file that cannot be read leaves the keys as they were, and the log says why', async () => {
		const other = await api.as('third');
		await api.as('fourth', 'Not-A-Tenant').then(() => assert.fail('a wrong tenant was taken'), () => {});
		assert.equal((await other.call('create', ACCOUNT)).status, 201);
		assert.ok((await api.stack.programLog()).some(({ notice }) => notice?.includes('api-keys') && notice.includes('the tenant is not')));
		await api.remove('fourth');
		await api.remove('third');
		await until('the rest is read again', async () => (await other.call('create', ACCOUNT)).status === 401);
	});

	test('no key is in a log', async () => {
		for (const [name, text] of await api.stack.logs()) assert.ok(!text.includes(api.key), name);
	});

	test('the public server has no route of it', async () => {
		for (const path of ['/v1/create', '/v1/wait', '/v1/']) {
			const { status } = await fetch(`${api.stack.baseUrl}${path}`, { method: 'POST', headers: { authorization: `Bearer ${api.key}` }, body: '{}' });
			assert.equal(status, 404, path);
		}
	});
});

describe('what it refuses', () => {
	test('other methods and paths, as JSON', async () => {
		assert.deepEqual(await api.error('nothing', {}), [404, 'not_found']);
		assert.deepEqual(await api.error('create/more', {}), [404, 'not_found']);
		assert.deepEqual(await api.error('../create', {}), [404, 'not_found']);
		const got = await api.call('create', undefined, { method: 'GET', body: undefined });
		assert.deepEqual([got.status, got.body.error.code, got.headers.get('allow')], [405, 'method_not_allowed', 'POST']);
	});

	test('a body that is no object of JSON', async () => {
		for (const body of ['', 'x', '[]', '{', '"a"', 'null', '{}{}', '{"a":1,"a":2}', '{"subject":"\ud800"}'.replace('\ud800', String.raw`\ud800`)]) {
			assert.deepEqual((await api.error('create', body)).slice(0, 2), [400, 'invalid_request'], body);
		}
	});

	test('a body of each method has a limit: as many bytes are read, and one more is refused', async () => {
		const KB = 1_024;
		for (const [method, limit] of Object.entries({ create: 64 * KB, complete: 64 * KB, begin_claim: 64 * KB, ledger: 64 * KB, wait: 8 * KB * KB, fulfil_claim: 32 * KB * KB })) {
			const padded = (length) => `{${' '.repeat(length - 2)}}`;
			assert.deepEqual((await api.error(method, padded(limit))).slice(0, 2), [400, 'invalid_request'], method);
			assert.deepEqual(await api.error(method, padded(limit + 1)), [413, 'too_large'], method);
		}
	});

	test('each member that is wrong, by its name', async () => {
		const cases = [
			[{ ...ACCOUNT, provider: undefined }, 'provider'], [{ ...ACCOUNT, provider: 'A' }, 'provider'], [{ ...ACCOUNT, provider: '-a' }, 'provider'],
			[{ ...ACCOUNT, kind: 'gift' }, 'kind'], [{ ...ACCOUNT, kind: 'payment' }, 'kind'], [{ ...ACCOUNT, subject: '' }, 'subject'], [{ ...ACCOUNT, subject: 7 }, 'subject'],
			[{ ...ACCOUNT, subject: 'x'.repeat(513) }, 'subject'], [{ ...ACCOUNT, subject: 'a\0' }, 'subject'], [{ ...ACCOUNT, session: null }, 'session'],
			[{ ...ACCOUNT, item: 'a' }, 'item'], [{ ...ACCOUNT, expected: 'any' }, 'expected'], [{ ...ACCOUNT, ttl_ms: 0 }, 'ttl_ms'], [{ ...ACCOUNT, ttl_ms: 1.5 }, 'ttl_ms'],
			[{ ...ACCOUNT, id: 'x' }, 'id'], [{ ...ACCOUNT, pkce: 1 }, 'pkce'], [{ ...ACCOUNT, about: [] }, 'about'], [{ ...ACCOUNT, more: 1 }, 'more'],
			[{ ...ACCOUNT, target_url: 'http://example.com/' }, 'target_url'], [{ ...ACCOUNT, target_url: 'javascript:alert(1)' }, 'target_url'],
			[{ ...ACCOUNT, target_url: 'https://a.example/#f' }, 'target_url'], [{ ...ACCOUNT, target_url: 'https://a.example/?state=1' }, 'target_url'],
			[{ ...ACCOUNT, target_url: 'https://u@a.example/' }, 'target_url'], [{ ...ACCOUNT, target_url: 'https://a.example/\n' }, 'target_url'],
			[{ ...ACCOUNT, target_url: `https://a.example/?code_challenge=x`, pkce: true }, 'target_url'], [{ ...ACCOUNT, traceparent: '00-1-2-3' }, 'traceparent'],
			[{ ...PAYMENT, expected: undefined }, 'expected'], [{ ...PAYMENT, expected: {} }, 'expected.amount'], [{ ...PAYMENT, expected: { amount: 1 } }, 'expected.currency'],
			[{ ...PAYMENT, expected: { amount: -1, currency: 'EUR' } }, 'expected.amount'], [{ ...PAYMENT, expected: { amount: 1, currency: 'XTS' } }, 'expected.currency'],
			[{ ...PAYMENT, expected: { amount: 1, currency: 'EUR', match: 'about' } }, 'expected.match'], [{ ...PAYMENT, expected: { amount: 11, currency: 'KWD' } }, 'expected.amount'],
			[{ ...PAYMENT, expected: { amount: 1, currency: 'EUR', x: 1 } }, 'expected.x'], [{ ...PAYMENT, pkce: true }, 'pkce'], [{ ...PAYMENT, form: {} }, 'form'],
			[{ ...PAYMENT, item: undefined }, 'item'], [{ provider: 'intake', kind: 'input', subject: 'ada' }, 'form'],
			[{ provider: 'intake', kind: 'input', subject: 'ada', form: { title: 'T' } }, 'form'], [{ provider: 'intake', kind: 'input', subject: 'ada', form: FORM, target_url: 'https://a.example/' }, 'target_url'],
			[{ provider: 'approvals', kind: 'approval', subject: 'ada', form: { title: 'T' }, approver: [] }, 'approver'],
			...[['eve', 'bob', 'eve'], ['eve', ''], ['eve', 7], ['a\0'], ['x'.repeat(513)], Array.from({ length: 17 }, (_, n) => `${n}`), Array.from({ length: 10_000 }, (_, n) => n % 10), { eve: 'bob' }]
				.map((approver) => [{ ...APPROVAL, approver }, 'approver']),
			[{ ...ACCOUNT, submit_label: 'Send' }, 'submit_label'], [{ ...ACCOUNT, step_up: true }, 'step_up'], [{ ...APPROVAL, step_up: 1 }, 'step_up'],
			[{ provider: 'intake', kind: 'input', subject: 'ada', form: FORM, submit_label: 'x'.repeat(41) }, 'submit_label'],
			[{ ...ACCOUNT, four_eyes: false }, 'four_eyes'], [{ ...APPROVAL, four_eyes: 1 }, 'four_eyes'], [{ ...APPROVAL, approver: undefined, four_eyes: true }, 'four_eyes'],
		];
		for (const [body, member] of cases) assert.deepEqual(await api.error('create', body), [400, 'invalid_request', member], JSON.stringify(body));
		assert.equal((await api.stack.sql("SELECT count(*)::int FROM urlmode.elicitation WHERE subject <> 'ada'"))[0].count, 0, 'nothing is half done');
	});
});

describe('create', () => {
	test('an account in one call: the link opens, and the row is what was asked for', async () => {
		const created = await api.ok('create', { ...ACCOUNT, session: 's', ttl_ms: 600_000, client_id: 'claude', name: 'Shop', traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' }, 201);
		const { id, url, expires_at: expires, ...rest } = created;
		assert.deepEqual(rest, { return_url: `${api.stack.baseUrl}/oauth/github/return`, cancel_url: null, webhook_url: null, amount: null, resumed: false });
		const row = await rowOf(id);
		assert.equal(row.expires_at.toISOString(), expires);
		assert.deepEqual([row.subject, row.session, row.requester, row.client_id, row.status, row.target_url, row.tenant], ['ada', 's', 'Shop', 'claude', 'pending', ACCOUNT.target_url, '']);
		assert.ok(url.startsWith(`${api.stack.baseUrl}/connect/github?state=`));
		assert.ok(Math.abs(new Date(expires) - Date.now() - 600_000) < 60_000);
	});

	test('who compares the client says which one it is', async () => {
		assert.deepEqual(await api.error('create', { ...ACCOUNT, same_client: true }), [400, 'invalid_request', 'same_client']);
		const of = (client) => api.call('create', { ...ACCOUNT, subject: 'clients', resume_key: 'k', client_id: client, same_client: true });
		assert.deepEqual([(await of('one')).status, (await of('one')).status, (await of('two')).status], [201, 200, 201]);
	});

	test('with PKCE the target has a challenge, and for OpenID Connect a nonce', async () => {
		const { id } = await api.ok('create', { ...ACCOUNT, target_url: `${ACCOUNT.target_url}&scope=email+openid`, pkce: true }, 201);
		const { searchParams } = new URL((await rowOf(id)).target_url);
		assert.match(searchParams.get('code_challenge'), /^[\w-]{43}$/);
		assert.equal(searchParams.get('code_challenge_method'), 'S256');
		assert.match(searchParams.get('nonce'), /^[\w-]{22}$/);
	});

	test('a payment in two calls: the first writes nothing, and the second has its id', async () => {
		const asked = { ...PAYMENT, item: 'two-calls' };
		const first = await api.ok('create', asked);
		assert.deepEqual(Object.keys(first), ['needs', 'id', 'return_url', 'cancel_url', 'webhook_url', 'amount']);
		assert.deepEqual([first.needs, first.amount], ['target_url', 1_050]);
		assert.equal(await rowOf(first.id), undefined);
		const second = await api.ok('create', { ...asked, id: first.id, target_url: 'https://checkout.stripe.com/c/pay', checkout: 'cs_1' }, 201);
		assert.deepEqual([second.id, second.amount, second.resumed], [first.id, 1_050, false]);
		const row = await rowOf(second.id);
		assert.deepEqual([row.item, row.checkout, row.expected], ['two-calls', 'cs_1', { amount: 1_050, currency: 'EUR' }]);
		const later = await api.ok('create', asked);
		assert.deepEqual(later, { ...second, resumed: true }, 'the next call for the same item goes on with it');
	});

	test('amounts are as their provider writes them', async () => {
		for (const [provider, expected, amount] of [['stripe', { amount: 5, currency: 'UGX' }, 500], ['paypal', { amount: 1_050, currency: 'EUR' }, '10.50'], ['checkout', { amount: 1, currency: 'EUR' }, null], ['stripe', 'any', null]]) {
			assert.equal((await api.ok('create', { ...PAYMENT, item: randomUUID(), provider, expected })).amount, amount, JSON.stringify([provider, expected]));
		}
	});

	test('the same call again has the same answer, and no second verifier', async () => {
		const asked = { ...ACCOUNT, id: randomUUID(), pkce: true };
		const first = await api.ok('create', asked, 201);
		const { target_url: target, verifier } = await rowOf(first.id);
		assert.deepEqual(await api.ok('create', { ...asked, id: asked.id.toUpperCase(), traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' }, 201), first);
		const again = await rowOf(first.id);
		assert.deepEqual([again.target_url, again.verifier], [target, verifier]);
		const paid = { ...PAYMENT, item: 'again', id: randomUUID(), target_url: 'https://checkout.stripe.com/c/pay' };
		assert.deepEqual(await api.ok('create', paid, 201), await api.ok('create', paid, 201), 'also the tokens');
	});

	test('the same id with other content is a conflict, and that of another owner or tenant is not found', async () => {
		const { id } = await api.ok('create', ACCOUNT, 201);
		assert.deepEqual(await api.error('create', { ...ACCOUNT, id, ttl_ms: 1_000 }), [409, 'conflict', 'id']);
		assert.deepEqual(await api.error('create', { ...ACCOUNT, id, subject: 'eve' }), [404, 'not_found', 'id']);
		const other = await api.as('other-tenant', 'other-tenant');
		assert.deepEqual(await other.error('create', { ...ACCOUNT, id }), [404, 'not_found', 'id']);
	});

	test('many of the same call at once make one row', async () => {
		const asked = { ...ACCOUNT, id: randomUUID() };
		const answers = await Promise.all(Array.from({ length: 10 }, () => api.ok('create', asked, 201)));
		for (const answer of answers) assert.deepEqual(answer, answers[0]);
		const paid = () => ({ ...PAYMENT, item: randomUUID(), id: randomUUID(), target_url: 'https://checkout.stripe.com/c/pay' });
		for (const call of Array.from({ length: 20 }, paid)) {
			const [first, ...others] = await Promise.all(Array.from({ length: 6 }, () => api.ok('create', call, 201)));
			for (const other of others) assert.deepEqual(other, first, 'also where the item would go on with it');
		}
		const item = { ...PAYMENT, item: 'at-once', target_url: 'https://checkout.stripe.com/c/pay' };
		const made = await Promise.all(Array.from({ length: 10 }, () => api.call('create', item)));
		assert.deepEqual(made.map(({ status }) => status).sort(), [...Array(9).fill(200), 201]);
		assert.equal(new Set(made.map(({ body }) => body.id)).size, 1);
	});

	test('forms and approvals, as the packages make them', async () => {
		const form = { title: 'Name', facts: [], fields: [{ name: 'a', label: 'A', type: 'text', required: false }] };
		const input = await api.ok('create', { provider: 'intake', kind: 'input', subject: 'ada', form, resume_key: 'k', verify_ms: 5_000 }, 201);
		assert.deepEqual([input.return_url, input.amount], [null, null]);
		assert.equal((await api.ok('create', { provider: 'intake', kind: 'input', subject: 'ada', form: { ...form, facts: undefined }, resume_key: 'k', verify_ms: 9_000 })).id, input.id, 'the same form');
		const others = await api.ok('create', { provider: 'approvals', kind: 'approval', subject: 'ada', form: { title: 'T' }, approver: ['eve', 'bob'] }, 201);
		assert.equal(others.url, null);
		assert.equal((await fetch(others.approval_url)).status, 403, 'the link is good, and this stack does not know its users');
	});

	test('an approval by four eyes, as the packages ask for it', async () => {
		const asked = { ...APPROVAL, resume_key: 'four', four_eyes: true };
		const { id } = await api.ok('create', asked, 201);
		const [{ approvers }] = await api.stack.sql('SELECT approvers FROM urlmode.form WHERE elicitation = $1', [id]);
		assert.deepEqual(approvers, { approvers: ['eve', 'bob'], four_eyes: true });
		const { request } = checkRequest({ provider: 'approvals', kind: 'approval', form: APPROVAL.form, approver: APPROVAL.approver, fourEyes: true });
		assert.deepEqual((await api.stack.elicitation(id)).request, request);
		assert.equal((await api.ok('create', asked)).id, id);
		assert.notEqual((await api.ok('create', { ...asked, four_eyes: undefined }, 201)).id, id, 'it is another question');
	});

	test('an entry with a name of its own has the prices of the description that the configuration says', async () => {
		const file = path.join(api.stack.runDir, 'api.json');
		const before = await readFile(file, 'utf8');
		const asked = { ...PAYMENT, provider: 'acme', item: 'priced', expected: { amount: 1_050, currency: 'EUR' } };
		assert.equal((await api.ok('create', asked)).amount, null);
		await writeFile(file, JSON.stringify({ ...JSON.parse(before), descriptions: { acme: 'paypal' } }));
		try {
			await api.stack.service('restart', 'api');
			await until('it is served again', async () => (await api.call('create', asked)).status === 200);
			assert.equal((await api.ok('create', asked)).amount, '10.50');
			assert.equal((await api.ok('create', { ...asked, provider: 'other' })).amount, null);
			assert.deepEqual(await api.error('create', { ...asked, expected: { amount: 1_050, currency: 'HUF' } }), [400, 'invalid_request', 'expected.amount']);
		} finally {
			await writeFile(file, before);
			await api.stack.service('restart', 'api');
			await until('it is served again', async () => (await api.call('create', asked)).status === 200);
		}
	});

	test('an approval with a fresh sign-in, as the packages ask for it', async () => {
		const asked = { ...APPROVAL, resume_key: 'fresh', step_up: true };
		const { id } = await api.ok('create', asked, 201);
		const { request } = checkRequest({ provider: 'approvals', kind: 'approval', form: APPROVAL.form, approver: APPROVAL.approver, stepUp: true });
		assert.deepEqual((await api.stack.elicitation(id)).request, request);
		assert.equal((await api.ok('create', asked)).id, id);
		assert.notEqual((await api.ok('create', { ...asked, step_up: undefined }, 201)).id, id, 'it is another question');
	});

	test('the button of an input has the words of the server, as the packages seal them', async () => {
		const asked = { provider: 'intake', kind: 'input', subject: 'ada', form: FORM, submit_label: 'Zahlen €' };
		const { id } = await api.ok('create', asked, 201);
		const { request } = checkRequest({ provider: 'intake', kind: 'input', form: FORM, submitLabel: 'Zahlen €' });
		const row = await api.stack.elicitation(id);
		assert.deepEqual(row.request, request);
		const [{ definition }] = await api.stack.sql('SELECT definition FROM urlmode.form WHERE elicitation = $1', [id]);
		const opened = unseal(openKeys(api.stack.env.URLMODE_KEYS_FILE), { id, binding: row.binding, use: 'urlmode form v1' }, definition);
		assert.deepEqual(opened, { ...FORM, submit_label: 'Zahlen €' });
	});

	test('as many open ones as an owner may have: the next is refused', async () => {
		const asked = { ...ACCOUNT, subject: 'busy' };
		const { id } = await api.ok('create', asked, 201);
		await api.stack.sql(`INSERT INTO urlmode.elicitation (id, provider, kind, subject, session, binding, requester, target_url, expires_at, status, opened_at)
			SELECT gen_random_uuid(), e.provider, e.kind, e.subject, e.session, e.binding, e.requester, e.target_url, e.expires_at, 'opened', now()
			FROM urlmode.elicitation e, generate_series(1, urlmode.max_open()) WHERE e.id = $1`, [id]);
		await api.stack.sql('DELETE FROM urlmode.elicitation WHERE id = $1', [id]);
		assert.deepEqual(await api.error('create', asked), [429, 'full']);
		await (await api.as('busy', 'busy')).ok('create', asked, 201); // of another tenant
	});
});

describe('tenants', () => {
	test('each key has the rows of its tenant alone', async () => {
		const shop = await api.as('shop', 'shop');
		const bank = await api.as('bank', 'bank');
		const asked = { ...PAYMENT, item: 'of-a-tenant', target_url: 'https://checkout.stripe.com/c/pay' };
		const [one, other] = [await shop.ok('create', asked, 201), await bank.ok('create', asked, 201)];
		assert.notEqual(one.id, other.id);
		assert.equal((await shop.ok('create', asked)).id, one.id);
		assert.equal((await rowOf(one.id)).tenant, 'shop');
		assert.notDeepEqual((await rowOf(one.id)).binding, (await rowOf(other.id)).binding);
		assert.equal((await api.call('create', asked)).status, 201, 'nor has the key without a tenant');
	});
});

describe('when PostgreSQL is away', () => {
	test('the answer is 503 with Retry-After, and the same call can be made again', async () => {
		await api.stack.service('stop', 'postgres');
		try {
			const { status, body, headers } = await api.call('create', ACCOUNT);
			assert.deepEqual([status, body.error.code, headers.get('retry-after')], [503, 'unavailable', '3']);
		} finally {
			await api.stack.service('start', 'postgres');
		}
		await until('it is served again', async () => (await api.call('create', ACCOUNT)).status === 201);
	});

	test('nginx without the program says so in JSON', async () => {
		await api.stack.service('stop', 'api');
		try {
			const { status, body, headers } = await api.call('create', ACCOUNT);
			assert.deepEqual([status, body.error.code, headers.get('retry-after')], [502, 'unavailable', '3']);
		} finally {
			await api.stack.service('start', 'api');
		}
	});
});
