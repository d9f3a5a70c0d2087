// Who may open and answer a form, where the web server knows the users; and a
// form while the database is away.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';

import { openFixture } from '../support/fixture.mjs';
import { openForms } from '../support/forms.mjs';
import { request } from '../support/http.mjs';
import { holdRow, untilHeld, waitLongerForLocks } from '../support/locks.mjs';
import { until } from '../support/wait.mjs';
import { configure, setUpNginx } from '../security/deployment.mjs';

const USERS = ['ada', 'ben', 'eve'];
const FORM = { title: 'Key', fields: [{ name: 'api_key', type: 'secret', label: 'Key', required: true }] };
const APPROVAL = { title: 'Expense', facts: [{ label: 'Sum', value: '900 EUR' }], comment: 'optional' };

let fixture, forms;

before(async () => {
	fixture = await openFixture({ name: 'form-users', own: true });
	await configure(fixture.stack, (config) => {
		delete config.user_check;
		config.providers.approvals.four_eyes = true;
		config.providers.named = { kind: 'approval' };
	});
	await setUpNginx(fixture.stack, {
		snippets: ['auth-basic.conf'],
		files: { 'urlmode.htpasswd': USERS.map((name) => `${name}:{SHA}${createHash('sha1').update('x').digest('base64')}\n`).join('') },
	});
	forms = fixture.closeAtEnd(await openForms(fixture.stack));
});

after(() => fixture?.close());

const as = (name) => ({ headers: { Authorization: `Basic ${Buffer.from(`${name}:x`).toString('base64')}` } });
const row = async ({ id }) => (await fixture.stack.sql('SELECT status, action, decided_by FROM urlmode.elicitation JOIN urlmode.form ON elicitation = id WHERE id = $1', [id]))[0];
const events = async ({ id }) => (await fixture.stack.sql('SELECT type, action, reference FROM urlmode.event WHERE elicitation = $1 ORDER BY received_at', [id]));
/** A refusal names whom it refuses, and how to be somebody else: here in words. */
const refused = async (form, user) => {
	const { hop } = await forms.visit(form, as(user));
	if (/^(wrong_user|own_request)$/.test(hop.reason)) {
		assert.match(hop.document.text, new RegExp(`You are signed in as ${user} ?\\. If that is not you, sign out where`));
	}
	return [hop.status, hop.reason];
};

describe('an input', () => {
	test('is opened for its user, and for no other', async () => {
		const form = await forms.create({ form: FORM, subject: 'ada' });
		assert.deepEqual(await refused(form, 'eve'), [403, 'wrong_user']);
		assert.equal((await row(form)).status, 'pending');
		const visit = await forms.visit(form, as('ada'));
		assert.equal((await row(form)).status, 'opened');
		assert.ok(!visit.page.document.text.includes('sent you this link'), 'nobody has to be warned');
		assert.match(visit.page.document.text, /You are signed in as ada ?\./);
		assert.ok(!visit.page.document.text.includes('somebody else'), 'the web server has no way that is known');
		assert.deepEqual(await forms.send({ ...visit, headers: { ...visit.headers, ...as('eve').headers } }, { 'field.api_key': 'x', answer: 'submit' })
			.then(({ status, reason }) => [status, reason]), [403, 'wrong_user']);
		assert.equal((await forms.send(visit, { 'field.api_key': 'x', answer: 'submit' })).status, 303);
		assert.deepEqual((await events(form)).map(({ type }) => type), ['wrong_user']);
	});

	test('HEAD and what a browser loads in advance open nothing', async () => {
		const form = await forms.create({ form: FORM, subject: 'ada' });
		assert.equal((await request(form.url, { method: 'HEAD', ...as('ada') })).status, 303);
		assert.equal((await request(form.url, { headers: { ...as('ada').headers, 'Sec-Purpose': 'prefetch' } })).reason, 'prefetch');
		assert.equal((await row(form)).status, 'pending');
	});
});

describe('an approval by others', () => {
	test('of named users is for them alone; a second decision says who has decided', async () => {
		const form = await forms.create({ kind: 'approval', form: APPROVAL, subject: 'ada', approvers: ['ben', 'eve'] });
		assert.deepEqual(await refused(form, 'ada'), [403, 'wrong_user']);
		const [ben, eve] = [await forms.visit(form, as('ben')), await forms.visit(form, as('eve'))];
		assert.ok(ben.page.document.text.includes('ada') && ben.page.document.text.includes('900 EUR'));
		assert.equal((await forms.send(ben, { comment: 'Too much', answer: 'decline' })).headers.location, '/done');
		assert.deepEqual(await row(form), { status: 'completed', action: 'decline', decided_by: 'ben' });
		assert.deepEqual(await forms.result(form).then(({ approver, comment }) => [approver, comment]), ['ben', 'Too much']);
		const late = await forms.send(eve, { comment: '', answer: 'approve' });
		assert.ok(late.document.text.includes('ben has declined this'));
		assert.ok((await forms.look(eve)).document.text.includes('ben has declined this'));
		assert.deepEqual((await events(form)).at(-1), { type: 'decision', action: 'decline', reference: 'ben' });
	});

	// Whoever decides has started nothing, and pays nothing.
	test('never speaks to its approver of where something was started, or of money', async () => {
		const said = [];
		const create = () => forms.create({ kind: 'approval', form: APPROVAL, subject: 'ada', approvers: ['ben', 'eve'] });
		const last = async (visit, answer) => {
			const { headers: { 'set-cookie': [cookie] } } = await forms.send(visit, { comment: '', answer });
			return request(fixture.url('/done'), { headers: { ...as('ben').headers, Cookie: cookie.split(';')[0] } });
		};
		said.push(['approved', 'All done', await last(await forms.visit(await create(), as('ben')), 'approve')]);
		said.push(['declined', 'Declined', await last(await forms.visit(await create(), as('ben')), 'decline')]);
		said.push(['/done a minute later', 'You can go back', await request(fixture.url('/done'))]);
		said.push(['another user', 'Somebody else has to decide', (await forms.visit(await create(), as('ada'))).hop]);

		const ended = await create();
		const visit = await forms.visit(ended, as('ben'));
		said.push(['another browser', 'This was opened in another browser', await forms.look({ ...visit, headers: as('ben').headers })]);
		await fixture.stack.sql("UPDATE urlmode.elicitation SET expires_at = now() WHERE id = $1", [ended.id]);
		said.push(['expired', 'This request has expired', await forms.look(visit)]);
		said.push(['expired, sent', 'This request has expired', await forms.send(visit, { comment: '', answer: 'approve' })]);
		await fixture.urlmode.cancel(ended.id, { subject: 'ada' });
		said.push(['cancelled', 'This request has ended', await forms.look(visit)]);
		await fixture.stack.sql('DELETE FROM urlmode.elicitation WHERE id = $1', [ended.id]);
		said.push(['purged', 'This request no longer exists', await forms.look(visit)]);

		for (const [what, title, page] of said) {
			assert.equal(page.document.find('h1')[0].text, title, what);
			assert.doesNotMatch(page.document.text, /where you started|\bstarted by\b|paid|pay again/, what);
		}
	});

	test('with four eyes is for anybody but the starter', async () => {
		const form = await forms.create({ kind: 'approval', form: APPROVAL, subject: 'ada', approvers: [] });
		assert.deepEqual(await refused(form, 'ada'), [403, 'own_request']);
		const visit = await forms.visit(form, as('ben'));
		const stolen = { ...visit, headers: { ...visit.headers, ...as('ada').headers } };
		assert.equal((await forms.send(stolen, { comment: '', answer: 'approve' })).reason, 'own_request');
		await forms.send(visit, { comment: '', answer: 'approve' });
		assert.deepEqual(await row(form), { status: 'completed', action: 'accept', decided_by: 'ben' });
	});

	test('with four eyes is not for the starter who is among the named users', async () => {
		const form = await forms.create({ kind: 'approval', form: APPROVAL, subject: 'ada', approvers: ['ada', 'ben'] });
		assert.deepEqual(await refused(form, 'ada'), [403, 'own_request']);
		await forms.send(await forms.visit(form, as('ben')), { comment: '', answer: 'approve' });
		assert.deepEqual(await row(form), { status: 'completed', action: 'accept', decided_by: 'ben' });
	});

	test('of a call that demands four eyes is for nobody where names may differ', async () => {
		const options = { kind: 'approval', form: APPROVAL, subject: 'ada', approver: ['ada', 'ben'], fourEyes: true };
		const [form, named] = await Promise.all(['approvals', 'named'].map((provider) => fixture.urlmode.create({ ...options, provider })));
		const visit = ({ approvalUrl }, user) => request(approvalUrl, as(user)).then(({ status, reason }) => [status, reason]);
		assert.deepEqual(await visit(named, 'ben'), [403, 'four_eyes_not_set_up']);
		assert.deepEqual([await visit(form, 'ada'), (await visit(form, 'ben'))[0]], [[403, 'own_request'], 303]);
		await assert.rejects(fixture.urlmode.create({ ...options, provider: 'named', approver: 'starter' }), /fourEyes requires/);
	});

	test('with four eyes is for nobody where names may differ', async () => {
		const form = await forms.create({ kind: 'approval', provider: 'named', form: APPROVAL, subject: 'ada', approvers: [] });
		assert.deepEqual(await refused(form, 'ben'), [403, 'four_eyes_not_set_up']);
	});
});

describe('of two answers at the same time', () => {
	before(() => waitLongerForLocks(fixture.stack));

	test('the second is logged without the reason of its own: it has ended otherwise', async () => {
		const form = await forms.create({ form: FORM, subject: 'ada' });
		const visit = await forms.visit(form, as('ada'));
		const first = await holdRow(fixture.stack, form.id);
		try {
			const second = forms.send(visit, { 'field.api_key': '', answer: 'decline' });
			await untilHeld(fixture.stack, 'form');
			await first.query("UPDATE urlmode.elicitation SET status = 'completed', action = 'accept', reason = '', completed_at = now() WHERE id = $1",
				[form.id]);
			await first.query('COMMIT');
			const answer = await second;
			assert.deepEqual([answer.status, new URL(answer.headers.location, visit.address).href], [303, visit.address]);
		} finally {
			await first.release();
		}
		const lines = (await fixture.stack.programLog()).filter(({ elicitation, outcome }) => elicitation === form.id && outcome === 'already');
		assert.deepEqual(lines.map(({ reason }) => reason), ['']);
	});
});

describe('a browser that goes away while it sends', () => {
	const fields = { 'field.api_key': 'S3cr3t', answer: 'submit' };

	/** Sends so many bytes of a form, all by default. */
	function begin({ address, headers, state }, values, bytes) {
		const { hostname, port, host, pathname } = new URL(address);
		const body = new URLSearchParams({ state, ...values }).toString();
		const lines = Object.entries({ ...headers, Host: host, 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': body.length });
		const socket = connect(Number(port), hostname);
		socket.on('error', () => {});
		socket.write(`POST ${pathname} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body.slice(0, bytes)}`);
		return socket;
	}

	test('in the middle of the form has stored nothing, and the page is still open', async () => {
		for (const answer of [fields, { 'field.api_key': '', answer: 'decline' }]) {
			const form = await forms.create({ form: FORM, subject: 'ada' });
			const visit = await forms.visit(form, as('ada'));
			const socket = begin(visit, answer, -1);
			socket.end();
			await once(socket.resume(), 'close');
			const page = await forms.look(visit);
			assert.deepEqual([page.status, page.document.text.includes('Nothing was stored')], [200, false]);
			assert.deepEqual([(await row(form)).status, await forms.result(form)], ['opened', null]);
			assert.equal((await forms.send(visit, answer)).status, 303);
		}
	});

	test('before its answer is stored is told how it has ended when it comes back, and sends nothing twice', async () => {
		for (const [answer, title, action] of [[fields, 'All done', 'accept'], [{ 'field.api_key': '', answer: 'decline' }, 'Declined', 'decline']]) {
			const form = await forms.create({ form: FORM, subject: 'ada' });
			const visit = await forms.visit(form, as('ada'));
			const held = await holdRow(fixture.stack, form.id);
			try {
				const socket = begin(visit, answer);
				await untilHeld(fixture.stack, 'form');
				socket.destroy();
			} finally {
				await held.release();
			}
			await until('it is stored', async () => (await row(form)).action === action);
			assert.equal((await forms.look(visit)).document.find('h1')[0].text, title);
			assert.equal((await forms.send(visit, { 'field.api_key': 'other', answer: 'submit' })).document.find('h1')[0].text, 'Already done');
			assert.deepEqual(await forms.result(form), action === 'accept' ? { values: { api_key: 'S3cr3t' } } : null);
		}
	});
});

describe('while the database is away', () => {
	test('a form is kept by the browser: the page says that nothing was stored, and a reload sends it', async () => {
		const form = await forms.create({ form: FORM, subject: 'ada' });
		const visit = await forms.visit(form, as('ada'));
		const fields = { 'field.api_key': 'S3cr3t', answer: 'submit' };
		await forms.close();
		await fixture.stack.service('stop', 'postgres');
		const answer = await forms.send(visit, fields);
		assert.deepEqual([answer.status, answer.reason], [503, 'not_stored']);
		assert.ok(answer.headers['retry-after'] && answer.headers.refresh === undefined);
		assert.ok(answer.document.text.includes('Nothing was stored') && !answer.body.includes('S3cr3t'));
		assert.equal((await forms.look(visit)).reason, 'unavailable');
		await fixture.stack.service('start', 'postgres');
		await until('the database is there again', async () => (await forms.send(visit, fields)).status !== 503);
		assert.deepEqual(await forms.result(form), { values: { api_key: 'S3cr3t' } });
	});
});
