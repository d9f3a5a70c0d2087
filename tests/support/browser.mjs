// A browser without a window: it keeps cookies, follows redirects one by one
// and submits forms as a browser would, and remembers every hop.
//
//     const browser = new Browser();
//     const page = await browser.open(elicitation.url);
//     const next = await browser.submit(page, { button: 'continue' });
//     next.status, next.text, next.hops.map((hop) => hop.url)
//     browser.close();
//
// One instance is one browser; its pages are its tabs, and another person is
// another instance. It runs no scripts: submit(page) stands for a page that
// submits its form by itself (form_post). Like browsers it treats plain HTTP
// on loopback as secure, and 127.0.0.1 and localhost as two sites.

import http from 'node:http';
import https from 'node:https';

import { CookieJar, siteOf } from './cookies.mjs';
import { HtmlDocument } from './html.mjs';
import { isSentAgain } from './http.mjs';

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const REDIRECTS_MAX = 20;
const SITES = ['none', 'same-origin', 'same-site', 'cross-site'];

export class Browser {
	/** Every hop of every navigation, in order. */
	history = [];

	#agents;
	#isClosed = false;
	#timeout;

	/**
	 * @param {{ jar?: CookieJar, timeout?: number, ca?: string, keepAlive?: boolean }} [options]
	 *     timeout: milliseconds for one hop; ca: PEM of a certificate authority;
	 *     keepAlive: whether connections are used again
	 */
	constructor({ jar = new CookieJar(), timeout = 10_000, ca, keepAlive = true } = {}) {
		this.jar = jar;
		this.#timeout = timeout;
		this.#agents = {
			'http:': new http.Agent({ keepAlive }),
			'https:': new https.Agent({ keepAlive, ca }),
		};
	}

	/** Opens a URL as if the user had typed it. */
	open(url, { headers } = {}) {
		return this.navigate({ url: new URL(url), headers });
	}

	/** Follows a link of `page`; `href` may be relative. */
	follow(page, href, { headers } = {}) {
		return this.navigate({ url: new URL(href, page.url), from: page, headers });
	}

	/**
	 * Submits a form of `page`.
	 * @param {Page} page
	 * @param {{ form?: number, button?: string, fields?: Record<string, string>,
	 *     headers?: Record<string, string> }} [options]
	 *     button: value or text of the button; without it the form submits itself.
	 *     fields: values that replace those of the page
	 */
	submit(page, { form: index = 0, button, fields = {}, headers } = {}) {
		const form = page.forms[index];
		if (!form) {
			throw new Error(`${page.path} has no form ${index}`);
		}
		const data = filledIn(form, fields, page);
		if (button !== undefined) {
			data.push(...pressed(form, button, page));
		}
		const url = new URL(form.action || page.url, page.url);
		const query = new URLSearchParams(data).toString();

		if (form.method === 'post') {
			return this.navigate({ method: 'POST', url, body: query, from: page, headers });
		}
		url.search = query;
		return this.navigate({ url, from: page, headers });
	}

	/**
	 * Sends a request and follows its redirects.
	 * @param {{ url: URL, method?: string, body?: string, from?: Page,
	 *     headers?: Record<string, string> }} request
	 * @returns {Promise<Page>}
	 */
	async navigate({ url, method = 'GET', body, from, headers = {} }) {
		const hops = [];
		let site = 'none';

		for (;;) {
			site = fartherSite(site, from, url);
			const hop = await this.send({ url, method, body, from, site, headers });
			hops.push(hop);
			if (!REDIRECTS.has(hop.status) || hop.location === undefined) {
				return new Page(hop, hops);
			}
			if (hops.length > REDIRECTS_MAX) {
				throw new Error(`more than ${REDIRECTS_MAX} redirects`);
			}
			url = new URL(hop.location, url);
			if (becomesGet(hop.status, method)) {
				method = 'GET';
				body = undefined;
			}
		}
	}

	/** Sends one request with this browser's cookies without following redirects. Returns the hop. */
	async send({ url, method = 'GET', body, from, site = fartherSite('none', from, url), headers = {} }) {
		const initiator = from ? new URL(from.url) : null;
		const response = await this.#exchange(url, method, body, {
			...navigationHeaders({ url, method, body, from, site }),
			...cookieHeader(this.jar.header(url, { method, initiator })),
			...headers,
		});
		for (const header of response.headers['set-cookie'] ?? []) {
			this.jar.store(header, url);
		}
		const hop = { method, url: url.href, ...response, location: response.headers.location };
		this.history.push(hop);
		return hop;
	}

	/** Closes the connections that are kept open. */
	close() {
		this.#isClosed = true;
		for (const agent of Object.values(this.#agents)) {
			agent.destroy();
		}
	}

	#exchange(url, method, body, headers) {
		const client = { 'http:': http, 'https:': https }[url.protocol];
		if (!client) {
			throw new Error(`not a web address: ${url.protocol}`);
		}
		return new Promise((resolve, reject) => {
			const request = client.request(url, {
				method,
				headers,
				agent: this.#agents[url.protocol],
				maxHeaderSize: 65_536, // as browsers do: an address of 16 KB in a redirect
				signal: AbortSignal.timeout(this.#timeout),
			});
			request.on('error', (error) => {
				if (!this.#isClosed && isSentAgain(request, error)) resolve(this.#exchange(url, method, body, headers));
				else reject(error);
			});
			request.on('response', (response) => {
				const chunks = [];
				response.on('data', (chunk) => chunks.push(chunk));
				response.on('error', reject);
				response.on('end', () => resolve({
					status: response.statusCode,
					headers: response.headers,
					body: Buffer.concat(chunks).toString('utf8'),
				}));
			});
			request.end(body);
		});
	}
}

/** The last response of a navigation. `hops` are all its requests, the last one included. */
export class Page {
	#document;

	constructor(hop, hops) {
		this.url = hop.url;
		this.status = hop.status;
		this.headers = hop.headers;
		this.body = hop.body;
		this.hops = hops;
	}

	/** The address without its query. */
	get path() {
		return new URL(this.url).pathname;
	}

	get document() {
		this.#document ??= new HtmlDocument(this.body);
		return this.#document;
	}

	get title() {
		return this.document.title;
	}

	/** The visible text, white space folded. */
	get text() {
		return this.document.text;
	}

	get forms() {
		return this.document.forms;
	}

	/** Elements of one tag name: `[{ attributes, text }]`. */
	find(tagName) {
		return this.document.find(tagName);
	}

	/** Seconds until the page loads itself (again), or undefined. */
	get refresh() {
		const meta = this.find('meta')
			.find(({ attributes }) => attributes['http-equiv']?.toLowerCase() === 'refresh');
		const value = this.headers.refresh ?? meta?.attributes.content;
		return value === undefined ? undefined : Number.parseInt(value, 10);
	}
}

function filledIn(form, fields, page) {
	for (const name of Object.keys(fields)) {
		if (!form.names.includes(name)) {
			throw new Error(`${page.path} has no field ${name}`);
		}
	}
	return [
		...form.fields.filter(([name]) => !(name in fields)),
		...Object.entries(fields),
	];
}

function pressed(form, button, page) {
	const found = form.buttons.find(({ value, text }) => value === button || text === button);
	if (!found) {
		throw new Error(`${page.path} has no button ${button}`);
	}
	return found.name === '' ? [] : [[found.name, found.value]];
}

function becomesGet(status, method) {
	return status === 303 ? method !== 'HEAD' : status < 303 && method === 'POST';
}

/** Sec-Fetch-Site: the most distant relation to the initiator in a chain of redirects. */
function fartherSite(before, from, url) {
	if (!from) {
		return 'none';
	}
	const origin = new URL(from.url);
	const now = origin.origin === url.origin ? 'same-origin'
		: siteOf(origin) === siteOf(url) ? 'same-site' : 'cross-site';
	return SITES[Math.max(SITES.indexOf(before), SITES.indexOf(now))];
}

function navigationHeaders({ url, method, body, from, site }) {
	const headers = {
		'User-Agent': 'Mozilla/5.0 (urlmode tests)',
		'Accept': 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8',
		'Sec-Fetch-Site': site,
		'Sec-Fetch-Mode': 'navigate',
		'Sec-Fetch-Dest': 'document',
		'Sec-Fetch-User': '?1',
	};
	if (body !== undefined) {
		headers['Content-Type'] = 'application/x-www-form-urlencoded';
		headers['Content-Length'] = String(Buffer.byteLength(body));
	}
	if (from) {
		Object.assign(headers, originHeaders(from, url, method));
	}
	return headers;
}

/**
 * Referer and Origin under the page's referrer policy. A page with
 * `no-referrer` posts with `Origin: null` even to its own origin (Fetch,
 * "append a request Origin header").
 */
function originHeaders(from, url, method) {
	const { origin } = new URL(from.url);
	const policy = from.headers['referrer-policy'] ?? 'strict-origin-when-cross-origin';
	const hidden = policy === 'no-referrer' || (policy === 'same-origin' && origin !== url.origin);
	const headers = {};

	if (!hidden) {
		headers.Referer = origin === url.origin ? from.url.split('#')[0] : `${origin}/`;
	}
	if (method !== 'GET' && method !== 'HEAD') {
		headers.Origin = hidden ? 'null' : origin;
	}
	return headers;
}

function cookieHeader(value) {
	return value === undefined ? {} : { Cookie: value };
}
