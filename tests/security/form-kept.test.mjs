// What a browser keeps of a form whose session has ended: bounded, escaped, without secrets, and
// for the one user, browser and elicitation alone. tests/unit/test_kept.c changes every bit of it.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';

import { openFixture } from '../support/fixture.mjs';
import { openForms } from '../support/forms.mjs';
import { configure } from './deployment.mjs';

const KEPT = '__Secure-urlmode-kept';
const FORM = { title: 'Key', fields: [
	{ name: 'api_key', type: 'secret', label: 'Key', required: true },
	{ name: 'pem', type: 'secret', multiline: true, label: 'PEM' },
	{ name: 'note', type: 'text', label: 'Note' },
	{ name: 'text', type: 'multiline', label: 'Text' },
] };

let fixture, forms;

before(async () => {
	fixture = await openFixture({ name: 'form-kept', own: true });
	await configure(fixture.stack, (config) => {
		config.user_check = 'session-ticket';
	});
	forms = fixture.closeAtEnd(await openForms(fixture.stack));
});

after(() => fixture?.close());

const give = (browser, subject) => browser.jar.store(fixture.urlmode.ticket({ subject }).header, new URL(fixture.url('/')));
const forget = (browser, name) => browser.jar.store(`${name}=; Path=/; Secure; Max-Age=0`, new URL(fixture.url('/')));
const kept = (browser) => browser.jar.matching(new URL(fixture.url('/form/intake'))).find(({ name }) => name === KEPT);
const shown = (page) => Object.fromEntries(page.forms[0].fields.filter(([name]) => name.startsWith('field.')));

/** A form of ada's, sent without a session. */
async function sendWithout(fields, { browser = fixture.browser(), form, subject = 'ada', kind = 'input', ...options } = {}) {
	const row = form ?? await forms.create({ form: FORM, subject, kind, ...options });
	give(browser, subject);
	const page = await browser.open(row.url);
	forget(browser, fixture.urlmode.ticket({ subject }).name);
	const sent = await browser.submit(page, { button: kind === 'input' ? 'submit' : 'approve', fields });
	assert.equal(sent.find('code')[0].text, 'session_ended');
	return { browser, row, page, sent };
}

test('no secret is in it, of one line or of several, nor in a log or a row', async () => {
	const secrets = Array.from({ length: 2 }, () => randomBytes(12).toString('hex'));
	const { browser, row, sent } = await sendWithout({ 'field.api_key': secrets[0], 'field.pem': `${secrets[1]}\n`, 'field.note': 'seen' });
	give(browser, 'ada');
	const again = await browser.open(row.url);
	assert.equal(shown(again)['field.note'], 'seen');
	const [{ text }] = await fixture.stack.sql('SELECT concat(e, f) AS text FROM urlmode.elicitation e JOIN urlmode.form f ON f.elicitation = e.id WHERE id = $1', [row.id]);
	const log = JSON.stringify(await fixture.stack.programLog());
	for (const secret of secrets) {
		for (const place of [sent.body, again.body, text, log, kept(browser).value]) assert.ok(!place.includes(secret));
	}
	assert.ok(!log.includes('seen') && !text.includes('seen'));
});

test('what is typed is text, whatever it looks like', async () => {
	for (const payload of ['"><script>alert(1)</script>', '</textarea><script>alert(1)</script>', '\' onfocus=alert(1) autofocus x=\'', '&lt;script&gt;', '&#60;b&#62;',
		'<!--', ']]>', '{requester}', '","api_key":"x', '\\u0022,', '\ud83d\ude00']) {
		const { browser, row, sent } = await sendWithout({ 'field.note': payload, 'field.text': payload });
		give(browser, 'ada');
		const page = await browser.open(row.url);
		assert.deepEqual(shown(page), { 'field.api_key': '', 'field.pem': '', 'field.note': payload, 'field.text': payload });
		assert.deepEqual([sent, page].map((one) => one.find('script').length), [0, 1], 'the page with a secret has its own');
	}
});

test('it is bounded: what has no room is not kept, and the page promises nothing', async () => {
	const { browser, row, sent } = await sendWithout({ 'field.note': 'short', 'field.text': 'é'.repeat(4_000) });
	assert.doesNotMatch(sent.text, /will be there again/);
	assert.ok(KEPT.length + kept(browser).value.length < 4_096);
	give(browser, 'ada');
	assert.deepEqual(shown(await browser.open(row.url)), { 'field.api_key': '', 'field.pem': '', 'field.note': 'short', 'field.text': '' });
});

test('it is for one user, one elicitation and one browser', async () => {
	const EXPENSE = { title: 'Expense', comment: 'optional' };
	const approvers = ['ben', 'eve'];
	const comment = ({ forms: [{ fields }] }) => fields.find(([name]) => name === 'comment')[1];
	const { browser, row } = await sendWithout({ comment: 'from ben' }, { subject: 'ben', kind: 'approval', form: await forms.create({ kind: 'approval', form: EXPENSE, subject: 'ada', approvers }) });

	give(browser, 'eve');
	assert.equal(comment(await browser.open(row.url)), '', 'eve may decide, and is not shown what ben typed');
	give(browser, 'ben');
	const other = await forms.create({ kind: 'approval', form: EXPENSE, subject: 'ada', approvers });
	assert.equal(comment(await browser.open(other.url)), '', 'another elicitation');
	const stranger = fixture.browser();
	stranger.jar.store(`${KEPT}=${kept(browser).value}; Path=/form/; Secure`, new URL(fixture.url('/form/approvals')));
	give(stranger, 'ben');
	assert.equal(comment(await stranger.open(row.url)), '', 'another browser with its cookie');
	const again = await browser.open(row.url);
	assert.equal(comment(again), 'from ben');

	await browser.submit(again, { button: 'decline' });
	assert.equal(kept(browser), undefined, 'it is deleted by the answer');
});

test('a reader of another page opens nothing: a form keeps nothing for a user whom it was not made for', async () => {
	const eve = await sendWithout({ 'field.note': 'x' }, { subject: 'eve' });
	const [, reader] = eve.page.forms[0].fields.find(([name]) => name === 'reader');
	const browser = fixture.browser();
	give(browser, 'ada');
	const page = await browser.open((await forms.create({ form: FORM, subject: 'ada' })).url);
	forget(browser, fixture.urlmode.ticket({ subject: 'ada' }).name);
	await browser.submit(page, { button: 'submit', fields: { reader, 'field.note': 'planted' } });
	assert.equal(kept(browser), undefined);
});
