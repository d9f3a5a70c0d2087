// The page of kinds input and approval, through nginx: what it shows, what it
// takes, and how a value is checked.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';

import { openFixture } from '../support/fixture.mjs';
import { openForms } from '../support/forms.mjs';
import { request } from '../support/http.mjs';
import { assertSecurityHeaders } from '../support/pages.mjs';
import { until } from '../support/wait.mjs';

const SECRET = 'sk_live_1234567890abcdef';

const FORM = {
	title: { en: 'Connect the shop', de: 'Den Laden verbinden' },
	text: 'Line 1\nLine <2>',
	facts: [{ label: 'Shop', value: 'Books & Co' }],
	fields: [
		{ name: 'api_key', type: 'secret', label: { en: 'API key', de: 'Schlüssel' }, help: 'Under Developers', required: true,
			link: { url: 'https://shop.example/keys?a=1&b=2', label: 'Get a key' }, format: 'token' },
		{ name: 'mail', type: 'email', label: 'E-mail' },
		{ name: 'region', type: 'choice', label: 'Region', choices: [{ value: 'eu', label: 'Europe' }, { value: 'us', label: 'America' }], default: 'us' },
		{ name: 'notes', type: 'multiline', label: 'Notes' },
		{ name: 'terms', type: 'checkbox', label: 'I agree' },
	],
};

let fixture, forms;

before(async () => {
	fixture = await openFixture({ name: 'forms' });
	forms = fixture.closeAtEnd(await openForms(fixture.stack));
});

after(() => fixture?.close());

const input = (more) => forms.create({ form: FORM, ...more });
const status = async ({ id }) => (await fixture.stack.sql('SELECT status FROM urlmode.elicitation WHERE id = $1', [id]))[0].status;
const control = (page, id) => ['input', 'textarea', 'select'].flatMap((tag) => page.document.find(tag))
	.find(({ attributes }) => attributes.id === `f-${id}`)?.attributes;
const wrong = (page) => Object.fromEntries(page.document.find('span').filter(({ attributes }) => attributes.class === 'wrong')
	.map(({ attributes, text }) => [attributes.id.slice(2), text]));

describe('the page', () => {
	test('says who asks, for whom, and what; the link alone changes nothing', async () => {
		const row = await input();
		const { page, hop } = await forms.visit(row);
		assert.equal(hop.status, 303);
		assert.equal(page.status, 200);
		for (const text of ['Notes <server>', row.subject, 'Connect the shop', 'Line <2>', 'Books & Co', 'API key', 'Under Developers', 'Get a key', 'decline']) {
			assert.ok(page.document.text.includes(text), text);
		}
		assert.equal(await status(row), 'pending');
	});

	test("has the server's own verb on its button; the buttons of an approval are ours, and say what they are about", async () => {
		const options = { provider: 'intake', kind: 'input', subject: 'ann', form: FORM, submitLabel: { en: 'Connect <it>', de: 'Verbinden' } };
		const buttons = async (form, language) => {
			const { page } = await forms.visit(form, { headers: { 'Accept-Language': language } });
			return page.document.find('button').filter(({ attributes }) => attributes.name === 'answer')
				.map(({ text, attributes }) => [attributes.value, text, attributes['aria-describedby']]);
		};
		const { url, elicitationId: id } = await fixture.urlmode.create(options);
		assert.deepEqual(await buttons({ id, url }, 'en'), [['submit', 'Connect <it>', undefined], ['decline', 'Decline', undefined]]);
		assert.deepEqual((await buttons({ id, url }, 'de'))[0], ['submit', 'Verbinden', undefined]);
		assert.deepEqual((await buttons({ id, url }, 'fr'))[0], ['submit', 'Connect <it>', undefined]);
		assert.deepEqual((await buttons(await input(), 'en'))[0], ['submit', 'Send', undefined]);
		const approval = await forms.create({ kind: 'approval', form: { title: 'Expense' } });
		assert.deepEqual(await buttons(approval, 'en'), [['approve', 'Approve', 'what'], ['decline', 'Decline', 'what']]);
		const { page } = await forms.visit(approval);
		assert.deepEqual(page.document.find('h1').map(({ text, attributes }) => [attributes.id, text]), [['what', 'Expense']]);
	});

	test('has one script, where there is a secret to show, is not stored, and weighs less than 15 KB', async () => {
		const { page } = await forms.visit(await input());
		assertSecurityHeaders(page);
		assert.equal(page.headers['cache-control'], 'no-store');
		const [, script, ...more] = page.body.split(/<\/?script>/);
		assert.equal(more.length, 1);
		assert.match(page.headers['content-security-policy'], /form-action 'self'/);
		assert.ok(page.headers['content-security-policy'].includes(`script-src 'sha256-${createHash('sha256').update(script).digest('base64')}'`));
		const approval = (await forms.visit(await forms.create({ kind: 'approval', form: { title: 'Expense' } }))).page;
		assert.doesNotMatch(approval.body, /<script/i);
		for (const { headers } of [page, approval]) assert.doesNotMatch(headers['content-security-policy'], /unsafe/);
		assert.doesNotMatch(approval.headers['content-security-policy'], /script-src/);
		assert.ok(Buffer.byteLength(page.body) < 15_000, `${Buffer.byteLength(page.body)} bytes`);
	});

	test('in a second tab says that there is a first one, and takes what is sent; loaded again in the first, it does not', async () => {
		const notice = /opened this in this browser before/;
		const row = await input();
		const first = await forms.visit(row);
		const cookie = [first.headers.Cookie, ...first.page.headers['set-cookie'].map((text) => text.split(';')[0])].join('; ');
		const second = await forms.visit(row, { headers: { Cookie: cookie } });
		const [one, other] = [first, second].map((tab) => ({ ...tab, headers: { Cookie: cookie } }));
		assert.notEqual(one.state, other.state);
		for (const [page, told] of [[first.page, false], [await forms.look(one), false], [await forms.look(other), true],
			[await forms.send(other, { 'field.mail': 'zoe', answer: 'submit' }), true]]) {
			assert.equal(notice.test(page.document.text), told);
		}
		assert.equal((await forms.send(other, { 'field.api_key': SECRET, answer: 'submit' })).headers.location, '/done');
		assert.match((await forms.send(one, { 'field.api_key': 'sk_live_other', answer: 'submit' })).document.text, /Already done.*perhaps in another tab/);
		assert.equal((await forms.result(row)).values.api_key, SECRET);
	});

	test('gives each field its type, and screen readers its help', async () => {
		const { page } = await forms.visit(await input());
		const { type, autocomplete, required, value, 'aria-describedby': described } = control(page, 'api_key');
		assert.deepEqual([type, autocomplete, required, value, described], ['password', 'off', '', undefined, 'h-api_key']);
		assert.deepEqual([control(page, 'mail').type, control(page, 'mail').autocomplete, control(page, 'mail').inputmode], ['email', 'email', 'email']);
		assert.equal(control(page, 'terms').type, 'checkbox');
		assert.ok(page.document.find('label').some(({ attributes }) => attributes.for === 'f-notes'));
		assert.equal(page.document.find('option').find(({ attributes }) => attributes.selected === '').attributes.value, 'us');
		const link = page.document.find('a').find(({ text }) => text === 'Get a key').attributes;
		assert.deepEqual([link.href, link.rel], ['https://shop.example/keys?a=1&b=2', 'noopener noreferrer']);
	});

	test('is in the language of its reader, and says so of each text that is not', async () => {
		const visit = await forms.visit(await input(), { headers: { 'Accept-Language': 'de-AT' } });
		assert.ok(visit.page.document.text.includes('Den Laden verbinden') && visit.page.document.text.includes('bittet Sie um Folgendes.'));
		assert.ok(/<p class="lines" lang="en" dir="ltr">/.test(visit.page.body));
		const arabic = await forms.look({ ...visit, headers: { ...visit.headers, 'Accept-Language': 'ar' } });
		assert.ok(/<html lang="ar" dir="rtl">/.test(arabic.body) && /<h1 id="what" lang="en" dir="ltr">Connect the shop/.test(arabic.body));
	});

	test('of a definition that is broken is an error, and the log says where', async () => {
		const row = await forms.create({ form: { title: 'T', fields: [{ name: 'a', type: 'text', label: 'L', hint: 'secret words' }] } });
		const { page } = await forms.visit(row);
		assert.deepEqual([page.status, page.reason], [500, 'internal_error']);
		const line = await until('it is logged', async () => (await fixture.stack.programLog()).find(({ elicitation, program, detail }) => elicitation === row.id && program === 'form' && detail));
		assert.match(line.detail, /^form\/fields\/0\/hint is not allowed here\. Allowed are name, type/);
	});
});

describe('an answer', () => {
	test('is sealed as the result, once, and the page after it has a clean address', async () => {
		const row = await input();
		const visit = await forms.visit(row);
		const fields = { 'field.api_key': SECRET, 'field.mail': ' zoe@example.com ', 'field.region': 'eu', 'field.notes': 'a\r\nb', answer: 'submit' };
		const answer = await forms.send(visit, fields);
		assert.deepEqual([answer.status, answer.headers.location], [303, '/done']);
		assert.deepEqual(await forms.result(row), { values: { api_key: SECRET, mail: 'zoe@example.com', region: 'eu', notes: 'a\nb', terms: false } });
		const again = await forms.send(visit, { ...fields, 'field.api_key': 'sk_live_other' });
		assert.deepEqual([again.status, again.document.title.includes('Already done')], [200, true]);
		assert.equal((await forms.result(row)).values.api_key, SECRET);
		assert.ok((await forms.look(visit)).document.title.includes('All done'));
		assert.ok((await forms.visit(row)).page.document.title.includes('Already done'), 'another browser');
	});

	test('can be a private key, byte for byte', async () => {
		// Two, which are as long as one of 4,096 bits.
		const privateKey = [1, 2].map((n) => readFileSync(new URL(`../unit/keys/rsa-${n}.pem`, import.meta.url), 'utf8')).join('');
		const row = await forms.create({ form: { title: 'T', fields: [{ name: 'pem', type: 'secret', multiline: true, label: 'Key' }] } });
		const visit = await forms.visit(row);
		await forms.send(visit, { 'field.pem': privateKey.replaceAll('\n', '\r\n'), answer: 'submit' });
		assert.deepEqual(await forms.result(row), { values: { pem: privateKey } });
	});

	test('with a mistake never shows a secret of several lines', async () => {
		const row = await forms.create({ form: { title: 'T', fields: [{ name: 'pem', type: 'secret', multiline: true, label: 'Key', max: 8 }] } });
		const page = await forms.send(await forms.visit(row), { 'field.pem': 'S3cr3t\r\nS3cr3t', answer: 'submit' });
		assert.deepEqual([page.status, page.body.includes('S3cr3t')], [422, false]);
	});

	test('with mistakes comes back with them at their fields, and without its secret', async () => {
		const row = await input();
		const visit = await forms.visit(row);
		const page = await forms.send(visit, { 'field.api_key': 'pk S3cr3t', 'field.mail': 'zoe', 'field.region': 'eu', 'field.notes': '\nx <y>', 'field.terms': 'on', answer: 'submit' });
		assert.equal(page.status, 422);
		assert.deepEqual(wrong(page), { api_key: 'This does not have the expected form.', mail: 'Please enter an e-mail address.' });
		assert.ok(!page.body.includes('S3cr3t'));
		assert.deepEqual([control(page, 'mail').value, control(page, 'api_key').value, control(page, 'terms').checked], ['zoe', undefined, '']);
		assert.deepEqual([control(page, 'mail')['aria-invalid'], control(page, 'mail')['aria-describedby']], ['true', 'e-mail']);
		assert.deepEqual([control(page, 'api_key').autofocus, control(page, 'mail').autofocus], ['', undefined]);
		assert.match(page.body, /<textarea[^>]*>\n\nx &lt;y&gt;<\/textarea>/);
		assert.ok(page.document.find('p').some(({ attributes, text }) => attributes.role === 'alert' && text.includes('Nothing was stored')));
		assert.deepEqual([await status(row), await forms.result(row)], ['pending', null]);
		const [line] = (await fixture.stack.programLog()).filter(({ elicitation, status: code }) => elicitation === row.id && code === 422);
		assert.deepEqual([line.outcome, line.reason], ['refused', 'values_invalid']);
	});

	test('of nine long fields, which no result holds, names the field that is to be shortened', async () => {
		const names = [...'abcdefghi'];
		const row = await forms.create({ form: { title: 'T', fields: names.map((name) => ({ name, type: 'multiline', label: name })) } });
		const visit = await forms.visit(row);
		const typed = (length) => Object.fromEntries([...names.map((name) => [`field.${name}`, 'x'.repeat(name === 'c' ? 8_192 : length)]), ['answer', 'submit']]);
		const page = await forms.send(visit, typed(8_000));
		assert.deepEqual([page.status, wrong(page)], [422, { c: 'Together, the answers are too long. Please shorten this one.' }]);
		assert.equal((await forms.send(visit, typed(7_000))).status, 303);
	});

	test('can be no', async () => {
		const row = await input();
		const answer = await forms.send(await forms.visit(row), { 'field.api_key': '', 'field.mail': 'half', answer: 'decline' });
		assert.deepEqual([answer.status, answer.headers.location], [303, '/done']);
		const [{ action, reason, result }] = await fixture.stack.sql('SELECT action, reason, result FROM urlmode.elicitation WHERE id = $1', [row.id]);
		assert.deepEqual([action, reason, result], ['decline', 'access_denied', null]);
	});

	test('is in no log', async () => {
		const log = JSON.stringify(await fixture.stack.programLog());
		assert.ok(!log.includes(SECRET) && !log.includes('S3cr3t') && !log.includes('zoe@'));
	});
});

describe('what is refused', () => {
	const good = { 'field.api_key': SECRET, answer: 'submit' };
	const long = 'x'.repeat(40_000);

	for (const [name, fields, code, reason, headers] of [
		['a form of another site', good, 403, 'cross_site', { 'Sec-Fetch-Site': 'cross-site' }],
		['a form of a site beside', good, 403, 'cross_site', { 'Sec-Fetch-Site': 'same-site' }],
		['another browser', good, 403, 'wrong_browser', { Cookie: '__Host-urlmode=AAECAwQFBgcICQoLDA0ODw' }],
		['a browser without cookies', good, 403, 'wrong_browser', { Cookie: '' }],
		['a field that the form does not have', { ...good, 'field.other': '1' }, 400, 'field_unknown'],
		['a parameter that is no field', { ...good, admin: '1' }, 400, 'field_unknown'],
		['a comment', { ...good, comment: 'x' }, 400, 'field_unknown'],
		['a field twice', [...Object.entries(good), ['field.api_key', 'x']], 400, 'duplicate_parameter'],
		['the state twice', [...Object.entries(good), ['state', 'x']], 400, 'duplicate_parameter'],
		['no answer', { 'field.api_key': SECRET }, 400, 'answer_invalid'],
		['the answer of an approval', { ...good, answer: 'approve' }, 400, 'answer_invalid'],
		['a NUL', { ...good, 'field.api_key': 'a\0b' }, 400, 'malformed_parameters'],
		['a field of 40,000 characters', { ...good, 'field.notes': long }, 400, 'parameters_too_large'],
		['too many fields', [...Object.entries(good), ...Array.from({ length: 128 }, (_, n) => [`f${n}`, ''])], 400, 'parameters_too_large'],
		['a form with an attachment', good, 415, 'unsupported_media_type', { 'Content-Type': 'multipart/form-data; boundary=x' }],
		['JSON', good, 415, 'unsupported_media_type', { 'Content-Type': 'application/json' }],
	]) {
		test(`${name}: ${reason}`, async () => {
			const row = await input();
			const answer = await forms.send(await forms.visit(row), fields, headers);
			assert.deepEqual([answer.status, answer.reason], [code, reason]);
			assert.ok(!answer.body.includes(SECRET));
			assert.deepEqual([await status(row), await forms.result(row)], ['pending', null]);
		});
	}

	for (const [name, value, mistake] of [
		['a bidi control', 'sk_live_a\u202eb', 'This contains a character that is not allowed.'],
		['a control character', 'sk_live_a\u0007', 'This contains a character that is not allowed.'],
		['more characters than the field takes', `sk_live_${'a'.repeat(1_000)}`, 'This can have at most 1000 characters.'],
	]) {
		test(`${name} is a mistake of its field`, async () => {
			const row = await input();
			const page = await forms.send(await forms.visit(row), { ...good, 'field.api_key': value });
			assert.deepEqual([page.status, wrong(page)], [422, { api_key: mistake }]);
			assert.equal(await status(row), 'pending');
		});
	}

	test('bytes that are no UTF-8: malformed_parameters', async () => {
		const visit = await forms.visit(await input());
		const answer = await request(visit.address.split('?')[0], { method: 'POST', body: `state=${visit.state}&field.api_key=%FF&answer=submit`,
			headers: { ...visit.headers, 'Content-Type': 'application/x-www-form-urlencoded' } });
		assert.deepEqual([answer.status, answer.reason], [400, 'malformed_parameters']);
	});

	test('a state in the query of a form: query_and_form', async () => {
		const visit = await forms.visit(await input());
		const answer = await request(visit.address, { method: 'POST', body: `state=${visit.state}&answer=decline`,
			headers: { ...visit.headers, 'Content-Type': 'application/x-www-form-urlencoded' } });
		assert.deepEqual([answer.status, answer.reason], [400, 'query_and_form']);
	});

	test('256 KB of fields come to the program; a byte more, 1 MB and a field of a million characters do not: 413', async () => {
		const row = await input();
		const visit = await forms.visit(row);
		const size = (fields) => new URLSearchParams({ state: visit.state, ...fields }).toString().length;
		const most = Object.fromEntries([['answer', 'submit'], ...Array.from({ length: 9 }, (_, n) => [`f${n}`, 'x'.repeat(29_000)])]);
		most.f0 += 'x'.repeat(262_144 - size(most));
		const requests = [];
		for (const fields of [{ ...most, f1: `${most.f1}x` }, { 'field.notes': 'x'.repeat(1_000_000), answer: 'submit' },
			Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`f${n}`, long]))]) {
			const answer = await forms.send(visit, fields);
			assert.equal(answer.status, 413);
			requests.push(answer.headers['x-request-id']);
		}
		const taken = await forms.send(visit, most);
		assert.deepEqual([taken.status, taken.reason], [400, 'field_unknown']);
		const logged = async () => (await fixture.stack.programLog()).map(({ request: id }) => id);
		await until('the program logs it', async () => (await logged()).includes(taken.headers['x-request-id']));
		assert.deepEqual((await logged()).filter((id) => requests.includes(id)), [], 'the web server refuses them');
		assert.equal(await status(row), 'pending');
	});

	test('another method: method_not_allowed', async () => {
		const visit = await forms.visit(await input());
		for (const method of ['PUT', 'DELETE', 'HEAD']) {
			assert.equal((await request(visit.address, { method, headers: visit.headers })).status, 405);
		}
	});

	test('a token for another purpose, and a provider of another kind', async () => {
		const row = await input();
		const visit = await forms.visit(row);
		const link = new URL(row.url).searchParams.get('state');
		const refused = async (address, headers = visit.headers) => (await request(`${fixture.stack.baseUrl}${address}`, { headers })).reason;
		assert.equal(await refused(`/form/intake?state=${link}`), 'state_invalid');
		assert.equal(await refused(`/form/approvals?state=${visit.state}`), 'state_invalid');
		assert.equal(await refused(`/form/demo?state=${visit.state}`), 'unknown_provider');
		assert.equal(await refused(`/form/nobody?state=${visit.state}`), 'unknown_provider');
		assert.equal(await refused(`/connect/intake?state=${visit.state}`), 'state_invalid');
		assert.equal(await refused('/form/intake'), 'state_missing');
		assert.equal(await refused('/form/'), 'unknown_route');
	});

	test('an answer to the confirm page, which these kinds do not have', async () => {
		const row = await input();
		const answer = await request(row.url.split('?')[0], { method: 'POST', body: `state=${new URL(row.url).searchParams.get('state')}&answer=continue`,
			headers: { 'Content-Type': 'application/x-www-form-urlencoded' } });
		assert.deepEqual([answer.status, answer.reason], [405, 'method_not_allowed']);
		assert.equal(await status(row), 'pending');
	});

	test('a form that nobody can answer any more says how it ended, to whoever comes', async () => {
		const heading = (page) => page.document.find('h1')[0].text;
		for (const [kind, answer] of [['input', good], ['approval', { answer: 'approve' }]]) {
			const row = await forms.create({ kind, form: kind === 'input' ? FORM : { title: 'Terms' } });
			const visit = await forms.visit(row);
			await fixture.urlmode.cancel(row.id, { subject: row.subject, reason: 'not_needed' });
			const pages = [await forms.look(visit), await forms.send(visit, answer), (await forms.visit(row)).page];
			assert.deepEqual(pages.map((page) => [page.status, heading(page)]), pages.map(() => [200, 'This request has ended']), kind);
		}
	});

	test('a form that was declined says so to the browser that declined it, and nothing of it to another one', async () => {
		const row = await input();
		const visit = await forms.visit(row);
		await forms.send(visit, { 'field.api_key': '', answer: 'decline' });
		const pages = [await forms.look(visit), await forms.send(visit, good), (await forms.visit(row)).page];
		assert.deepEqual(pages.map((page) => [page.status, page.document.find('h1')[0].text]), [[200, 'Declined'], [200, 'Already done'], [200, 'Already done']]);
		assert.equal(await forms.result(row), null);
	});

	test('a decision after another one: it says who has decided, and how', async () => {
		const row = await forms.create({ kind: 'approval', form: { title: 'Terms', comment: 'optional' } });
		const visit = await forms.visit(row);
		await forms.send(visit, { comment: 'No, thank you', answer: 'decline' });
		for (const page of [await forms.look(visit), await forms.send(visit, { comment: '', answer: 'approve' }), (await forms.visit(row)).page]) {
			assert.ok(page.document.text.includes(`${row.subject} has declined this`), page.document.text);
			assert.ok(!page.body.includes('No, thank you'));
		}
		const [{ action }] = await fixture.stack.sql('SELECT action FROM urlmode.elicitation WHERE id = $1', [row.id]);
		assert.equal(action, 'decline');
	});

	test('a form after its end', async () => {
		const row = await input();
		const visit = await forms.visit(row);
		await fixture.stack.sql("UPDATE urlmode.elicitation SET expires_at = now() - interval '1 second' WHERE id = $1", [row.id]);
		const answer = await forms.send(visit, good);
		assert.deepEqual([answer.status, answer.reason], [410, 'expired']);
		assert.equal(await forms.result(row), null);
	});
});

describe('a value that the MCP server checks', () => {
	const send = async (row, visit, key = SECRET) => forms.send(visit, { 'field.api_key': key, answer: 'submit' });
	const follow = async (visit) => JSON.parse((await request(`${fixture.stack.baseUrl}/status?provider=intake&state=${visit.state}`, { headers: visit.headers })).body);

	test('is followed by the page, comes back with its problem, and is taken in the end', async () => {
		const row = await input({ verify: 30_000 });
		const visit = await forms.visit(row);
		const hop = await send(row, visit);
		assert.deepEqual([hop.status, new URL(hop.headers.location, visit.address).href], [303, visit.address]);
		const checking = await forms.look(visit);
		assert.ok(checking.document.text.includes('is checking what you sent') && !checking.body.includes(SECRET));
		assert.match(checking.headers['content-security-policy'], /script-src 'sha256-/);
		assert.match(checking.body, /<noscript><meta http-equiv="refresh"/);
		assert.equal((await follow(visit)).status, 'processing');
		assert.equal((await send(row, visit, 'sk_live_second')).status, 303, 'a second tab');

		const taken = await forms.take(row);
		assert.deepEqual(forms.open(row, taken.result), { values: { api_key: SECRET, terms: false } });
		assert.equal(await forms.end(row, taken, { field: 'api_key', problem: { en: 'This key is revoked.', de: 'Gesperrt.' } }), 'opened');
		assert.deepEqual(await follow(visit).then(({ status: now, failed_attempts: tries }) => [now, tries]), ['opened', 1]);
		const page = await forms.look(visit);
		assert.deepEqual([page.status, wrong(page)], [200, { api_key: 'This key is revoked.' }]);
		assert.equal(control(page, 'api_key')['aria-invalid'], 'true');
		assert.equal(await forms.result(row), null);

		assert.equal((await send(row, visit, 'sk_live_good')).status, 303);
		assert.equal(await forms.end(row, await forms.take(row)), 'completed');
		assert.equal((await follow(visit)).status, 'completed');
		assert.deepEqual((await forms.result(row)).values.api_key, 'sk_live_good');
	});

	test('shows the browser that sent it the fields that are not secret again, also where it could not be checked', async () => {
		const row = await input({ verify: 30_000 });
		const visit = await forms.visit(row);
		const typed = { 'field.api_key': SECRET, 'field.mail': 'zoe@example.com', 'field.region': 'eu', 'field.notes': 'a\r\n<b>', 'field.terms': 'on', answer: 'submit' };
		const shown = (page) => [control(page, 'api_key').value, control(page, 'mail').value, control(page, 'terms').checked,
			page.document.find('option').find(({ attributes }) => attributes.selected === '').attributes.value, /<textarea[^>]*>\n(.*)\n(.*)<\/textarea>/.exec(page.body)?.slice(1)];
		for (const ends of [
			(taken) => forms.end(row, taken, { field: 'api_key', problem: 'No.' }),
			() => fixture.stack.sql('UPDATE urlmode.form SET check_until = now() WHERE elicitation = $1', [row.id]),
		]) {
			await forms.send(visit, typed);
			await ends(await forms.take(row));
			const page = await forms.look(visit);
			assert.equal(page.status, 200);
			assert.ok(!page.body.includes(SECRET));
			assert.deepEqual(shown(page), [undefined, 'zoe@example.com', '', 'eu', ['a', '&lt;b&gt;']]);
			const other = await forms.visit(row);
			assert.deepEqual(shown(other.page).slice(0, 4), [undefined, '', undefined, 'us'], 'nothing in another browser');
		}
		await forms.send(visit, { ...typed, 'field.mail': '' });
		await forms.end(row, await forms.take(row), { field: 'api_key', problem: 'No.' });
		assert.equal(control(await forms.look(visit), 'mail').value, '', 'the last values');
		const stored = await fixture.stack.sql('SELECT to_jsonb(e)::text AS text FROM urlmode.elicitation e WHERE id = $1', [row.id]);
		assert.ok(!stored[0].text.includes('zoe') && !stored[0].text.includes(Buffer.from('zoe').toString('hex')));
	});

	test('that was checked before its browser came back: the page says that all is done', async () => {
		const row = await input({ verify: 30_000 });
		const visit = await forms.visit(row);
		await send(row, visit);
		await forms.end(row, await forms.take(row));
		assert.equal((await forms.look(visit)).document.find('h1')[0].text, 'All done');
		assert.equal((await send(row, visit)).document.find('h1')[0].text, 'Already done', 'a second answer');
	});

	test('with a problem of no field, shows it above the form', async () => {
		const row = await input({ verify: 30_000 });
		const visit = await forms.visit(row);
		await send(row, visit);
		await forms.end(row, await forms.take(row), { field: 'other', problem: 'The shop is closed.' });
		const page = await forms.look(visit);
		assert.ok(page.document.find('p').some(({ attributes, text }) => attributes.role === 'alert' && text.includes('The shop is closed.')));
	});

	test('that nobody checks in time has to be sent again, and the page says so', async () => {
		const row = await input({ verify: 30_000 });
		const visit = await forms.visit(row);
		await send(row, visit);
		await fixture.stack.sql("UPDATE urlmode.form SET check_until = now() WHERE elicitation = $1", [row.id]);
		assert.equal((await follow(visit)).status, 'opened');
		const page = await forms.look(visit);
		assert.ok(page.document.text.includes('could not check what you sent'));
		assert.equal(await forms.result(row), null);
	});

	test('after five problems, has ended', async () => {
		const row = await input({ verify: 30_000 });
		const visit = await forms.visit(row);
		for (let n = 0; n < 5; n += 1) {
			await send(row, visit);
			await forms.end(row, await forms.take(row), { field: 'api_key', problem: 'No.' });
		}
		assert.ok((await forms.look(visit)).document.text.includes('refused too many times'));
	});
});

describe('an approval', () => {
	const APPROVAL = { title: 'Terms of service', text: 'Do you agree?', comment: 'optional', facts: [{ label: 'Version', value: '3' }] };
	const approval = (more) => forms.create({ kind: 'approval', form: APPROVAL, ...more });

	test('by the starter has an approver, a comment and a time; later ones are told who has decided', async () => {
		const row = await approval();
		const visit = await forms.visit(row);
		assert.ok(visit.page.document.text.includes('Terms of service') && visit.page.document.text.includes('Approve'));
		assert.equal((await forms.send(visit, { comment: 'Fine\r\nwith me', answer: 'approve' })).headers.location, '/done');
		const { approver, comment, decided_at: decidedAt, ...more } = await forms.result(row);
		assert.deepEqual([approver, comment, more], [row.subject, 'Fine\nwith me', {}]);
		assert.ok(Math.abs(Date.now() - Date.parse(decidedAt)) < 120_000 && decidedAt.endsWith('Z'));
		const again = await forms.send(visit, { comment: '', answer: 'decline' });
		assert.ok(again.document.text.includes(row.subject) && again.document.text.includes('has approved this'));
	});

	test('that is declined has its comment, too, and needs one where it is required', async () => {
		const row = await approval({ form: { ...APPROVAL, comment: 'required' } });
		const visit = await forms.visit(row);
		const page = await forms.send(visit, { comment: ' \n', answer: 'decline' });
		assert.equal(page.status, 303, 'blank lines are a comment');
		const other = await approval({ form: { ...APPROVAL, comment: 'required' } });
		const asked = await forms.send(await forms.visit(other), { comment: '', answer: 'decline' });
		assert.deepEqual([asked.status, wrong(asked)], [422, { comment: 'Please fill this in.' }]);
		const [{ action, reason }] = await fixture.stack.sql('SELECT action, reason FROM urlmode.elicitation WHERE id = $1', [row.id]);
		assert.deepEqual([action, reason], ['decline', 'declined']);
	});

	test('by others is refused where nobody knows who they are', async () => {
		const row = await approval({ approvers: ['anna'] });
		const { hop } = await forms.visit(row);
		assert.deepEqual([hop.status, hop.reason], [403, 'approval_needs_sign_in']);
		const link = `${fixture.stack.baseUrl}/connect/approvals?state=${forms.link('connect', 'approvals', row.id)}`;
		assert.equal((await forms.visit({ url: link })).hop.reason, 'approval_needs_sign_in');
		const own = await approval();
		const sent = `${fixture.stack.baseUrl}/connect/approvals?state=${forms.link('approve', 'approvals', own.id)}`;
		assert.equal((await forms.visit({ url: sent })).hop.reason, 'approval_needs_sign_in', 'the link that is sent to others');
		assert.equal(await status(row), 'pending');
	});
});
