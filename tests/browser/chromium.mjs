// Debian's Chromium without windows, which needs less than half of the processor time of the one
// that has them, and without network: no name except localhost resolves. All errors of a page are
// recorded.

import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { chromium } from 'playwright-core';

const EXECUTABLE = '/usr/bin/chromium-headless-shell';
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const PICTURES = fileURLToPath(new URL('../../build/browser', import.meta.url));

export const PHONE = { width: 320, height: 568 };
const DESKTOP = { width: 1280, height: 800 };

/** @returns {Promise<Chromium>} */
export async function startChromium() {
	const home = await mkdtemp(path.join(tmpdir(), 'urlmode-chromium-'));
	try {
		const browser = await chromium.launch({
			executablePath: EXECUTABLE,
			env: { ...process.env, HOME: home },
			args: [
				'--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
				'--disable-component-update', '--disable-sync', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1',
			],
		});
		return new Chromium(browser, home);
	} catch (error) {
		await rm(home, { recursive: true, force: true });
		throw error;
	}
}

class Chromium {
	#browser;
	#home;

	constructor(browser, home) {
		this.#browser = browser;
		this.#home = home;
	}

	/**
	 * Another person's browser: cookies of its own. A page that waits would be drawn sixty times a second if it moved.
	 *
	 * @param {import('playwright-core').BrowserContextOptions & { blocksThirdParties?: boolean }} [options] whose cookies of third parties
	 *     are blocked, if that is so
	 * @returns {Promise<Person>}
	 */
	async person({ blocksThirdParties = false, ...options } = {}) {
		return new Person(await this.#browser.newContext({ viewport: DESKTOP, reducedMotion: 'reduce', ...options }), blocksThirdParties);
	}

	async close() {
		await this.#browser.close();
		await rm(this.#home, { recursive: true, force: true });
	}
}

class Person {
	/** What went wrong on any page: [what, where]. */
	problems = [];
	/** Every request: { method, url, headers, status, location }. */
	requests = [];

	#context;
	#blocksThirdParties;
	#recording = [];

	constructor(context, blocksThirdParties) {
		this.#context = context;
		this.#blocksThirdParties = blocksThirdParties;
		context.setDefaultTimeout(30_000);
		context.on('response', (response) => this.#recording.push(this.#record(response)));
	}

	/** Another tab. */
	async tab() {
		const page = await this.#context.newPage();
		const session = await debuggerOf(page);
		const report = (what) => this.problems.push([what, withoutQuery(page.url())]);

		session.on('Audits.issueAdded', ({ issue }) => {
			if (issue.code === 'ContentSecurityPolicyIssue') {
				report(`policy: ${JSON.stringify(issue.details.contentSecurityPolicyIssueDetails)}`);
			}
		});
		await session.send('Audits.enable');
		if (this.#blocksThirdParties) {
			await session.send('Network.enable');
			await session.send('Network.setCookieControls',
				{ enableThirdPartyCookieRestriction: true, disableThirdPartyCookieMetadata: true, disableThirdPartyCookieHeuristics: true });
		}
		page.on('pageerror', (error) => report(`error: ${error.message}`));
		page.on('console', (message) => {
			// A refusal's status is on the console as well; tests look at statuses themselves.
			if (['error', 'warning'].includes(message.type()) && !/status of [45]\d\d/.test(message.text())) {
				report(`console: ${message.text()}`);
			}
		});
		return page;
	}

	/** The cookies for an address, or all. */
	cookies(url) {
		return this.#context.cookies(url);
	}

	/** Until every answer that has come is in `requests`. */
	async recorded() {
		await Promise.all(this.#recording);
		return this.requests;
	}

	async #record(response) {
		const request = response.request();
		const entry = { method: request.method(), url: request.url(), status: response.status(), location: response.headers().location, headers: {} };
		this.requests.push(entry);
		entry.headers = await request.allHeaders().catch(() => ({}));
	}

	close() {
		return this.#context.close();
	}
}

const withoutQuery = (url) => url.split('?')[0];

const sessions = new WeakMap();

/** The session with the debugger of a page: always the same one, since a new one takes longer than most of what it is asked. */
function debuggerOf(page) {
	if (!sessions.has(page)) sessions.set(page, page.context().newCDPSession(page));
	return sessions.get(page);
}

const COLOURS = ['color-contrast', 'link-in-text-block'];

/** What axe finds on a page, or of its colours alone; through the debugger, so that no policy stands in its way. */
export async function axe(page, { colours = false } = {}) {
	const options = { resultTypes: ['violations'], ...colours && { runOnly: COLOURS } };
	const session = await debuggerOf(page);
	const { result: { value: isThere } } = await session.send('Runtime.evaluate', { expression: 'typeof axe !== "undefined"' });
	if (!isThere) await session.send('Runtime.evaluate', { expression: `${AXE};undefined` });
	const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
		expression: `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => JSON.stringify(violations.map(({ id, help, nodes }) => (
			[id, help, nodes.map(({ html }) => html)]))))`,
		awaitPromise: true,
	});
	if (exceptionDetails) {
		throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
	}
	return JSON.parse(result.value);
}

/** How much wider a page is than its window. */
export async function overflow(page) {
	const session = await debuggerOf(page);
	const { result } = await session.send('Runtime.evaluate', {
		expression: 'document.scrollingElement.scrollWidth - window.innerWidth',
	});
	return result.value;
}

/** A picture in build/browser/. */
export async function picture(page, name) {
	await mkdir(PICTURES, { recursive: true });
	await page.screenshot({ path: path.join(PICTURES, `${name}.png`), fullPage: true });
}

/** Text of the size that somebody set in the browser: 1 is the usual, 2 is twice as large. */
export async function textSize(page, scale) {
	const session = await debuggerOf(page);
	await session.send('Page.setFontSizes', { fontSizes: { standard: 16 * scale, fixed: 13 * scale } });
}

/** Pictures one beside the other, as one in build/browser/. Closes the person whose browser draws it. */
export async function sideBySide(person, pictures, name) {
	try {
		const tab = await person.tab();
		const images = pictures.map((bytes) => `<img src="data:image/png;base64,${bytes.toString('base64')}">`);
		await tab.setContent(`<body style="display:flex;gap:16px;margin:16px;align-items:start;background:#8b929c">${images.join('')}`);
		await picture(tab, name);
	} finally {
		await person.close();
	}
}

/**
 * Pictures of build/browser/ side by side, as one, whose line is the end of a phone's first screen; that of the run before has
 * "before" in its name. Closes the person.
 */
export async function sheet(person, names, name) {
	try {
		const tab = await person.tab();
		const read = async (file) => (await readFile(path.join(PICTURES, `${file}.png`)).catch(() => undefined))?.toString('base64');
		const figures = await Promise.all(names.map(async (file) => [file, await read(file)]));
		await rename(path.join(PICTURES, `${name}.png`), path.join(PICTURES, `${name}-before.png`)).catch(() => {});
		await tab.setViewportSize({ width: 3_000, height: 1_000 });
		await tab.setContent(`<style>body{display:flex;flex-wrap:wrap;gap:16px;margin:16px;align-items:start;background:#8b929c;font:14px sans-serif}
			figure{margin:0;position:relative}img{display:block;max-width:640px}
			figure::after{content:"";position:absolute;top:${PHONE.height + 18}px;width:100%;border-top:1px dashed red}</style>`
			+ figures.filter(([, image]) => image !== undefined)
				.map(([file, image]) => `<figure>${file}<img src="data:image/png;base64,${image}"></figure>`).join(''));
		await picture(tab, name);
	} finally {
		await person.close();
	}
}
