// The page of a form, as a user sees it who has no scripts; and the decision of another user.

import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import process from 'node:process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

import { until } from './wait.mjs';

const PROGRAMS = process.env.PROGRAM_DIR ?? fileURLToPath(new URL('../../build/bin', import.meta.url));

/** A form that is open in a browser. */
export class FormPage {
	#browser;
	#page;

	static async open(fixture, url) {
		const form = new FormPage();
		form.#browser = fixture.browser();
		form.#page = await form.#browser.open(url);
		return form;
	}

	/** Sends the form, with the button of this value. */
	async send(button, fields = {}) {
		this.#page = await this.#browser.submit(this.#page, { button, fields });
	}

	/** Loads the page again, as it does by itself while it waits, until it shows the text. */
	async shows(text) {
		await until(`the page shows “${text}”`, async () => {
			if (this.#page.body.includes(text)) return true;
			this.#page = await this.#browser.open(this.#page.url);
			return false;
		});
	}
}

/**
 * An approver, whom another web server in front of the same programs and database knows, opens the link and decides
 * on the page.
 *
 * @param {import('./fixture.mjs').Fixture} fixture
 * @param {string} url of the approval
 * @param {{ approver: string, answer: 'approve' | 'decline', comment?: string }} decision
 * @returns {Promise<import('./browser.mjs').Page>} the page after the decision, or the one that refuses the approver
 */
export async function decideAs(fixture, url, { approver, answer, comment = '' }) {
	const site = await startSite(fixture.stack, approver);
	const browser = fixture.browser();
	try {
		const page = await browser.open(url.replace(fixture.stack.baseUrl, site.baseUrl));
		return page.forms.length === 0 ? page : await browser.submit(page, { button: answer, fields: { comment } });
	} finally {
		browser.close();
		await site.close();
	}
}

/** A web server to which this user has signed in. It runs the programs by CGI (RFC 3875). */
async function startSite(stack, user) {
	const config = path.join(stack.runDir, `approver-${randomUUID()}.json`); // where its relative names lead
	const { openid, log_file: log, metrics_file: metrics, ...settings } = JSON.parse(await readFile(stack.env.URLMODE_CONFIG, 'utf8'));
	settings.providers.approvals.four_eyes = true;
	await writeFile(config, JSON.stringify({ ...settings, user_check: 'remote-user' }), { mode: 0o600 });
	const server = createServer(async (request, response) => {
		const { pathname, search } = new URL(request.url, 'http://localhost');
		const [, name] = pathname.split('/');
		const program = spawn(path.join(PROGRAMS, ['connect', 'form'].includes(name) ? name : 'status'), { stdio: ['pipe', 'pipe', 'ignore'], env: {
			...process.env, URLMODE_CONFIG: config, GATEWAY_INTERFACE: 'CGI/1.1', REQUEST_METHOD: request.method, SCRIPT_NAME: pathname,
			QUERY_STRING: search.slice(1), CONTENT_TYPE: request.headers['content-type'] ?? '', CONTENT_LENGTH: request.headers['content-length'] ?? '',
			HTTP_COOKIE: request.headers.cookie ?? '', HTTP_SEC_FETCH_SITE: request.headers['sec-fetch-site'] ?? '', REMOTE_USER: user,
		} });
		program.stdin.on('error', () => {});
		request.pipe(program.stdin);
		const [head, ...body] = (await text(program.stdout)).split('\r\n\r\n');
		const headers = head.split('\r\n').map((line) => /^([^:]*): *(.*)$/.exec(line).slice(1));
		const [[, status] = [, '200']] = headers.filter(([field]) => field === 'Status');
		response.writeHead(Number.parseInt(status, 10), headers.filter(([field]) => field !== 'Status').flat()).end(body.join('\r\n\r\n'));
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	return {
		baseUrl: `http://127.0.0.1:${server.address().port}`,
		close: async () => {
			server.close();
			await rm(config);
		},
	};
}
