// Debian's Firefox ESR without windows, by its own WebDriver: Marionette, which geckodriver translates
// for others. Commands are JSON over TCP, each behind its length. The methods have the names of Playwright's,
// whose Firefox is another one.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { until } from '../support/wait.mjs';

const PICTURES = fileURLToPath(new URL('../../build/browser', import.meta.url));
const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf'; // WebDriver, section 12.1

/** @param {Record<string, boolean | number | string>} prefs as in about:config */
export async function startFirefox(prefs) {
	const home = await mkdtemp(path.join(tmpdir(), 'urlmode-firefox-'));
	const all = { 'marionette.port': 0, 'app.update.enabled': false, 'network.proxy.type': 0, ...prefs };
	await writeFile(path.join(home, 'user.js'),
		Object.entries(all).map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`).join(''));
	const child = spawn('firefox-esr', ['--headless', '--marionette', '--no-remote', '--profile', home],
		{ env: { ...process.env, HOME: home, MOZ_CRASHREPORTER_DISABLE: '1' }, stdio: 'ignore' });
	const firefox = new Firefox(child, home);
	try {
		await firefox.connect();
		return firefox;
	} catch (error) {
		await firefox.close();
		throw error;
	}
}

class Firefox {
	#child;
	#home;
	#socket;
	#waiting = new Map();
	#last = 0;

	constructor(child, home) {
		this.#child = child;
		this.#home = home;
	}

	async connect() {
		const port = await until('Firefox listens', async () => {
			if (this.#child.exitCode !== null) throw new Error(`firefox-esr ended with ${this.#child.exitCode}`);
			return Number(await readFile(path.join(this.#home, 'MarionetteActivePort'), 'utf8').catch(() => 0)) || undefined;
		}, { timeout: 120_000 });
		this.#socket = createConnection(port, '127.0.0.1');
		await once(this.#socket, 'connect');
		this.#read();
		await this.#send('NewSession', { capabilities: { alwaysMatch: { acceptInsecureCerts: true } } });
	}

	#read() {
		let bytes = Buffer.alloc(0);
		this.#socket.on('error', () => {});
		this.#socket.on('data', (chunk) => {
			bytes = Buffer.concat([bytes, chunk]);
			for (;;) {
				const colon = bytes.indexOf(':');
				const end = colon + 1 + Number(bytes.subarray(0, colon));
				if (colon < 0 || bytes.length < end) return;
				const message = JSON.parse(bytes.subarray(colon + 1, end));
				bytes = bytes.subarray(end);
				// The first one says which version it speaks.
				if (Array.isArray(message)) this.#waiting.get(message[1])?.(message);
			}
		});
	}

	async #send(command, parameters = {}) {
		const id = ++this.#last;
		const text = JSON.stringify([0, id, `WebDriver:${command}`, parameters]);
		const answer = new Promise((resolve, reject) => {
			this.#waiting.set(id, resolve);
			this.#socket.once('close', () => reject(new Error('Firefox is gone')));
		});
		this.#socket.write(`${Buffer.byteLength(text)}:${text}`);
		const [, , error, value] = await answer;
		this.#waiting.delete(id);
		if (error) throw Object.assign(new Error(`${command}: ${error.message}`), { code: error.error });
		return value?.value !== undefined ? value.value : value;
	}

	goto(url) {
		return this.#send('Navigate', { url });
	}

	url() {
		return this.#send('GetCurrentURL');
	}

	evaluate(script, ...args) {
		return this.#send('ExecuteScript', { script, args });
	}

	async waitForURL(matches) {
		await until('the page is there', async () => matches(new URL(await this.url())) || undefined);
	}

	async #element(selector) {
		return until(selector, async () => {
			try {
				return (await this.#send('FindElement', { using: 'css selector', value: selector }))[ELEMENT];
			} catch (error) {
				// The page that it was looked for in may have gone meanwhile.
				if (['no such element', 'no such window', 'unknown error'].includes(error.code)) return undefined;
				throw error;
			}
		});
	}

	async fill(selector, text) {
		await this.#send('ElementSendKeys', { id: await this.#element(selector), text });
	}

	async click(selector) {
		await this.#send('ElementClick', { id: await this.#element(selector) });
	}

	async textContent(selector) {
		return this.#send('GetElementText', { id: await this.#element(selector) });
	}

	clearCookies() {
		return this.#send('DeleteAllCookies');
	}

	async picture(name) {
		await mkdir(PICTURES, { recursive: true });
		await writeFile(path.join(PICTURES, `${name}.png`), Buffer.from(await this.#send('TakeScreenshot', { full: true }), 'base64'));
	}

	async close() {
		this.#socket?.destroy();
		if (this.#child.exitCode === null && this.#child.signalCode === null) {
			this.#child.kill();
			await once(this.#child, 'exit');
		}
		await rm(this.#home, { recursive: true, force: true });
	}
}
