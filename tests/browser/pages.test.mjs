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
import { openFixture } from '../support/fixture.mjs';
import { openForms } from '../support/forms.mjs';
import { confirmAccount, confirmPayment, open, openForm, PAGES } from './all-pages.mjs';
import { accept, changes } from './boxes.mjs';
import { axe, overflow, PHONE, picture, sheet, startChromium, textSize } from './chromium.mjs';

const LANGUAGES = ['en', 'de', 'fr', 'es', 'it', 'pt', 'ja', 'zh', 'ko', 'ar'];
const OTHERS = LANGUAGES.filter((language) => language !== 'en');
const texts = (language) => JSON.parse(readFileSync(new URL(`../../lib/pages/${language}.json`, import.meta.url), 'utf8'));
const PAGE_MAX = 15_000; // bytes, with everything in it

// One picture of all pages for each of these.
const LOOKS = ['phone', 'arabic', 'dark', 'forced', 'light'];
const drawn = [];

const NARROW = { width: 280, height: 653 };
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
	accept();
	for (const look of LOOKS) {
		await sheet(await chromium.person(), drawn.map((name) => `${name}-${look}`), `all-${look}`);
	}
	provider?.closeAllConnections();
	provider?.close();
	await fixture?.close();
});

const target = () => `http://localhost:${provider.address().port}/`;
const site = () => ({ fixture, forms, target });

/** A page, in a browser of its own. */
async function visit(go, options, check) {
	const person = await chromium.person(options);
	try {
		const tab = await person.tab();
		await go(tab, site());
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
		const h1 = document.querySelector('h1');
		// The heading of a form is the server's, and says its language.
		return { title, heading: h1.lang ? title : h1.textContent, lang, dir, isRight: mark.x - heading.x > heading.width / 2 };
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
					await go(tab, site());
					await stay(tab);
				}, { viewport: PHONE }, async (tab, { problems }) => {
					// All languages have one layout: one of each direction, the one with the longest words, and one in turn.
					const turn = OTHERS[number % OTHERS.length];
					for (const language of languages ?? new Set(['en', 'ar', 'de', turn])) {
						await tab.setExtraHTTPHeaders({ 'Accept-Language': language });
						// They also have the same elements and colours, so that axe looks at one beside English.
						await assertLanguage(tab, language, title, { en: ['light', 'dark'], [turn]: ['dark'] }[language] ?? []);
							if (language === 'en') {
							assert.deepEqual(await changes(tab, name), [], 'its elements have moved: see boxes.mjs');
						}
						if (language === 'en' || language === 'ar') {
							await tab.emulateMedia({ colorScheme: 'light' });
							await picture(tab, `${name}-${language === 'en' ? 'phone' : 'arabic'}`);
						}
						await assertFits(tab, `${name} in ${language}`);
					}
					assert.deepEqual(problems, []);
				});
			});

			test('in English, on a large screen, in forced colours and without JavaScript', async () => {
				await visit(go, { javaScriptEnabled: false }, async (tab, { problems }) => {
					assert.equal(await tab.title(), texts('en')[title]);
					await picture(tab, `${name}-light`);
					await tab.setViewportSize(PHONE);
					await tab.emulateMedia({ colorScheme: 'dark' });
					await picture(tab, `${name}-dark`);
					await tab.emulateMedia({ forcedColors: 'active' });
					await picture(tab, `${name}-forced`);
					drawn.push(name);
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
		await visit(confirmAccount, {}, async (tab) => {
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
		await visit(confirmAccount, {}, async (tab) => {
			await tab.keyboard.press('Tab');
			assert.equal(await tab.evaluate('document.activeElement.textContent'), texts('en').continue);
			await tab.keyboard.press('Tab');
			assert.equal(await tab.evaluate('document.activeElement.textContent'), texts('en').decline);
		});
	});

	test('its buttons are large enough for a finger', async () => {
		await visit(confirmAccount, { viewport: PHONE, isMobile: true }, async (tab) => {
			for (const button of await tab.locator('button').all()) {
				const { width, height } = await button.boundingBox();
				assert.ok(width >= 44 && height >= 44, `${width} × ${height}`);
			}
		});
	});
});

/** How far each line begins from the side where lines begin, and its name. */
const edges = (tab) => tab.evaluate(() => [...document.querySelectorAll('.lead,h1,main p,dl,details,label,input,textarea,select,.go')]
	.filter((element) => element.checkVisibility())
	.map((element) => [element, element.getBoundingClientRect()])
	.map(([{ localName, className }, { left, right }]) => (
		[`${localName}.${className}`, Math.round(document.dir === 'rtl' ? innerWidth - right : left)])));

/** Those without texts of letters W. */
const ORDINARY_FORMS = PAGES.filter(([name]) => /^form(-facts|-text)?$/.test(name));

function firstScreens() {
	for (const [name, , go] of ORDINARY_FORMS) {
		test(`${name}: the first field is on the first screen of a phone, in each language`, async () => {
			await visit(go, { viewport: PHONE, isMobile: true, hasTouch: true }, async (tab) => {
				for (const language of LANGUAGES) {
					await tab.setExtraHTTPHeaders({ 'Accept-Language': language });
					await tab.reload();
					const { y, height } = await tab.locator('#f-api_key').boundingBox();
					assert.ok(y + height <= PHONE.height, `${language}: it ends at ${y + height}`);
				}
			});
		});
	}
}

describe('a form', () => {
	firstScreens();

	for (const [name, , go] of ORDINARY_FORMS) {
		test(`${name}: what can be pressed on a phone has 44 px`, async () => {
			await visit(go, { viewport: PHONE, isMobile: true, hasTouch: true }, async (tab) => {
				for (const element of await tab.locator('button:visible, summary, main a, label.tick, select').all()) {
					const box = await element.boundingBox();
					assert.ok(box.width >= 44 && box.height >= 44, `${await element.textContent()}: ${box.width} × ${box.height}`);
				}
			});
		});
	}

	test('with much text has a summary for it on a phone, and all of it on a large screen', async () => {
		await visit(PAGES.find(([name]) => name === 'form-text')[2], { viewport: PHONE }, async (tab, { problems }) => {
			const [text, facts, summary] = ['main .lines', 'dl', 'summary'].map((selector) => tab.locator(selector).first());
			const seen = () => Promise.all([text, facts, summary].map((element) => element.isVisible()));
			assert.deepEqual(await seen(), [false, false, true]);
			await summary.click();
			assert.deepEqual(await seen(), [true, true, true]);
			await tab.reload();
			await tab.setViewportSize({ width: 1280, height: 800 });
			assert.deepEqual(await seen(), [true, true, false]);
			assert.deepEqual(await axe(tab), []);
			assert.deepEqual(problems, []);
		});
	});

	test('shows a secret and hides it, by mouse and keyboard, and sends what it shows; without JavaScript there is no button', async () => {
		await visit(openForm, {}, async (tab, { problems }) => {
			const type = () => tab.getAttribute('#f-api_key', 'type');
			await tab.fill('#f-api_key', 'sk_live');
			assert.equal(await type(), 'password');
			await tab.click('button:text("Show")');
			assert.equal(await type(), 'text');
			assert.deepEqual(await axe(tab), []);
			await tab.focus('.secret button');
			await tab.keyboard.press('Enter');
			assert.deepEqual([await type(), await tab.textContent('.secret button')], ['password', 'Show']);
			await tab.keyboard.press('Space');
			assert.deepEqual([await type(), await tab.textContent('.secret button')], ['text', 'Hide']);
			await tab.click('button[value=submit]');
			await tab.waitForURL(fixture.url('/done'));
			assert.equal(await tab.textContent('h1'), texts('en').done_title);
			assert.deepEqual(problems, []);
		});
		await visit(openForm, { javaScriptEnabled: false }, async (tab) => {
			assert.equal(await tab.locator('.secret button').isVisible(), false);
			await tab.fill('#f-api_key', 'sk_live');
			await tab.click('button[value=submit]');
			await tab.waitForURL(fixture.url('/done'));
		});
	});

	test('is as even from right to left as from left to right, and in forced colours its two buttons differ', async () => {
		await visit(openForm, { viewport: PHONE }, async (tab) => {
			const left = await edges(tab);
			await tab.setExtraHTTPHeaders({ 'Accept-Language': 'ar' });
			await tab.reload();
			assert.deepEqual(await edges(tab), left);
			await tab.emulateMedia({ forcedColors: 'active' });
			const [first, second] = await tab.locator('.go button').evaluateAll((all) => all.map((button) => getComputedStyle(button).backgroundColor));
			assert.notEqual(first, second);
		});
	});

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

	firstScreens();

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
