// Every page, and how a person comes to it. `site` is { fixture, forms, target }: a stack, its forms, and
// a function that returns the address of the provider's page.

import { sender } from '../support/deliveries.mjs';

/** Of one length in every run, as its letters have one width. */
const SUBJECT = 'ada.lovelace@example.org';
/** The widest letter, and nowhere to break a line. */
const wide = (characters) => 'W'.repeat(characters);
const LONG = {
	requester: wide(200),
	subject: 'averyveryverylongsubjectwithoutanyspace'.repeat(13),
};

export const open = (path) => (tab, { fixture }) => tab.goto(fixture.url(path));

/** Goes on with a payment, and comes back to the page that follows it. */
async function followPayment(tab, site) {
	const payment = await goToCheckout(tab, site);
	await tab.goto(payment.returnUrl);
}

/** The same after a card was refused. */
async function followFailedAttempt(tab, site) {
	const payment = await goToCheckout(tab, site);
	const adyen = sender(site.fixture, 'adyen');
	await adyen.send(adyen.event(payment.id, 'failed'));
	await tab.goto(payment.returnUrl);
}

async function goToCheckout(tab, { fixture, target }) {
	const payment = await fixture.createPayment('adyen', { subject: SUBJECT, targetUrl: target(), expected: { amount: 1050, currency: 'EUR' } });
	await tab.goto(payment.url);
	await tab.click('button[value=continue]');
	await tab.waitForURL(target());
	return payment;
}

async function ending(tab, { fixture }, code) {
	const url = fixture.url('/done').replace('http:', 'https:');
	await tab.context().addCookies([{ name: '__Host-urlmode-done', value: code, url, secure: true }]);
	await tab.goto(fixture.url('/done'));
}

export const confirmAccount = async (tab, { fixture }) => tab.goto((await fixture.create({ subject: SUBJECT })).url);

export async function confirmPayment(tab, { fixture, target }) {
	const { url } = await fixture.createPayment('adyen', { subject: SUBJECT, targetUrl: target(), expected: { amount: 123_450, currency: 'EUR' } });
	await tab.goto(url);
}

async function confirmSignature(tab, { fixture, target }) {
	const { url } = await fixture.create({ provider: 'docusign', kind: 'signature', subject: SUBJECT, targetUrl: target() });
	await tab.goto(url);
}

const FORM = {
	title: { en: 'Connect the shop', ar: 'اربط المتجر' }, text: 'The assistant needs a key of your shop to read orders. It can be taken back at any time.',
	facts: [{ label: 'Shop', value: 'Books & Co' }],
	fields: [
		{ name: 'api_key', type: 'secret', label: 'API key', help: 'Under Developers', required: true, format: 'token',
			link: { url: 'https://shop.example/keys', label: 'Get a key' } },
		{ name: 'mail', type: 'email', label: 'E-mail' },
		{ name: 'region', type: 'choice', label: 'Region', choices: [{ value: 'eu', label: 'Europe' }] },
		{ name: 'notes', type: 'multiline', label: 'Notes' },
		{ name: 'terms', type: 'checkbox', label: 'I agree' },
	],
};
export const openForm = async (tab, { forms }, options) => tab.goto((await forms.create({ subject: SUBJECT, form: FORM, ...options })).url);
const FACTS = [
	{ label: 'Amount', value: 'EUR 1,250.00' }, { label: 'Payee', value: 'Hotel Adler, Berlin' }, { label: 'Cost centre', value: '4711 Sales' },
	{ label: 'Reason', value: 'Trade fair, three nights\nBreakfast is included' }, { label: 'Nights', value: '3' }, { label: wide(30), value: wide(60) },
];
/** Texts of ordinary letters, a heading and a name of several lines; a phone has no room for all of it. */
const MUCH_TEXT = {
	title: 'Connect the shop of the bookseller in the old town, so that the assistant can read its orders and returns of this year',
	text: `${FORM.text} ${'It reads each order once, and changes nothing. '.repeat(18)}`, facts: FACTS, fields: FORM.fields.slice(0, 1),
};
/** Each text as long as a form's may be, but for `text`, which is a paragraph. */
const LONG_FORM = {
	title: wide(120), text: wide(400), facts: [{ label: wide(120), value: wide(500) }],
	fields: [
		{ name: 'secret', type: 'secret', label: wide(200), help: wide(500), link: { url: 'https://shop.example/keys', label: wide(120) } },
		{ name: 'region', type: 'choice', label: wide(200), choices: [{ value: 'eu', label: wide(200) }] },
		{ name: 'terms', type: 'checkbox', label: wide(200) },
	],
	submit_label: wide(40),
};
const openLongApproval = (tab, site) => openForm(tab, site, { kind: 'approval', subject: LONG.subject,
	form: { title: wide(120), text: wide(1_000), facts: LONG_FORM.facts, comment: 'required' } });
const openApproval = (tab, site) => openForm(tab, site, { kind: 'approval', form: { title: 'Expense', facts: FORM.facts, comment: 'optional' } });

/** Sent with a mistake, so that it is there again. */
async function openMistakes(tab, site) {
	await openForm(tab, site);
	await tab.fill('#f-api_key', 'quite wrong');
	await tab.click('button[value=submit]');
	await tab.waitForSelector('#e-api_key');
}

async function openCheck(tab, site) {
	await openForm(tab, site, { verify: 120_000 });
	await tab.fill('#f-api_key', 'sk_live');
	await tab.click('button[value=submit]');
}

/** [name, the text that is its title, how to get there, its languages] */
export const PAGES = [
	['confirm', 'confirm_title', confirmAccount],
	['confirm-payment', 'confirm_title', confirmPayment],
	['confirm-signature', 'confirm_title', confirmSignature],
	['confirm-long', 'confirm_title', async (tab, { fixture, target }) => {
		const urlmode = fixture.openUrlMode({ name: LONG.requester });
		const { url } = await urlmode.create({ provider: 'demo', kind: 'oauth', subject: LONG.subject, targetUrl: target() });
		await tab.goto(url);
	}],
	['confirm-rtl', 'confirm_title', async (tab, { fixture, target }) => {
		const urlmode = fixture.openUrlMode({ name: 'חברת הדוגמה' });
		const { url } = await urlmode.create({ provider: 'demo', kind: 'oauth', subject: 'مستخدم', targetUrl: target() });
		await tab.goto(url);
	}],
	...['done', 'returned', 'connected', 'not_connected', 'declined', 'failed', 'processing', 'already', 'ended', 'expired', 'mismatch', 'late', 'refused',
		'recorded', 'form_declined', 'form_ended']
		.map((code) => [code, `${code}_title`, (tab, site) => ending(tab, site, code)]),
	['ended-link', 'ended_title', async (tab, { fixture }) => {
		const { id, owner, url } = await fixture.create();
		await fixture.urlmode.cancel(id, owner);
		await tab.goto(url);
	}],
	['form', 'form_title', openForm],
	['form-facts', 'form_title', (tab, site) => openForm(tab, site, { form: { title: FORM.title, text: `${FORM.text} ${wide(60)}`, facts: FACTS,
		fields: FORM.fields.slice(0, 1), submit_label: 'Connect' } })],
	['form-text', 'form_title', (tab, site) => openForm(tab, site, { form: MUCH_TEXT })],
	['form-mistakes', 'form_title', openMistakes],
	['approval-facts', 'approval_title', (tab, site) => openForm(tab, site, { kind: 'approval', form: { title: 'Expense of 1,250 euros for the trade fair in Berlin',
		facts: FACTS, comment: 'required' } })],
	['form-long', 'form_title', (tab, site) => openForm(tab, site, { subject: LONG.subject, form: LONG_FORM })],
	['approval-long', 'approval_title', openLongApproval],
	['form-checking', 'checking_title', openCheck],
	['approval', 'approval_title', openApproval],
	['follow', 'waiting_title', followPayment],
	['follow-failed', 'waiting_title', followFailedAttempt],
	['refusal', 'link_invalid_title', open('/connect/demo?state=x')],
	['nginx-404', 'not_found_title', open('/no/such/page')],
	// nginx has not read the headers by then.
	['nginx-414', 'too_large_title', open(`/done?${'x'.repeat(30_000)}`), ['en']],
];
