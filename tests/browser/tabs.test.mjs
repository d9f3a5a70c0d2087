// Two tabs of one browser with the same form or payment, a session that ends while a form is
// filled in, and the walk of an approver who has started nothing.

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';

import { configure } from '../security/deployment.mjs';
import { openFixture } from '../support/fixture.mjs';
import { openForms } from '../support/forms.mjs';
import { startOpenIdProvider } from '../support/openid-provider.mjs';
import { axe, startChromium } from './chromium.mjs';

const NOTICE = /You have opened this in this browser before\./;
const FORM = { title: 'Connect the shop', fields: [
	{ name: 'api_key', type: 'secret', label: 'API key', required: true },
	{ name: 'mail', type: 'email', label: 'E-mail' },
	{ name: 'notes', type: 'multiline', label: 'Notes' },
	{ name: 'terms', type: 'checkbox', label: 'Terms', default: true },
] };
const EXPENSE = { title: 'Expense', facts: [{ label: 'Sum', value: '900 EUR' }], comment: 'optional' };

let fixture, forms, chromium, provider;

before(async () => {
	fixture = await openFixture({ name: 'browser-tabs', own: true });
	provider = fixture.closeAtEnd(await startOpenIdProvider('google'));
	forms = fixture.closeAtEnd(await openForms(fixture.stack));
	chromium = fixture.closeAtEnd(await startChromium());
});

after(() => fixture?.close());

const person = async () => fixture.closeAtEnd(await chromium.person());
const heading = (tab) => tab.textContent('h1');
const words = (tab) => tab.textContent('main');
const statusOf = async ({ id }) => (await fixture.stack.elicitation(id)).status;

describe('two tabs', () => {
	test('of a form: the second is told, either can send it, and the other is told that it was done', async () => {
		const ada = await person();
		const [first, second] = [await ada.tab(), await ada.tab()];
		const form = await forms.create({ form: FORM });
		await first.goto(form.url);
		assert.doesNotMatch(await words(first), NOTICE);
		await second.goto(form.url);
		assert.match(await words(second), NOTICE);
		assert.deepEqual(await axe(second), []);
		await second.reload();
		assert.match(await words(second), NOTICE);
		await first.reload();
		assert.doesNotMatch(await words(first), NOTICE, 'it is the first one');

		await second.fill('#f-api_key', 'sk_second');
		await second.click('button[value=submit]');
		await second.waitForURL(fixture.url('/done'));
		await first.fill('#f-api_key', 'sk_first');
		await first.click('button[value=submit]');
		await first.waitForSelector('text=Already done');
		assert.match(await words(first), /perhaps in another tab, and nothing has changed/);
		assert.equal((await forms.result(form)).values.api_key, 'sk_second');
		assert.deepEqual(ada.problems, []);
	});

	test('of a form that is checked: the page says that the first one counts', async () => {
		const ada = await person();
		const [first, second] = [await ada.tab(), await ada.tab()];
		const form = await forms.create({ form: FORM, verify: 120_000 });
		for (const [tab, key] of [[first, 'sk_first'], [second, 'sk_second']]) {
			await tab.goto(form.url);
			await tab.fill('#f-api_key', key);
		}
		for (const tab of [first, second]) {
			await tab.click('button[value=submit]');
			await tab.waitForSelector('text=Checking');
			assert.match(await words(tab), /more than once, perhaps from another tab, the first one counts/);
		}
		assert.equal((await forms.result(form)).values.api_key, 'sk_first');
	});

	for (const [what, create, target] of [
		['a payment', () => fixture.createPayment('adyen', { targetUrl: `${provider.origin}/target`, expected: { amount: 1050, currency: 'EUR' } })],
		['an account', () => fixture.create({ targetUrl: `${provider.origin}/target` })],
	].map((row) => [...row, (url) => url.pathname === '/target'])) {
		test(`of ${what}: who opens the link again while the first is at the provider is told, and goes on`, async () => {
			const ada = await person();
			const [first, second] = [await ada.tab(), await ada.tab()];
			const elicitation = await create();
			await first.goto(elicitation.url);
			await first.reload();
			assert.doesNotMatch(await words(first), NOTICE);
			await first.click('button[value=continue]');
			await first.waitForURL(target);
			await second.goto(elicitation.url);
			assert.match(await words(second), NOTICE);
			assert.deepEqual(await axe(second), []);
			await second.click('button[value=continue]');
			await second.waitForURL(target);

			const other = await (await person()).tab();
			await other.goto(elicitation.url);
			assert.doesNotMatch(await words(other), NOTICE, 'another browser has not');
			assert.deepEqual(ada.problems, []);
		});
	}
});

describe('where users sign in', () => {
	before(async () => {
		const keys = path.join(fixture.stack.runDir, 'tabs.jwks');
		await writeFile(keys, JSON.stringify(provider.jwks), { mode: 0o644 });
		await configure(fixture.stack, (config) => {
			config.user_check = 'openid';
			config.openid = { ...provider.openid, jwks_file: keys };
		});
	});

	test('a session ends while a form is filled in: the page says so, and what is not secret is there again', async () => {
		const ada = await person();
		const tab = await ada.tab();
		const form = await forms.create({ form: FORM, subject: provider.subject('ada') });
		provider.users = ['ada', 'ada'];
		await tab.goto(form.url);
		const address = tab.url();
		await tab.fill('#f-api_key', 'S3cr3t');
		await tab.fill('#f-mail', 'zoe@example.com');
		await tab.fill('#f-notes', '<b>one</b>\n"two" & \'three\'');
		await tab.uncheck('#f-terms');
		await tab.context().clearCookies({ name: '__Host-urlmode-session' });
		await tab.click('button[value=submit]');
		await tab.waitForSelector('text=Your session has ended');
		assert.match(await words(tab), /Nothing was stored\..*except for secrets\./s);
		assert.deepEqual(await axe(tab), []);
		assert.equal(await statusOf(form), 'opened');

		await tab.click('a:text("Try again")');
		await tab.waitForSelector('#f-api_key');
		assert.equal(tab.url().replace('&signin=done', ''), address);
		assert.match(await words(tab), /Your session had ended, and nothing was stored\./);
		assert.doesNotMatch(await words(tab), NOTICE, 'it is the same tab');
		assert.deepEqual([await tab.inputValue('#f-api_key'), await tab.inputValue('#f-mail'), await tab.inputValue('#f-notes'), await tab.isChecked('#f-terms')],
			['', 'zoe@example.com', '<b>one</b>\n"two" & \'three\'', false]);
		assert.deepEqual(await axe(tab), []);
		assert.ok(!(await tab.content()).includes('S3cr3t'));
		for (const { url } of await ada.recorded()) assert.doesNotMatch(decodeURIComponent(url), /zoe|one<|S3cr3t/);

		await tab.fill('#f-api_key', 'S3cr3t');
		await tab.click('button[value=submit]');
		await tab.waitForURL(fixture.url('/done'));
		assert.deepEqual((await forms.result(form)).values,
			{ api_key: 'S3cr3t', mail: 'zoe@example.com', notes: '<b>one</b>\n"two" & \'three\'', terms: false });
		assert.deepEqual((await ada.cookies()).filter(({ name }) => name.includes('kept')), [], 'it is kept no longer');
		assert.deepEqual(ada.problems, []);
	});

	test('an approver decides, and is told nothing of what somebody else has started', async () => {
		for (const [button, title] of [['approve', 'All done'], ['decline', 'Declined']]) {
			const ben = await person();
			const tab = await ben.tab();
			const approval = await forms.create({ kind: 'approval', form: EXPENSE, subject: provider.subject('ada'), approvers: [provider.subject('ben')] });
			provider.users = ['ben'];
			const said = [];
			const say = async (expected) => {
				assert.equal(await heading(tab), expected);
				said.push(await words(tab));
			};
			await tab.goto(approval.url);
			await say(EXPENSE.title);
			await tab.click(`button[value=${button}]`);
			await tab.waitForURL(fixture.url('/done'));
			await say(title);
			await tab.context().clearCookies({ name: '__Host-urlmode-done' });
			await tab.reload();
			await say('You can go back');
			await tab.goto(approval.url);
			await say('This has been decided already');
			for (const text of said) assert.doesNotMatch(text, /where you started|paid|pay again/);
			assert.deepEqual(ben.problems, []);
		}
	});
});
