// Who may open and answer a form, where the users sign in at the OpenID provider,
// or where a ticket of the MCP server says who they are.

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';

import { configure } from '../security/deployment.mjs';
import { constant } from '../support/constants.mjs';
import { openFixture } from '../support/fixture.mjs';
import { openForms } from '../support/forms.mjs';
import { request } from '../support/http.mjs';
import { startOpenIdProvider } from '../support/openid-provider.mjs';

const SESSION = '__Host-urlmode-session';
const INPUT = {
	create: { kind: 'input', form: { title: 'Key', fields: [{ name: 'api_key', type: 'secret', label: 'Key', required: true },
		{ name: 'mail', type: 'email', label: 'Mail' }, { name: 'count', type: 'number', label: 'Count' },
		{ name: 'notes', type: 'multiline', label: 'Notes' }, { name: 'terms', type: 'checkbox', label: 'Terms', default: true }] } },
	typed: { 'field.mail': 'zoe@', 'field.count': 'about 12', 'field.notes': 'a "<b>"\r\n&amp;', 'field.terms': 'on' },
	title: 'Key', fields: { 'field.api_key': 'S3cr3t' }, fix: { 'field.mail': '', 'field.count': '', 'field.notes': '' }, button: 'submit',
};
const APPROVAL = {
	create: { kind: 'approval', form: { title: 'Expense', facts: [{ label: 'Sum', value: '900 EUR' }], comment: 'optional' } },
	typed: { comment: 'Too "<much>"\r\n&amp;' },
	title: 'Expense', fields: { comment: 'Fine' }, button: 'approve',
};
const KINDS = { input: INPUT, approval: APPROVAL };

let fixture, forms, provider;

before(async () => {
	fixture = await openFixture({ name: 'form-signin', own: true });
	provider = fixture.closeAtEnd(await startOpenIdProvider('google'));
	forms = fixture.closeAtEnd(await openForms(fixture.stack));
});

after(() => fixture?.close());

const row = async ({ id }) => (await fixture.stack.sql('SELECT status, action, result IS NOT NULL AS stored FROM urlmode.elicitation WHERE id = $1', [id]))[0];
const refusal = (page) => [page.status, page.find('code')[0]?.text];
const link = (page, text) => page.find('a').find((one) => one.text === text)?.attributes.href;
const forget = (browser, name) => browser.jar.store(`${name}=; Path=/; Secure; Max-Age=0`, new URL(fixture.url('/')));

function assertForm(page, { title }) {
	assert.deepEqual([page.status, page.path.split('/')[1]], [200, 'form'], page.text);
	assert.ok(page.text.includes(title));
}

/** The page says that the session has ended, and a cookie keeps for this page what was typed. */
function assertEnded(page, { typed }) {
	assert.deepEqual(refusal(page), [403, 'session_ended']);
	assert.match(page.text, /Your session has ended Nothing was stored\..*What you typed will be there again, except for secrets\./);
	for (const text of ['S3cr3t', ...Object.values(typed).filter((one) => one.length > 2)]) assert.ok(!page.body.includes(text));
	const [cookie] = page.hops.at(-1).headers['set-cookie'];
	assert.match(cookie, /^__Secure-urlmode-kept=[\w-]{60,4000}; Path=\/form\/; Max-Age=900; Secure; HttpOnly; SameSite=Lax$/);
}

/** Everything that was typed and is not secret stands in its field, and nothing of it is markup. */
function assertTypedAgain(page, kind) {
	assertForm(page, kind);
	assert.match(page.text, /Your session had ended, and nothing was stored\./);
	assert.ok(!page.body.includes('S3cr3t') && !page.body.includes('<b>"') && !page.body.includes('<much>'));
	const fields = Object.fromEntries(page.forms[0].fields.filter(([name, text]) => /^(field\.|comment)/.test(name) && text !== ''));
	assert.deepEqual(fields, Object.fromEntries(Object.entries(kind.typed).map(([name, text]) => [name, text.replace('\r', '')])), 'the rest is empty');
}

async function assertNotStored(form) {
	assert.deepEqual(await row(form), { status: 'opened', action: null, stored: false });
}

async function assertAccepted(form, { fields }, approver) {
	assert.deepEqual(await row(form), { status: 'completed', action: 'accept', stored: true });
	const { values: all, comment, approver: who } = await forms.result(form);
	const values = all && { api_key: all.api_key };
	assert.deepEqual({ values, comment, who }, values ? { values: { api_key: fields['field.api_key'] }, comment: undefined, who: undefined }
		: { values: undefined, comment: fields.comment, who: approver });
}

describe('openid', () => {
	before(async () => {
		const keys = path.join(fixture.stack.runDir, 'form-signin.jwks');
		await writeFile(keys, JSON.stringify(provider.jwks), { mode: 0o644 });
		await configure(fixture.stack, (config) => {
			config.user_check = 'openid';
			config.openid = { ...provider.openid, jwks_file: keys };
			config.providers.approvals.four_eyes = true;
		});
	});

	beforeEach(() => {
		provider.asked = [];
	});

	const create = (kind, name, more) => forms.create({ ...kind.create, subject: provider.subject(name), ...more });

	/** The page of the provider, which posts its answer for this user: where the browser comes from there. */
	function signIn(browser, page) {
		assert.ok(page.url.startsWith(provider.origin), `at the provider, and not at ${page.url}: ${page.text}`);
		return browser.submit(page);
	}

	/** Opens an address in a browser without a session, and signs in as this user. */
	async function openAs(name, browser, url) {
		provider.users = [name];
		return signIn(browser, await browser.open(url));
	}

	/** Signs in as another user, by the link on the page. */
	async function goOnAs(name, browser, page) {
		provider.users = [name];
		return signIn(browser, await browser.follow(page, link(page, 'Sign in as somebody else')));
	}

	for (const [name, kind] of Object.entries(KINDS)) {
		test(`${name}: the link leads to the provider, from there to the form, and the answer asks nobody again`, async () => {
			const form = await create(kind, 'ada');
			const browser = fixture.browser();
			const page = await openAs('ada', browser, form.url);
			assertForm(page, kind);
			assert.deepEqual(page.hops.map(({ url }) => new URL(url).pathname.split('/')[1]), ['signin', 'connect', 'form']);
			assert.ok(!page.text.includes('sent you this link'), 'nobody has to be warned');
			assert.match(page.text, /You are signed in as ada@corp\.example ?\. Sign in as somebody else/);
			await assertNotStored(form);

			const done = await browser.submit(page, { button: kind.button, fields: kind.fields });
			assert.equal(done.path, '/done');
			await assertAccepted(form, kind, provider.subject('ada'));
			assert.equal(provider.asked.length, 1);
		});

		test(`${name}: a form whose session has ended is signed in to, and is the same form`, async () => {
			const form = await create(kind, 'ada');
			const browser = fixture.browser();
			const address = (await openAs('ada', browser, form.url)).url;
			forget(browser, SESSION);
			const page = await openAs('ada', browser, address);
			assertForm(page, kind);
			assert.equal(new URL(page.url).searchParams.get('state'), new URL(address).searchParams.get('state'));
			assert.equal(provider.asked.length, 2);
			await browser.submit(page, { button: kind.button, fields: kind.fields });
			await assertAccepted(form, kind, provider.subject('ada'));
		});

		test(`${name}: another user is refused at the link and at the form, and can sign in as somebody else`, async () => {
			const form = await create(kind, 'ada');
			const browser = fixture.browser();
			const atLink = await openAs('eve', browser, form.url);
			assert.deepEqual(refusal(atLink), [403, 'wrong_user']);
			assert.equal((await row(form)).status, 'pending');
			const page = await goOnAs('ada', browser, atLink);
			assertForm(page, kind);
			assert.equal(provider.asked.at(-1).prompt, 'select_account');

			forget(browser, SESSION);
			const atForm = await openAs('eve', browser, page.url);
			assert.deepEqual(refusal(atForm), [403, 'wrong_user']);
			assert.match(atForm.text, /You are signed in as eve@corp\.example\b/);
			assert.ok(!atForm.text.includes(kind.title));
			// The page of the form is still open, and is sent with the session of the other user.
			const sent = await browser.submit(page, { button: kind.button, fields: kind.fields });
			assert.deepEqual(refusal(sent), [403, 'wrong_user']);
			await assertNotStored(form);
			assertForm(await goOnAs('ada', browser, sent), kind);
		});

		test(`${name}: the page says who is signed in, and leads to somebody else without an answer`, async () => {
			const form = await create(kind, 'ada');
			const browser = fixture.browser();
			const page = await openAs('ada', browser, form.url);
			assert.deepEqual(refusal(await goOnAs('eve', browser, page)), [403, 'wrong_user']);
			assert.equal(provider.asked.at(-1).prompt, 'select_account');
			await assertNotStored(form);
			const invalid = await browser.submit(await goOnAs('ada', browser, page), { button: kind.button, fields: Object.fromEntries(Object.keys(kind.fields).map((field) => [field, 'x'.repeat(11_000)])) });
			assert.equal(invalid.status, 422);
			assert.match(invalid.text, /You are signed in as ada@corp\.example ?\. Sign in as somebody else/);
		});

		test(`${name}: at a provider that refuses to ask for the account, the next attempt asks for a sign-in`, async () => {
			for (const [refuses, prompts] of [[{ select_account: 'posts' }, ['select_account', 'login']], [{ select_account: 'shows' }, ['select_account', 'login']],
				[{ login: 'posts' }, ['select_account', 'login', 'select_account']]]) {
				const form = await create(kind, 'ada');
				const browser = fixture.browser();
				const wrong = await openAs('eve', browser, form.url);
				provider.refuses = refuses;
				provider.users = ['ada'];
				provider.asked = [];
				let at = await browser.follow(wrong, link(wrong, 'Sign in as somebody else'));
				if (refuses.login) at = await browser.follow(wrong, link(wrong, 'Sign in as somebody else'));
				if (refuses.select_account === 'shows') {
					assert.match(at.text, /not supported/);
					at = await browser.follow(wrong, link(wrong, 'Sign in as somebody else'));
				} else {
					const refused = await signIn(browser, at);
					assert.deepEqual(refusal(refused), [403, 'sign_in_refused']);
					at = await browser.follow(refused, link(refused, 'Try again'));
				}
				provider.refuses = {};
				assertForm(await signIn(browser, at), kind);
				assert.deepEqual(provider.asked.map(({ prompt }) => prompt), prompts);
			}
		});

		test(`${name}: what is sent without a session is not stored, and the page leads to the sign-in and back`, async () => {
			const form = await create(kind, 'ada');
			const browser = fixture.browser();
			const page = await openAs('ada', browser, form.url);
			forget(browser, SESSION);
			const sent = await browser.submit(page, { button: kind.button, fields: { ...kind.fields, ...kind.typed } });
			assertEnded(sent, kind);
			assert.equal(provider.asked.length, 1, 'only a GET leads to the provider by itself');
			await assertNotStored(form);

			const again = await signIn(browser, await browser.follow(sent, link(sent, 'Try again')));
			assertTypedAgain(again, kind);
			for (const { url } of again.hops) {
				assert.doesNotMatch(decodeURIComponent(url), /zoe|much/, 'in no address');
			}
			assertTypedAgain(await browser.open(again.url), kind);
			await browser.submit(again, { button: kind.button, fields: { ...kind.fields, ...kind.fix } });
			await assertAccepted(form, kind, provider.subject('ada'));
			const [{ typed }] = await fixture.stack.sql('SELECT typed FROM urlmode.form WHERE elicitation = $1', [form.id]);
			assert.equal(typed, null, 'nothing was kept on the server');
		});
	}

	test('an id token as long as UM_JWS_MAX signs in, and a longer one is refused as too large', async () => {
		const max = constant('UM_JWS_MAX');
		const length = (n) => provider.idToken('ada', 'n'.repeat(43), { groups: 'g'.repeat(n) }).length;
		// Base64url has no text of every length.
		let most = max;
		while (length(most) > max) most -= 1;
		assert.ok(length(most) > max - 2);
		try {
			for (const [n, signedIn] of [[most, true], [most + 1, false]]) {
				provider.claims = { groups: 'g'.repeat(n) };
				const form = await create(INPUT, 'ada');
				const page = await openAs('ada', fixture.browser(), form.url);
				if (signedIn) assertForm(page, INPUT);
				else assert.deepEqual(refusal(page), [400, 'parameters_too_large']);
			}
		} finally {
			provider.claims = {};
		}
	});

	test('without end_session_endpoint the address to sign out is that of the discovery document', async () => {
		await configure(fixture.stack, (config) => { delete config.openid.end_session_endpoint; });
		const form = await create(INPUT, 'ada');
		const signOut = async () => link(await openAs('eve', fixture.browser(), form.url), 'Sign out at the provider');
		assert.equal(await signOut(), undefined);
		const file = path.join(fixture.stack.runDir, 'form-signin.jwks.sign-out');
		for (const [text, expected] of [[`${provider.origin}/logout\n`, `${provider.origin}/logout?client_id=${provider.clientId}`],
			['javascript:alert(1)\n', undefined], ['', undefined]]) {
			await writeFile(file, text, { mode: 0o644 });
			assert.equal(await signOut(), expected);
		}
	});

	test('no other route leads to the provider', async () => {
		const form = await create(INPUT, 'ada');
		const { url, returnUrl } = await fixture.create({ subject: provider.subject('ada') });
		const state = new URL(url).searchParams.get('state');
		const asked = [returnUrl, ...['/', '/connect', '/form', '/signin/return', '/done', '/status', '/healthz',
			`/payment/demo/return?state=${state}`, `/webhook/demo?state=${state}`].map((route) => fixture.url(route))];
		for (const address of [...asked, form.url]) {
			const { status, headers } = await request(address);
			const leads = headers.location?.startsWith(provider.origin) ?? false;
			assert.equal(leads, address === form.url, `${status} ${new URL(address).pathname}`);
		}
	});

	describe('a fresh sign-in', () => {
		const now = () => Math.floor(Date.now() / 1_000);
		const approve = (more) => fixture.urlmode.create({ provider: 'approvals', subject: provider.subject('ada'), ...APPROVAL.create, stepUp: true, ...more });
		const maxAges = () => provider.asked.map(({ max_age: age }) => age);
		/** Signs in by the link, and then for the approval where that did not prove it. */
		async function openFresh(name, browser, { url }) {
			const page = await openAs(name, browser, url);
			return page.url.startsWith(provider.origin) ? signIn(browser, page) : page;
		}

		afterEach(() => Object.assign(provider, { saysWhen: false, claims: {} }));

		test('is made for this approval, whoever is signed in, and the outcome says when and how', async () => {
			Object.assign(provider, { saysWhen: true, claims: { amr: ['pwd', 'otp'] } });
			const asked = await approve();
			const browser = fixture.browser();
			const began = now();
			const page = await openFresh('ada', browser, asked);
			assertForm(page, APPROVAL);
			assert.deepEqual(maxAges(), [undefined], 'who signs in on the way to it has done so once');
			assert.equal((await browser.open(page.url)).status, 200, 'loaded again, it asks nobody');
			await browser.submit(page, { button: 'approve', fields: APPROVAL.fields });
			const { action, approver, signedInAt, signedInBy } = await fixture.urlmode.waitForCompletion(asked.elicitationId, { subject: provider.subject('ada') });
			assert.deepEqual([action, approver, signedInBy], ['accept', provider.subject('ada'), 'pwd otp']);
			assert.ok(signedInAt.getTime() >= began * 1_000 && signedInAt.getTime() <= Date.now());
			assert.equal(provider.asked.length, 1);
			const [line] = (await fixture.stack.programLog()).filter(({ program, elicitation, detail }) => program === 'form' && elicitation === asked.elicitationId && detail);
			const said = `signed in at ${signedInAt.toISOString().replace('.000', '')} by pwd otp`;
			assert.equal(line.detail, said);
			assert.deepEqual(await fixture.stack.sql('SELECT type, action, reference FROM urlmode.show_events($1)', [asked.elicitationId]),
				[{ type: `decision, ${said}`, action: 'accept', reference: provider.subject('ada') }]);

			await openFresh('ada', browser, await approve({ form: { title: 'With a session' } }));
			assert.deepEqual(maxAges(), [undefined, '0']);
			provider.claims = { auth_time: began - 300 };
			forget(browser, SESSION);
			const again = await browser.open((await approve({ form: { title: 'Signed in at the provider before' } })).url);
			provider.claims = {};
			const fresh = await signIn(browser, again);
			assert.ok(fresh.url.startsWith(provider.origin));
			assert.deepEqual(maxAges(), [undefined, '0', undefined, '0']);
			assertForm(await signIn(browser, fresh), { title: 'Signed in at the provider before' });
		});

		test('that was made before, or at no known time, does not count, and another attempt does', async () => {
			const asked = await approve();
			const browser = fixture.browser();
			for (const claims of [{ auth_time: now() - 30 }, { auth_time: undefined }, { auth_time: now() + 120 }]) {
				provider.claims = claims;
				const refused = await openFresh('ada', browser, asked);
				assert.deepEqual(refusal(refused), [403, 'id_token_invalid']);
				provider.claims = {};
				const at = await browser.follow(refused, link(refused, 'Try again'));
				assert.equal(provider.asked.at(-1).max_age, '0');
				assertForm(await signIn(browser, at), APPROVAL);
				forget(browser, SESSION);
				browser.jar.store('__Secure-urlmode-fresh=; Path=/form/; Secure; Max-Age=0', new URL(fixture.url('/form/')));
			}
		});

		test('of another approval or another user does not count, and without one nothing is stored', async () => {
			const [first, second] = [await approve(), await approve({ form: { title: 'Another expense' } })];
			const browser = fixture.browser();
			const page = await openFresh('ada', browser, first);
			provider.users = ['eve'];
			const other = await browser.open(second.url);
			assert.ok(other.url.startsWith(provider.origin), 'the session is good, and the sign-in of the first is not for the second');
			assert.deepEqual(refusal(await signIn(browser, other)), [403, 'wrong_user']);
			// Its page is still open, and eve is signed in; and then ada, who has not signed in for it.
			assert.deepEqual(refusal(await browser.submit(page, { button: 'approve', fields: APPROVAL.fields })), [403, 'wrong_user']);
			const plain = await create(INPUT, 'ada');
			await goOnAs('ada', browser, await browser.open(plain.url));
			const sent = await browser.submit(page, { button: 'approve', fields: APPROVAL.fields });
			assert.deepEqual(refusal(sent), [403, 'session_ended']);
			await assertNotStored({ id: first.elicitationId });
			const again = await signIn(browser, await browser.follow(sent, link(sent, 'Try again')));
			assert.equal(again.forms[0].fields.find(([name]) => name === 'comment')[1], APPROVAL.fields.comment, 'what was typed is there');
			await browser.submit(again, { button: 'approve' });
			assert.equal((await row({ id: first.elicitationId })).action, 'accept');
		});

		test('whose proof the browser does not keep ends with a page, and in no circle', async () => {
			const browser = fixture.browser();
			await openFresh('ada', browser, await approve());
			const page = await openFresh('ada', browser, await approve({ form: { title: 'Another expense' } }));
			browser.jar.store('__Secure-urlmode-fresh=; Path=/form/; Secure; Max-Age=0', new URL(fixture.url('/form/')));
			assert.equal(new URL(page.url).searchParams.get('signin'), 'proved');
			assert.deepEqual(refusal(await browser.open(page.url)), [403, 'session_missing']);
		});
	});

	test('four eyes: the starter decides neither at the link nor at the form, and can sign in as somebody else', async () => {
		const form = await create(APPROVAL, 'ada', { approvers: [] });
		const browser = fixture.browser();
		const atLink = await openAs('ada', browser, form.url);
		assert.deepEqual(refusal(atLink), [403, 'own_request']);
		assert.match(atLink.text, /You are signed in as ada@corp\.example\b/);
		const page = await goOnAs('ben', browser, atLink);
		assertForm(page, APPROVAL);

		forget(browser, SESSION);
		const atForm = await openAs('ada', browser, page.url);
		assert.deepEqual(refusal(atForm), [403, 'own_request']);
		assert.match(atForm.text, /You are signed in as ada@corp\.example\b/);
		const sent = await browser.submit(page, { button: 'approve', fields: APPROVAL.fields });
		assert.deepEqual(refusal(sent), [403, 'own_request']);
		assert.deepEqual([(await row(form)).action, (await row(form)).stored], [null, false]);
		const last = await goOnAs('ben', browser, atForm);
		await browser.submit(last, { button: 'approve', fields: APPROVAL.fields });
		await assertAccepted(form, APPROVAL, provider.subject('ben'));
	});
});

describe('session-ticket', () => {
	before(() => configure(fixture.stack, (config) => {
		config.user_check = 'session-ticket';
		delete config.openid;
	}));

	test('an approval that demands a fresh sign-in is for nobody', async () => {
		const { url } = await fixture.urlmode.create({ provider: 'approvals', subject: 'ada', ...APPROVAL.create, stepUp: true });
		const browser = fixture.browser();
		give(browser, 'ada');
		assert.deepEqual(refusal(await browser.open(url)), [403, 'step_up_not_set_up']);
	});

	const give = (browser, subject) => browser.jar.store(fixture.urlmode.ticket({ subject }).header, new URL(fixture.url('/')));

	for (const [name, kind] of Object.entries(KINDS)) {
		test(`${name}: is for the user of the ticket, and for nobody with another one or none`, async () => {
			const form = await forms.create({ ...kind.create, subject: 'ada' });
			const browser = fixture.browser();
			assert.deepEqual(refusal(await browser.open(form.url)), [403, 'sign_in_required']);
			give(browser, 'eve');
			assert.deepEqual(refusal(await browser.open(form.url)), [403, 'wrong_user']);
			assert.equal((await row(form)).status, 'pending');
			give(browser, 'ada');
			const page = await browser.open(form.url);
			assertForm(page, kind);

			for (const [subject, ...expected] of [['eve', 'wrong_user', 'wrong_user'], [undefined, 'sign_in_required', 'session_ended']]) {
				if (subject) give(browser, subject);
				else forget(browser, fixture.urlmode.ticket({ subject: 'ada' }).name);
				const answers = [await browser.open(page.url), await browser.submit(page, { button: kind.button, fields: { ...kind.fields, ...kind.typed } })];
				for (const [n, answer] of answers.entries()) {
					assert.deepEqual(refusal(answer), [403, expected[n]]);
					assert.equal(link(answer, 'Sign in as somebody else'), undefined, 'no provider is offered');
					assert.equal(/You are signed in as eve ?\. If that is not you/.test(answer.text), subject === 'eve', 'it says whom it refuses');
				}
				await assertNotStored(form);
				if (subject) continue;
				assertEnded(answers[1], kind);
				give(browser, 'eve');
				assert.deepEqual(refusal(await browser.follow(answers[1], link(answers[1], 'Try again'))), [403, 'wrong_user']);
				give(browser, 'ada');
				assertTypedAgain(await browser.follow(answers[1], link(answers[1], 'Try again')), kind);
				assertTypedAgain(await browser.open(form.url), kind);
			}
			give(browser, 'ada');
			assert.equal((await browser.submit(page, { button: kind.button, fields: kind.fields })).path, '/done');
			await assertAccepted(form, kind, 'ada');
		});
	}
});
