// The site of the walk: its users, its provider of payments and its MCP server, which are
// outside of the machine and reach it through nginx.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { UrlMode } from 'urlmode';

import { Browser } from '../support/browser.mjs';
import { sender } from '../support/deliveries.mjs';
import { create } from '../support/flow.mjs';
import { request } from '../support/http.mjs';
import { until } from '../support/wait.mjs';

export const HOST = 'callback.example.com';
export const BASE = `https://${HOST}`;
export const USER = 'ada@example.org';
const AUTHORIZATION = { authorization: `Basic ${Buffer.from(`${USER}:correct horse`).toString('base64')}` };
const PRICE = { amount: 1050, currency: 'EUR' };

/** A certificate authority, and certificates of the host. */
export class Authority {
	/** @param {string} folder for its files */
	constructor(folder) {
		this.folder = folder;
		mkdirSync(folder, { recursive: true });
		this.#openssl('req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '3650',
			'-subj', '/CN=Tests', '-keyout', 'ca.key', '-out', 'ca.pem');
		this.certificate = readFileSync(path.join(folder, 'ca.pem'), 'utf8');
	}

	/** Into the place where certbot writes it, for a host. `days` may be negative: it has expired then. */
	certify(machine, days, name = HOST, host = HOST) {
		const [start, end] = [-400, days].map((at) => new Date(Date.now() + at * 86_400_000).toISOString().replace(/[-:T]|\..*/g, '').concat('Z'));
		writeFileSync(path.join(this.folder, 'ca.conf'), `[ca]\ndefault_ca=x\n[x]\ndatabase=index\nnew_certs_dir=.\nrand_serial=yes
default_md=sha256\npolicy=p\nunique_subject=no\n[p]\ncommonName=supplied\n[e]\nsubjectAltName=DNS:${name}\n`);
		writeFileSync(path.join(this.folder, 'index'), '');
		this.#openssl('req', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-subj', `/CN=${name}`, '-keyout', 'privkey.pem', '-out', 'request.pem');
		this.#openssl('ca', '-batch', '-notext', '-config', 'ca.conf', '-extensions', 'e', '-cert', 'ca.pem', '-keyfile', 'ca.key',
			'-startdate', start, '-enddate', end, '-in', 'request.pem', '-out', 'fullchain.pem');
		const live = machine.file(`etc/letsencrypt/live/${host}`);
		mkdirSync(live, { recursive: true });
		for (const file of ['fullchain.pem', 'privkey.pem']) copyFileSync(path.join(this.folder, file), path.join(live, file));
	}

	#openssl(...args) {
		execFileSync('openssl', args, { cwd: this.folder, stdio: 'pipe' });
	}
}

export class Site {
	#machine;
	#ca;
	#base;
	#etc;

	/**
	 * @param {import('./machine.mjs').Machine} machine
	 * @param {string} ca PEM
	 * @param {string} [host] its name
	 * @param {string} [etc] the folder of its deployment
	 */
	constructor(machine, ca, host = HOST, etc = 'etc/urlmode') {
		this.#machine = machine;
		this.#ca = ca;
		this.#base = `https://${host}`;
		this.#etc = etc;
	}

	#file(name) {
		return this.#machine.file(`${this.#etc}/${name}`);
	}

	/** The MCP server begins: its environment is what setup has written, and its keys are a copy. */
	open() {
		const variable = (name) => new RegExp(`^${name}=(.*)$`, 'm').exec(readFileSync(this.#file('server.env'), 'utf8'))[1];
		this.keysFile = this.#machine.file(`root/server-keys${this.#etc.slice('etc/urlmode'.length)}`);
		this.copyKeys();
		this.urlmode = new UrlMode({ databaseUrl: variable('URLMODE_DATABASE_URL'), keysFile: this.keysFile, baseUrl: variable('URLMODE_BASE_URL'), name: 'Tests' });
		const fixture = { stack: { env: { URLMODE_CONFIG: this.#file('config.json') } }, url: (place) => `${this.#base}${place}` };
		this.stripe = sender(fixture, 'stripe');
	}

	close() {
		return this.urlmode?.close();
	}

	/** The operator copies the keys file to the MCP server. */
	copyKeys() {
		copyFileSync(this.#file('keys'), this.keysFile);
		chmodSync(this.keysFile, 0o600);
	}

	async get(place) {
		return request(`${this.#base}${place}`, { ca: this.#ca });
	}

	/** Resolves when each program has started and reaches the database. */
	async serves() {
		await until('it serves', async () => (await this.get('/healthz').catch(() => ({}))).status === 200, { timeout: 60_000, every: 200 });
	}

	/** A user connects an account: there and back, with a name and a password. */
	async connect(flow) {
		flow ??= await create(this.urlmode, { provider: 'github', subject: USER });
		const browser = new Browser({ ca: this.#ca, timeout: 60_000 });
		const hop = await browser.send({ url: new URL(flow.url), headers: AUTHORIZATION });
		assert.equal(hop.status, 303, hop.body);
		const state = new URL(hop.location).searchParams.get('state');
		const [outcome, back] = await Promise.all([
			this.urlmode.waitForCompletion(flow.id, flow.owner),
			this.#comeBack(browser, `${flow.returnUrl}?${new URLSearchParams({ state, code: 'the code' })}`),
		]);
		browser.close();
		assert.deepEqual([back.status, back.location, outcome.action, outcome.result?.code], [303, '/done', 'accept', 'the code']);
	}

	#comeBack(browser, url) {
		return browser.send({ url: new URL(url), headers: AUTHORIZATION });
	}

	/** A user pays, and the provider tells it by a signed webhook. */
	async pay() {
		const flow = await create(this.urlmode, { provider: 'stripe', kind: 'payment', subject: USER, expected: PRICE, targetUrl: 'https://checkout.example/pay' });
		const [outcome] = await Promise.all([this.urlmode.waitForCompletion(flow.id, flow.owner), this.tell(flow.id, PRICE)]);
		assert.equal(outcome.action, 'accept');
		return flow;
	}

	/** The provider tells by a signed webhook that this was paid. */
	async tell(id, price) {
		const delivery = await this.stripe.deliver(this.stripe.event(id, 'paid', price));
		const answer = await request(delivery.url, { ...delivery, ca: this.#ca, timeout: 60_000 });
		assert.equal(answer.status, 200, answer.text);
	}

	/** Users who connect and pay without a pause, while `work` is done. No request of theirs may fail. */
	async underLoad(work) {
		let done = false;
		let walks = 0;
		const users = Promise.all(Array.from({ length: 4 }, async () => {
			for (; !done; walks++) await (walks % 2 ? this.pay() : this.connect());
		})).finally(() => { done = true; });
		const working = work(() => walks).finally(() => { done = true; });
		await Promise.all([users, working]);
	}
}
