// Every page in a real browser, and each language on some of them: no violation of its policy, no
// finding of axe in light and dark, no scroll bar on a phone or with large text, also with the longest
// texts. Pictures go to build/browser/.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';

import { BIN, configure, setUpNginx } from '../security/deployment.mjs';
import { sender } from '../support/deliveries.mjs';
import { openFixture } from '../support/fixture.mjs';
import { openForms } from '../support/forms.mjs';
import { axe, overflow, PHONE, picture, startChromium, textSize } from './chromium.mjs';

const LANGUAGES = ['en', 'de', 'fr', 'es', 'it', 'pt', 'ja', 'zh', 'ko', 'ar'];
const OTHERS = LANGUAGES.filter((language) => language !== 'en');
const texts = (language) => JSON.parse(readFileSync(new URL(`../../lib/pages/${language}.json`, import.meta.url), 'utf8'));
const PAGE_MAX = 10_000; // bytes, with everything in it

const NARROW = { width: 280, height: 653 };
const LONG = {
	requester: 'W'.repeat(200),
	subject: 'averyveryverylongsubjectwithoutanyspace'.repeat(13),
};

let fixture;
let forms;
let chromium;
let provider; // a page, where the links lead

before(async () => {
	provider = createServer((request, response) => {
		response.writeHead(200, { 'Content-Type': 'text/html' }).end('<!doctype html><title>The provider</title>');
	}).listen(0, '127.0.0.1');
	await once(provider, 'listening');
	fixture = await openFixture({ name: 'browser-pages', own: true });
	forms = fixture.closeAtEnd(await openForms(fixture.stack));
	chromium = fixture.closeAtEnd(await startChromium());
});

after(async () => {
	provider?.closeAllConnections();
	provider?.close();
	await fixture?.close();
});

const target = () => `http://localhost:${provider.address().port}/`;
const open = (path) => (tab) => tab.goto(fixture.url(path));

/** Goes on with a payment, and comes back to the page that follows it. */
async function followPayment(tab) {
	const payment = await goToCheckout(tab);
	await tab.goto(payment.returnUrl);
}

/** The same after a card was refused. */
async function followFailedAttempt(tab) {
	const payment = await goToCheckout(tab);
	const adyen = sender(fixture, 'adyen');
	await adyen.send(adyen.event(payment.id, 'failed'));
	await tab.goto(payment.returnUrl);
}

async function goToCheckout(tab) {
	const payment = await fixture.createPayment('adyen', { targetUrl: target(), expected: { amount: 1050, currency: 'EUR' } });
	await tab.goto(payment.url);
	await tab.click('button[value=continue]');
	await tab.waitForURL(target());
	return payment;
}

async function ending(tab, code) {
	const url = fixture.url('/done').replace('http:', 'https:');
	await tab.context().addCookies([{ name: '__Host-urlmode-done', value: code, url, secure: true }]);
	await tab.goto(fixture.url('/done'));
}

async function confirmPayment(tab) {
	const { url } = await fixture.createPayment('adyen', { targetUrl: target(), expected: { amount: 123_450, currency: 'EUR' } });
	await tab.goto(url);
}

async function confirmSignature(tab) {
	const { url } = await fixture.create({ provider: 'docusign', kind: 'signature', targetUrl: target() });
	await tab.goto(url);
}

const FORM = {
	title: { en: 'Connect the shop', ar: 'اربط المتجر' }, text: 'W'.repeat(60),
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
const openForm = async (tab, options) => tab.goto((await forms.create({ form: FORM, ...options })).url);
const openApproval = (tab) => openForm(tab, { kind: 'approval', form: { title: 'Expense', facts: FORM.facts, comment: 'optional' } });

async function openCheck(tab) {
	await openForm(tab, { verify: 120_000 });
	await tab.fill('#f-api_key', 'sk_live');
	await tab.click('button[value=submit]');
}

/** [name, the text that is its title, how to get there, its languages] */
const PAGES = [
	['confirm', 'confirm_title', async (tab) => tab.goto((await fixture.create()).url)],
	['confirm-payment', 'confirm_title', confirmPayment],
	['confirm-signature', 'confirm_title', confirmSignature],
	['confirm-long', 'confirm_title', async (tab) => {
		const urlmode = fixture.openUrlMode({ name: LONG.requester });
		const { url } = await urlmode.create({ provider: 'demo', kind: 'oauth', subject: LONG.subject, targetUrl: target() });
		await tab.goto(url);
	}],
	['confirm-rtl', 'confirm_title', async (tab) => {
		const urlmode = fixture.openUrlMode({ name: 'חברת הדוגמה' });
		const { url } = await urlmode.create({ provider: 'demo', kind: 'oauth', subject: 'مستخدم', targetUrl: target() });
		await tab.goto(url);
	}],
	...['done', 'returned', 'connected', 'not_connected', 'declined', 'failed', 'processing', 'already', 'ended', 'expired', 'mismatch', 'late', 'refused',
		'recorded', 'form_declined', 'form_ended']
		.map((code) => [code, `${code}_title`, (tab) => ending(tab, code)]),
	['ended-link', 'ended_title', async (tab) => {
		const { id, owner, url } = await fixture.create();
		await fixture.urlmode.cancel(id, owner);
		await tab.goto(url);
	}],
	['form', 'form_title', openForm],
	['form-checking', 'checking_title', openCheck],
	['approval', 'approval_title', openApproval],
	['follow', 'waiting_title', followPayment],
	['follow-failed', 'waiting_title', followFailedAttempt],
	['refusal', 'link_invalid_title', open('/connect/demo?state=x')],
	['nginx-404', 'not_found_title', open('/no/such/page')],
	// nginx has not read the headers by then.
	['nginx-414', 'too_large_title', open(`/done?${'x'.repeat(30_000)}`), ['en']],
];

/** A page, in a browser of its own. */
async function visit(go, options, check) {
	const person = await chromium.person(options);
	try {
		const tab = await person.tab();
		await go(tab);
		await check(tab, person);
	} finally {
		await person.close();
	}
}

/** Of a page that would load itself again: not while it is looked at. */
async function stay(tab) {
	await tab.route('**', async (route) => {
		const response = await route.fetch();
		const { refresh: _, ...headers } = response.headers();
		await route.fulfill({ response, headers });
	});
}

/** Nothing of a page on a phone is cut off or needs to be scrolled sideways, nor with text of twice its size. */
async function assertFits(tab, name) {
	const fits = async (viewport, scale) => {
		const wider = await overflow(tab);
		assert.ok(wider <= 0, `${name} is ${wider} px too wide for ${viewport.width}, text × ${scale}`);
	};
	await fits(PHONE, 1);
	await tab.setViewportSize(NARROW);
	await fits(NARROW, 1);
	const larger = { width: 640, height: 800 };
	await textSize(tab, 2);
	await tab.setViewportSize(larger);
	await fits(larger, 2);
	await textSize(tab, 1);
	await tab.setViewportSize(PHONE);
}

/** The page in one language: its words, its direction, its accessibility and its size. */
async function assertLanguage(tab, language, titleText, schemes) {
	const { lang, dir, [titleText]: title } = texts(language);
	const response = await tab.reload();

	assert.ok((await response.body()).length < PAGE_MAX);
	const seen = await tab.evaluate(() => {
		const { title, documentElement: { lang, dir } } = document;
		const [mark, heading] = ['.mark', 'main'].map((selector) => document.querySelector(selector).getBoundingClientRect());
		return { title, heading: document.querySelector('h1').textContent, lang, dir, isRight: mark.x - heading.x > heading.width / 2 };
	});
	assert.deepEqual(seen, { title, heading: title, lang, dir, isRight: dir === 'rtl' }, 'the mark is where a line begins');
	for (const [number, colorScheme] of schemes.entries()) {
		await tab.emulateMedia({ colorScheme });
		assert.deepEqual(await axe(tab, { colours: number > 0 }), [], `${language}, ${colorScheme}`);
	}
}

function pages(list) {
	for (const [number, [name, title, go, languages]] of list.entries()) {
		describe(name, () => {
			test('light and dark: axe finds nothing, it fits a phone and text of twice its size', async () => {
				await visit(async (tab) => {
					await go(tab);
					await stay(tab);
				}, { viewport: PHONE }, async (tab, { problems }) => {
					// All languages have one layout: one of each direction, the one with the longest words, and one in turn.
					const turn = OTHERS[number % OTHERS.length];
					for (const language of languages ?? new Set(['en', 'ar', 'de', turn])) {
						await tab.setExtraHTTPHeaders({ 'Accept-Language': language });
						// They also have the same elements and colours, so that axe looks at one beside English.
						await assertLanguage(tab, language, title, { en: ['light', 'dark'], [turn]: ['dark'] }[language] ?? []);
						await assertFits(tab, `${name} in ${language}`);
					}
					assert.deepEqual(problems, []);
				});
			});

			test('in English, on a large screen, in forced colours and without JavaScript', async () => {
				await visit(go, { javaScriptEnabled: false }, async (tab, { problems }) => {
					assert.equal(await tab.locator('h1').textContent(), texts('en')[title]);
					for (const colorScheme of ['light', 'dark']) {
						await tab.emulateMedia({ colorScheme });
						await picture(tab, `${name}-${colorScheme}`);
					}
					await tab.emulateMedia({ forcedColors: 'active' });
					await picture(tab, `${name}-forced`);
					assert.deepEqual(problems, []);
				});
			});
		});
	}
}

pages(PAGES);

describe('the confirm page', () => {
	for (const language of LANGUAGES) {
		test(`in ${language} it has the amount as people write it there`, async () => {
			const options = { extraHTTPHeaders: { 'Accept-Language': `xx, ${language};q=0.5` } };
			await visit(confirmPayment, options, async (tab) => {
				const format = new Intl.NumberFormat(language, { style: 'currency', currency: 'EUR', currencyDisplay: 'code' });
				assert.equal(await tab.textContent('.total'), format.format(1_234.5).replace('\u200f', ''));
			});
		});
	}

	test('is answered by keyboard alone, and shows where the focus is', async () => {
		await visit(PAGES[0][2], {}, async (tab) => {
			await tab.keyboard.press('Tab');
			assert.notEqual(await tab.evaluate('getComputedStyle(document.activeElement).outlineStyle'), 'none');
			await tab.keyboard.press('Tab');
			await tab.keyboard.press('Enter');
			await tab.waitForURL(fixture.url('/done'));
			assert.equal(await tab.textContent('h1'), texts('en').declined_title);
		});
	});

	test('in Arabic everything is mirrored', async () => {
		const options = { extraHTTPHeaders: { 'Accept-Language': 'ar' } };
		await visit(confirmPayment, options, async (tab) => {
			const left = async (selector) => (await tab.locator(selector).first().boundingBox()).x;
			assert.ok(await left('button[value=continue]') > await left('button[value=refuse]'));
			assert.ok(await left('dt') > await left('dd'));
			await picture(tab, 'confirm-payment-arabic');
		});
	});

	test('goes by keyboard alone: the first button is to go on', async () => {
		await visit(PAGES[0][2], {}, async (tab) => {
			await tab.keyboard.press('Tab');
			assert.equal(await tab.evaluate('document.activeElement.textContent'), texts('en').continue);
			await tab.keyboard.press('Tab');
			assert.equal(await tab.evaluate('document.activeElement.textContent'), texts('en').decline);
		});
	});

	test('its buttons are large enough for a finger', async () => {
		await visit(PAGES[0][2], { viewport: PHONE, isMobile: true }, async (tab) => {
			for (const button of await tab.locator('button').all()) {
				const { width, height } = await button.boundingBox();
				// WCAG 2.2, 2.5.8.
				assert.ok(width >= 24 && height >= 24, `${width} × ${height}`);
			}
		});
	});
});

describe('a form', () => {
	test('is filled in and sent by keyboard alone', async () => {
		await visit(openForm, {}, async (tab) => {
			await tab.focus('#f-api_key');
			assert.notEqual(await tab.evaluate('getComputedStyle(document.activeElement).outlineStyle'), 'none');
			await tab.keyboard.type('sk_live');
			await tab.keyboard.press('Enter');
			await tab.waitForURL(fixture.url('/done'));
			assert.equal(await tab.textContent('h1'), texts('en').done_title);
		});
	});

	test('comes back with the focus on its first mistake, without the secret, and axe finds nothing', async () => {
		await visit(openForm, {}, async (tab, { problems }) => {
			await tab.fill('#f-mail', 'zoe@example.com');
			await tab.fill('#f-api_key', 'quite wrong');
			await tab.click('button[value=submit]');
			await tab.waitForSelector('#e-api_key');
			assert.equal(await tab.evaluate('document.activeElement.id'), 'f-api_key');
			assert.deepEqual([await tab.inputValue('#f-api_key'), await tab.inputValue('#f-mail')], ['', 'zoe@example.com']);
			for (const colorScheme of ['light', 'dark']) {
				await tab.emulateMedia({ colorScheme });
				assert.deepEqual(await axe(tab), [], colorScheme);
				await picture(tab, `form-mistakes-${colorScheme}`);
			}
			assert.deepEqual(problems.filter((text) => !text.includes('422')), []);
		});
	});

	test('is declined without a word, although a field is required', async () => {
		await visit(openForm, {}, async (tab) => {
			await tab.click('button[value=decline]');
			await tab.waitForURL(fixture.url('/done'));
			assert.equal(await tab.textContent('h1'), texts('en').declined_title);
		});
	});
});

describe('with a name, a logo, colours and a way back', () => {
	const LOGO = '<svg xmlns="http://www.w3.org/2000/svg" width="120" height="32"><circle cx="16" cy="16" r="14" fill="green"/>'
		+ '<path d="M9 17l5 5 9-11" fill="none" stroke="white" stroke-width="3"/><path d="M44 8h60v5H44zM44 19h36v5H44z" fill="green"/></svg>';
	const BRAND = {
		name: 'Example Notes', logo_url: '/logo.svg', accent: '#0a7d4f', accent_dark: '#7ddb9d',
		return_to: 'vscode://example.notes/back', return_schemes: ['vscode'],
	};

	before(async () => {
		await configure(fixture.stack, (config) => {
			config.pages = BRAND;
		});
		const conf = execFileSync(path.join(BIN, '../libexec/operate'), ['pages'], {
			env: { ...process.env, URLMODE_CONFIG: fixture.stack.env.URLMODE_CONFIG }, encoding: 'utf8',
		});
		await setUpNginx(fixture.stack, {
			edit: {
				'pages.conf': () => conf,
				'server.conf': (text) => `${text}location = /logo.svg { default_type image/svg+xml; return 200 '${LOGO}'; }\n`,
			},
		});
	});

	after(async () => {
		await configure(fixture.stack, (config) => {
			delete config.pages;
		});
		await setUpNginx(fixture.stack);
	});

	for (const [name, go] of [['confirm', confirmPayment], ['done', open('/done')], ['refusal', open('/connect/demo?state=x')], ['nginx-404', open('/no/such/page')]]) {
		test(`${name}: the logo has a name, and axe finds nothing in both schemes`, async () => {
			await visit(go, {}, async (tab, { problems }) => {
				assert.match(await tab.title(), / – Example Notes$/);
				const logo = tab.getByRole('img', { name: 'Example Notes' });
				assert.equal(await logo.evaluate((image) => image.decode().then(() => image.naturalWidth)), 120);
				for (const colorScheme of ['light', 'dark']) {
					await tab.emulateMedia({ colorScheme });
					assert.deepEqual(await axe(tab), [], colorScheme);
					await picture(tab, `brand-${name}-${colorScheme}`);
				}
				await tab.setViewportSize(PHONE);
				assert.ok(await overflow(tab) <= 0);
				assert.ok((await tab.content()).length < PAGE_MAX);
				assert.deepEqual(problems, []);
			});
		});
	}

	test('the last page has the way back, in the site\'s colour', async () => {
		await visit(open('/done'), {}, async (tab) => {
			const way = tab.getByRole('link', { name: 'Back to Example Notes' });
			assert.equal(await way.getAttribute('href'), BRAND.return_to);
			assert.equal(await way.evaluate((link) => getComputedStyle(link).backgroundColor), 'rgb(10, 125, 79)');
			await tab.keyboard.press('Tab');
			assert.equal(await tab.evaluate('document.activeElement.localName'), 'a');
		});
	});
});

// Last: the deployment is another from here on.
describe('where the web server signs users in', () => {
	before(async () => {
		await setUpNginx(fixture.stack, { snippets: ['auth-basic.conf'], files: { 'urlmode.htpasswd': 'ada:{PLAIN}secret\n' } });
		await configure(fixture.stack, (config) => {
			config.user_check = 'remote-user';
		});
	});

	pages([['wrong-user', 'wrong_user_title', async (tab) => {
		await tab.context().setHTTPCredentials({ username: 'ada', password: 'secret' });
		await tab.goto((await fixture.create()).url);
	}]]);
});

describe('where the web server says nobody', () => {
	before(() => setUpNginx(fixture.stack));

	pages([['sign-in-not-set-up', 'sign_in_not_set_up_title', async (tab) => tab.goto((await fixture.create()).url)]]);
});

describe('where nothing answers', () => {
	before(async () => {
		await fixture.stack.service('stop', 'connect');
	});

	pages([['nginx-502', 'busy_title', open('/connect/demo?state=x')]]);
});

describe('where the database is away', () => {
	before(async () => {
		await fixture.stack.service('start', 'connect');
		await setUpNginx(fixture.stack);
		await configure(fixture.stack, (config) => {
			config.user_check = 'confirm';
		});
		({ url } = await fixture.create());
		await fixture.stack.service('stop', 'postgres');
	});
	let url;

	pages([['unavailable', 'busy_title', (tab) => tab.goto(url)]]);
});
