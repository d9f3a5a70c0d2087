// What users have for their own tests: the double, and a temporary database.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import test from 'node:test';

import pg from 'pg';

import { withElicitation } from '../src/adapters/sdk2.js';
import { UrlMode } from '../src/index.js';
import { accept, approve, decline, expire, hold, ScriptedUrlMode, temporaryDatabase, typeIn } from '../src/testing.js';
import { linkCall, sessionCall } from './support/calls.js';
import { requireUrl } from './support/database.js';

const PAYMENT = {
	provider: 'stripe', kind: 'payment', subject: 'ada', item: 'report:42', expected: { amount: 1050, currency: 'EUR' },
	targetUrl: ({ elicitationId }) => `https://checkout.example/?reference=${elicitationId}`,
};

test('a tool of a user ends as the test says, and its client is asked', async (t) => {
	const urlmode = new ScriptedUrlMode([accept({ reference: 'cs_1' }), accept({ amount: 2000 }), decline(), expire(), hold()]);
	t.after(() => urlmode.close());
	const said = [];
	for (let n = 0; n < 5; n += 1) {
		const { server, call, asked } = sessionCall({ answer: () => 'accept' });
		const result = await withElicitation({ ...PAYMENT, urlmode, message: '10.50 EUR', server, call }, ({ reference, amount, currency }) => (
			{ content: [{ type: 'text', text: `Paid ${amount} ${currency} with ${reference}.` }] }));
		assert.match(asked[0].url, /^https:\/\/callback\.example\/connect\/stripe\?state=/);
		said.push(result.content[0].text);
	}
	assert.match(said.pop(), /^Not done: it was paid, but another amount than was asked for, or a part of it may have gone back/);
	assert.deepEqual(said, [
		'Paid 1050 EUR with cs_1.', `Paid 2000 EUR with test_${urlmode.created[1]}.`, 'Not done: declined.', 'Not done: nobody completed it in time.',
	]);
});

test('the methods end as the test says, and check what they are given', async (t) => {
	const form = { title: 'Your key', fields: [{ name: 'key', type: 'secret', label: 'Key' }] };
	const urlmode = new ScriptedUrlMode([accept({ result: { event: 'e' } }), typeIn({ key: '12345' }), approve('eve', 'Fine.')]);
	t.after(() => urlmode.close());
	const ask = async (options) => {
		const { elicitationId } = await urlmode.create({ subject: 'ada', ...options });
		return urlmode.waitForCompletion(elicitationId, { subject: 'ada', timeout: 10 });
	};
	const paid = await ask(PAYMENT);
	assert.deepEqual([paid.action, paid.result, paid.amount, paid.expected], ['accept', { event: 'e' }, 1050, { amount: 1050, currency: 'EUR' }]);
	const claim = await urlmode.beginClaim(paid.elicitationId, { subject: 'ada' });
	assert.equal(claim.state, 'begun');
	assert.deepEqual([await claim.fulfil('done'), await claim.confirm()], [true, true]);
	assert.deepEqual((await ask({ provider: 'intake', kind: 'input', form })).result, { values: { key: '12345' } });
	const decided = await ask({ provider: 'approvals', kind: 'approval', form: { title: 'Sure?' }, approver: 'others' });
	assert.deepEqual([decided.approver, decided.comment], ['eve', 'Fine.']);
	await assert.rejects(ask(PAYMENT), { code: 'ELICITATION_TIMEOUT' });
	await assert.rejects(urlmode.beginClaim(urlmode.created.at(-1), { subject: 'ada' }), { code: 'ELICITATION_OPEN' });
	await assert.rejects(urlmode.create({ ...PAYMENT, item: undefined }), /item is required/);
	assert.deepEqual([await urlmode.unclaimed(), await urlmode.paid({ subject: 'ada', item: 'report:42' })], [[], false]);
});

test('a temporary database is a real one with what the migrations make, and is dropped', async () => {
	const adminUrl = requireUrl('URLMODE_ADMIN_DATABASE_URL');
	const both = await Promise.all([temporaryDatabase(adminUrl), temporaryDatabase(adminUrl)]); // as test processes have them
	const names = both.map(({ url }) => new URL(url).pathname.slice(1));
	const keys = `1 ${randomBytes(32).toString('base64')}\n`;
	for (const { url } of both) {
		const urlmode = new UrlMode({ databaseUrl: url, keys, baseUrl: 'https://callback.example' });
		const { elicitationId: id } = await urlmode.create(PAYMENT);
		const waiting = urlmode.waitForCompletion(id, { subject: 'ada' });
		await urlmode.complete(id, { subject: 'ada', action: 'accept', reference: 'cs_1', amount: 1050, currency: 'EUR' });
		assert.equal((await waiting).reference, 'cs_1');
		assert.equal((await withElicitation({ ...PAYMENT, urlmode, message: 'Pay.', ...linkCall() }, async () => ({ content: [{ type: 'text', text: 'Done.' }] }))).content[0].text, 'Done.');
		await urlmode.close();
	}
	const objects = 'SELECT kind, name, holder, digest FROM urlmode.object ORDER BY 1, 2, 3';
	const [made, wanted] = await Promise.all([both[0].url.replace(/\?.*/, ''), adminUrl].map((url) => rowsOf(url, objects)));
	assert.deepEqual(made, wanted);
	await assert.rejects(rowsOf(both[0].url, 'SELECT FROM urlmode.elicitation'), /permission denied/);
	await Promise.all(both.map(({ drop }) => drop()));
	assert.deepEqual(await rowsOf(adminUrl, `SELECT FROM pg_database WHERE datname IN ('${names.join("', '")}')`), []);
});

async function rowsOf(connectionString, statement) {
	const client = new pg.Client({ connectionString });
	await client.connect();
	try {
		return (await client.query(statement)).rows;
	} finally {
		await client.end();
	}
}
