// A call resumes an earlier elicitation only if both ask for the same; and an owner who
// creates many elicitations does not block other owners.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import { resumeKeyOf } from '../src/adapters/asking.js';
import { checkRequest } from '../src/core/create-options.js';
import { canonicalJson } from '../src/core/canonical-json.js';
import { DIGEST_BYTES, REQUEST_LABEL } from '../src/core/contract-seals.js';
import { digestOfRequest } from '../src/core/digest.js';
import { sha256 } from '../src/core/sha256.js';
import { payment, request, setUp, signature } from './support/database.js';

const newOwner = () => ({ subject: `user-${randomUUID()}` });

test('the digest of a request is that of the vectors', () => {
	const { cases } = JSON.parse(readFileSync(new URL('../../../tests/vectors/request.json', import.meta.url), 'utf8'));
	for (const { request: { expected = null, ...rest }, canonical, digest } of cases) {
		assert.equal(canonicalJson({ ...rest, expected: expected ?? undefined }), canonical);
		assert.equal(digestOfRequest({ expected, ...rest, mcpClient: rest.mcp_client }).toString('hex'), digest);
	}
});

test('the canonical form is that of the vectors', () => {
	const { cases, refused } = JSON.parse(readFileSync(new URL('../../../tests/vectors/canonical.json', import.meta.url), 'utf8'));
	for (const { value, text, request: digest } of cases) {
		assert.equal(canonicalJson(value), text);
		assert.equal(sha256(`${REQUEST_LABEL}\0${text}`, DIGEST_BYTES).toString('hex'), digest);
	}
	assert.equal(canonicalJson({ a: undefined, b: -0, c: [null] }), '{"b":0,"c":[null]}');
	let deep = [];
	for (let depth = 0; depth < 100_000; depth += 1) deep = [deep];
	const values = [...refused.map((text) => JSON.parse(text)), NaN, -Infinity, [undefined], 1n, () => {}, deep];
	for (const value of values) assert.throws(() => canonicalJson(value), TypeError);
});

test('the resume key of a call that gives none is that of the vectors', () => {
	const { resume_keys: keys } = JSON.parse(readFileSync(new URL('../../../tests/vectors/request.json', import.meta.url), 'utf8'));
	for (const { request: { message, ...rest }, canonical, key } of keys) {
		assert.equal(resumeKeyOf({ ...rest, message }), key);
		if (canonical === undefined) continue;
		const price = rest.expected === 'any' ? ['any'] : [rest.expected?.amount ?? null, rest.expected?.currency ?? null];
		assert.equal(canonicalJson([message, ...price]), canonical);
	}
	assert.equal(resumeKeyOf({ ...keys[0].request, resumeKey: 'own' }), 'own');
});

test('the digest of a form is that of the vectors, made of the options', () => {
	const { cases } = JSON.parse(readFileSync(new URL('../../../tests/vectors/request.json', import.meta.url), 'utf8'));
	const forms = cases.filter(({ request: { about } }) => about?.form?.title);
	assert.ok(forms.length >= 4);
	for (const { request: { about: { verify, four_eyes: fourEyes, ...about }, ...wanted }, digest } of forms) {
		const options = { ...wanted, ...about, ...fourEyes && { fourEyes }, ...verify && { verifyTimeout: 5_000 }, subject: 'ada' };
		assert.equal(checkRequest(options).request.toString('hex'), digest);
	}
	assert.ok(forms.some(({ request: { about } }) => about.verify));
});

test('the label of a button is a part of the form, and is what a label can be', () => {
	const wanted = { provider: 'intake', kind: 'input', form: { title: 'Key', fields: [{ name: 'api_key', type: 'secret', label: 'Key' }] } };
	const submitLabel = { en: 'Connect', de: 'Verbinden' };
	const { request, form } = checkRequest({ ...wanted, submitLabel });
	assert.deepEqual([request, form.submit_label], [checkRequest({ ...wanted, form: { ...wanted.form, submit_label: submitLabel } }).request, submitLabel]);
	assert.notDeepEqual(request, checkRequest(wanted).request);
	for (const label of ['', 'x'.repeat(41), 'a\nb', {}, { xx: 'a' }, 1]) {
		assert.throws(() => checkRequest({ ...wanted, submitLabel: label }), /form\/submit_label/);
	}
	assert.throws(() => checkRequest({ provider: 'a', kind: 'approval', form: { title: 'T' }, submitLabel: 'Yes' }), /submitLabel is only allowed/);
});

test('neither item nor resumeKey goes on with another kind, provider or client', async (t) => {
	const { urlmode, callback } = await setUp(t);
	const owner = newOwner();
	const thing = ({ kind }) => (kind === 'oauth' ? { resumeKey: 'credits' } : { item: 'credits' });
	const create = async (wanted) => (await urlmode.create({ ...wanted, ...owner, ...thing(wanted) })).elicitationId;
	const paid = await create(payment);
	await callback.paid(paid, owner);
	assert.equal(await create(payment), paid);
	assert.equal(await create({ ...payment, expected: 'any' }), paid, 'it is paid, whatever the price is today');
	const others = [
		{ ...payment, about: { client: 'a' } }, { ...payment, provider: 'other' }, signature,
		request, { ...request, about: { client: 'a' } }, { ...request, about: { client: 'b' } },
	];
	const ids = [];
	for (const wanted of others) ids.push(await create(wanted));
	assert.equal(new Set([paid, ...ids]).size, others.length + 1, 'each is an elicitation of its own');
	for (const [n, wanted] of others.entries()) assert.equal(await create(wanted), ids[n], 'which the same request resumes');
	assert.equal(await create({ ...request, about: { client: 'a', scopes: undefined } }), ids[4]);
	assert.equal((await urlmode.unclaimed()).some(({ elicitationId }) => elicitationId === paid), true, 'it stays listed');
});

test('only the checkout that targetUrl has made pays', async (t) => {
	const { urlmode, callback } = await setUp(t);
	const owner = newOwner();
	const { elicitationId: id } = await urlmode.create({
		...payment, ...owner, targetUrl: () => ({ url: 'https://shop.example/pay', checkout: 'cs_ours' }),
	});
	const listed = async () => (await urlmode.unclaimed()).filter(({ subject }) => subject === owner.subject).map(({ reference }) => reference);
	assert.equal(await callback.paid(id, { ...owner, reference: `pi_${id}`, checkout: 'cs_theirs' }), 'other_checkout');
	assert.equal(await callback.paid(id, { ...owner, reference: `pi_${id}` }), 'recheck');
	assert.deepEqual(await listed(), []);
	assert.equal(await callback.paid(id, { ...owner, reference: `pi_${id}`, checkout: 'cs_ours' }), 'accept');
	assert.deepEqual(await listed(), [`pi_${id}`]);
	await assert.rejects(urlmode.create({ ...request, ...owner, targetUrl: { url: 'https://a.example/', checkout: 'cs_1' } }),
		/^TypeError: checkout is only allowed for kind payment$/);
});

test('a payment that was written down under its checkout is not counted again under its own reference', async (t) => {
	const { urlmode, callback } = await setUp(t);
	const owner = newOwner();
	const { elicitationId: id } = await urlmode.create({ ...payment, ...owner });
	const [session, intent] = [`cs_${id}`, `pi_${id}`];
	await callback.paid(id, { ...owner, reference: session });
	assert.equal(await callback.paid(id, { ...owner, reference: intent, checkout: session }), 'repeated');
	await callback.event(id, 'refunded', { reference: intent, amount: 50 });
	const mine = (await urlmode.unclaimed()).filter(({ subject }) => subject === owner.subject);
	assert.deepEqual(mine.map(({ reference, refunded }) => [reference, refunded]), [[intent, 50]]);
});

test('what went back before a payment got its own reference is known of it', async (t) => {
	const { urlmode, callback } = await setUp(t);
	const owner = newOwner();
	const { elicitationId: id } = await urlmode.create({ ...payment, ...owner });
	await callback.paid(id, { ...owner, reference: `cs_${id}` });
	await callback.event(id, 'refunded', { reference: `pi_${id}`, amount: null });
	assert.equal(await callback.paid(id, { ...owner, reference: `pi_${id}`, checkout: `cs_${id}` }), 'repeated');
	assert.deepEqual((await urlmode.unclaimed()).filter(({ subject }) => subject === owner.subject), []);
});

test('the total that went back of a payment counts once, also after it got its own reference', async (t) => {
	const { urlmode, callback } = await setUp(t);
	const owner = newOwner();
	const { elicitationId: id } = await urlmode.create({ ...payment, ...owner });
	await callback.paid(id, { ...owner, reference: `cs_${id}` });
	await callback.event(id, 'refunded', { reference: `cs_${id}`, amount: 300 });
	await callback.event(id, 'refunded', { reference: `cs_${id}`, refund: `dispute_${id}`, amount: 50 });
	await callback.paid(id, { ...owner, reference: `pi_${id}`, checkout: `cs_${id}` });
	await callback.event(id, 'refunded', { reference: `pi_${id}`, amount: 400 });
	const mine = async () => (await urlmode.unclaimed()).filter(({ subject }) => subject === owner.subject).map(({ reference, refunded }) => [reference, refunded]);
	assert.deepEqual(await mine(), [[`pi_${id}`, 450]]);
});

test('a call goes on with a payment that gets its own reference meanwhile', async (t) => {
	const { urlmode, callback } = await setUp(t);
	const owner = newOwner();
	const { elicitationId: id } = await urlmode.create({ ...payment, ...owner });
	await callback.paid(id, { ...owner, reference: `cs_${id}` });
	const claimed = await urlmode.beginClaim(id, owner);
	await callback.paid(id, { ...owner, reference: `pi_${id}`, checkout: `cs_${id}` });
	await claimed.fulfil('done');
	assert.equal((await urlmode.beginClaim(id, owner)).state, 'fulfilled');
	assert.equal(await claimed.confirm(), true);
	assert.equal((await urlmode.beginClaim(id, owner)).state, 'taken');
});

test('a checkout that the webhook has told of by the payment\'s reference is not paid once more by its own', async (t) => {
	const { urlmode, callback } = await setUp(t);
	const owner = newOwner();
	const checkout = `cs_${randomUUID()}`;
	const { elicitationId: id } = await urlmode.create({
		...payment, ...owner, targetUrl: () => ({ url: 'https://shop.example/pay', checkout }),
	});
	assert.equal(await callback.paid(id, { ...owner, reference: `pi_${id}`, checkout }), 'accept');
	assert.equal(await urlmode.complete(id, { ...owner, action: 'accept', ...payment.expected, reference: checkout }), false);
	const mine = (await urlmode.unclaimed()).filter(({ subject }) => subject === owner.subject);
	assert.deepEqual(mine.map(({ reference }) => reference), [`pi_${id}`]);
});

test('an owner has a thousand open: the oldest that nobody has opened makes room', async (t) => {
	const { urlmode, callback, admin } = await setUp(t);
	const owner = newOwner();
	const ids = [];
	for (let n = 0; n < 2; n += 1) ids.push((await urlmode.create({ ...request, ...owner })).elicitationId);
	await Promise.all(Array.from({ length: 998 }, () => urlmode.create({ ...request, ...owner })));
	await callback.open(ids[0], owner);
	await urlmode.create({ ...request, ...owner });
	const reasons = async () => (await admin.query('SELECT id, reason FROM urlmode.elicitation WHERE subject = $1 AND status = $2', [owner.subject, 'completed'])).rows;
	assert.deepEqual(await reasons(), [{ id: ids[1], reason: 'superseded' }]);
	await admin.query("UPDATE urlmode.elicitation SET status = 'opened' WHERE subject = $1 AND status = 'pending'", [owner.subject]);
	await assert.rejects(urlmode.create({ ...request, ...owner }), { code: 'ELICITATION_LIMIT' });
	assert.equal(typeof (await urlmode.create({ ...request, ...newOwner() })).elicitationId, 'string');
});

test('one who creates holds up nobody else, also not in one batch', async (t) => {
	const { urlmode, admin } = await setUp(t);
	const [loud, other] = [newOwner(), newOwner()];
	await admin.query('BEGIN');
	const { elicitationId: first } = await urlmode.create({ ...request, ...loud, resumeKey: 'a' });
	const { rows: [{ binding }] } = await admin.query('SELECT binding FROM urlmode.elicitation WHERE id = $1', [first]);
	await admin.query("SELECT pg_advisory_xact_lock(hashtextextended('urlmode owner ' || encode($1, 'hex'), 0))", [binding]);
	let created = false;
	const waiting = urlmode.create({ ...request, ...loud, resumeKey: 'b' }).then(() => (created = true));
	await urlmode.create({ ...request, ...other, resumeKey: 'b' });
	assert.equal(created, false);
	await admin.query('COMMIT');
	await waiting;
});

test('a checkout is paid once, whoever tells of it first, and by which of its two names', async (t) => {
	const { urlmode, callback } = await setUp(t);
	const tell = {
		webhook: ({ id, checkout }, owner) => callback.paid(id, { ...owner, reference: `pi_${id}`, checkout }),
		'webhook of the checkout': ({ id, checkout }, owner) => callback.paid(id, { ...owner, reference: checkout, checkout }),
		'complete with the checkout': ({ id, checkout }, owner) => urlmode.complete(id, { ...owner, action: 'accept', ...payment.expected, reference: checkout }),
		'complete with the payment': ({ id }, owner) => urlmode.complete(id, { ...owner, action: 'accept', ...payment.expected, reference: `pi_${id}` }),
	};
	for (const first of Object.keys(tell)) {
		for (const then of Object.keys(tell)) {
			const owner = newOwner();
			const checkout = `cs_${randomUUID()}`;
			const { elicitationId: id } = await urlmode.create({
				...payment, ...owner, targetUrl: () => ({ url: 'https://shop.example/pay', checkout }),
			});
			assert.ok([true, 'accept'].includes(await tell[first]({ id, checkout }, owner)), first);
			assert.ok([false, 'repeated'].includes(await tell[then]({ id, checkout }, owner)), `${first}, ${then}`);
			const references = (await urlmode.unclaimed()).filter(({ subject }) => subject === owner.subject).map(({ reference }) => reference);
			const isNamed = [first, then].some((name) => ['webhook', 'complete with the payment'].includes(name));
			assert.deepEqual(references, [isNamed ? `pi_${id}` : checkout], `${first}, ${then}`);
			assert.equal(await urlmode.claim(id, owner), true);
			assert.equal(await urlmode.claim(id, owner), false, `${first}, ${then}`);
		}
	}
});
