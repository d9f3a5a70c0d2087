// Users who connect accounts, have them used, pay, type keys and approve, browsers that reload, and a provider that sends
// an event again until the answer is 200. All answers are recorded.

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { Browser } from '../support/browser.mjs';
import { comeBack, press } from '../support/flow.mjs';
import { sender } from '../support/deliveries.mjs';

const REQUEST_TIMEOUT = 8_000;
const PAUSE = 200;
const PRICE = { amount: 1_000, currency: 'EUR' };
const STORIES = ['connect', 'connect', 'refuse', 'pay', 'pay', 'let expire', 'type', 'approve', 'use'];
/** How often each server uses an account. */
const USES = 3;
const KINDS = { connect: 'oauth', refuse: 'oauth', pay: 'payment', 'let expire': 'payment', type: 'input', approve: 'approval' };
/** What `create` is called with. */
const REQUESTS = {
	oauth: { provider: 'demo' },
	payment: { provider: 'stripe', item: 'report', expected: PRICE },
	input: { provider: 'intake', verifyTimeout: 5_000, form: { title: 'Key', fields: [{ name: 'key', type: 'text', label: 'Key' }] } },
	approval: { provider: 'approvals', form: { title: 'Expense' } },
};
/** The pages of a form that has ended with yes. */
const DONE = /All done|Already done|has approved this/;

/**
 * @typedef {object} Story what one user did, and what came of it
 * @property {string} name
 * @property {string} id
 * @property {{ subject: string }} owner
 * @property {{ action: string, detail?: string }} expected
 * @property {boolean} acknowledged the browser or the provider was told that it is done
 * @property {number} [at] when that was (performance.now())
 * @property {Promise<{ action?: string, code?: string, error?: string }>[]} waits one for each server
 * @property {Promise<{ claimed: boolean, failures: number }[]>} [claims]
 */

export class Users {
	/** @type {Story[]} */
	stories = [];
	/** @type {{ subject: string, acknowledged: boolean, ends: string[] }[]} accounts that were used: `ends` are access tokens, or `reconnect` */
	uses = [];
	/** Answers that had a user or provider try again, by status or error. */
	again = new Map();

	#fixture;
	#servers;
	#provider;
	#sql;
	#stopped = false;
	#closed = false;
	#loops = [];
	#names;
	/** Uses that are under way, and what new ones wait for. */
	#using = new Set();
	#held = Promise.resolve();

	/**
	 * @param {import('../support/fixture.mjs').Fixture} fixture
	 * @param {import('./servers.mjs').Server[]} servers
	 * @param {import('./provider.mjs').Provider} provider of the accounts that are used
	 * @param {(text: string, values: unknown[]) => Promise<unknown>} sql as the administrator
	 * @param {string[]} names of the stories that they live
	 */
	constructor(fixture, servers, provider, sql, names = STORIES) {
		this.#names = names;
		this.#fixture = fixture;
		this.#servers = servers;
		this.#provider = provider;
		this.#sql = sql;
	}

	/** How many stories have come to their end. */
	get acknowledged() {
		return [...this.stories, ...this.uses].filter(({ acknowledged }) => acknowledged).length;
	}

	/** Ends everybody where they are. */
	close() {
		this.#closed = true;
	}

	/** @param {number} count who come one after the other, each in as many turns */
	start(count) {
		this.#loops = Array.from({ length: count }, (_, n) => this.#come(n));
		this.#loops.forEach((loop) => loop.catch(() => {})); // heard of where it is awaited
	}

	/** Lets those who have begun come to their end, and what they have paid be claimed. */
	async stop() {
		this.#stopped = true;
		await Promise.all(this.#loops);
		await Promise.all(this.stories.map(({ claims }) => claims));
	}

	async #come(n) {
		for (let turn = n; !this.#stopped && !this.#closed; turn += 1) {
			await this.#live(this.#names[turn % this.#names.length], turn);
		}
	}

	/** No account is used meanwhile: leases and pauses are by PostgreSQL's clock. */
	async withoutUses(act) {
		let resume;
		this.#held = new Promise((resolve) => {
			resume = resolve;
		});
		try {
			await Promise.all(this.#using);
			return await act();
		} finally {
			resume();
		}
	}

	/** All servers use an account at the same time, whose tokens have always expired. */
	async #use(turn) {
		await this.#held;
		const use = { subject: `user-${randomUUID()}`, acknowledged: false, ends: [] };
		const ended = (async () => {
			const tokens = this.#provider.grant(use.subject);
			const servers = this.#servers.filter(({ hasVault }) => hasVault);
			await this.#persist(() => servers[turn % servers.length].store(use.subject, tokens));
			this.uses.push(use);
			for (let n = 0; n < USES; n += 1) {
				use.ends.push(...await Promise.all(servers.map((server) => this.#persist(() => this.#token(server, use.subject)))));
			}
			use.acknowledged = true;
		})();
		this.#using.add(ended);
		await ended.finally(() => this.#using.delete(ended));
	}

	async #token(server, subject) {
		try {
			return await server.accessToken(subject);
		} catch (error) {
			if (error.code === 'ACCOUNT_RECONNECT') return 'reconnect';
			// A minute passes.
			if (error.code === 'ACCOUNT_UNAVAILABLE') await this.#sql('UPDATE urlmode.account SET pause_until = NULL WHERE subject = $1', [subject]);
			throw error;
		}
	}

	async #live(name, turn) {
		if (name === 'use') return this.#use(turn);
		const kind = KINDS[name];
		const subject = `user-${randomUUID()}`;
		const creator = this.#servers[turn % this.#servers.length];
		const created = await this.#persist(() => creator.create({ subject, kind, ...REQUESTS[kind] }));
		const id = created.elicitationId;
		const key = name === 'type' && `key-${id}`;
		const story = {
			name, id, owner: { subject }, acknowledged: false,
			expected: {
				connect: { action: 'accept', detail: `code-${id}` }, refuse: { action: 'decline' },
				pay: { action: 'accept', detail: `cs_${id}` }, 'let expire': { action: 'cancel' },
				type: { action: 'accept', detail: key }, approve: { action: 'accept', detail: subject },
			}[name],
			waits: this.#servers.map((server) => server.wait(id, { subject }, key).then(
				({ action, result }) => ({ action, code: result?.approver ?? result?.values?.key ?? result?.code ?? result?.reference }),
				(error) => ({ error: `${server.language}: ${error.message}` }))),
		};
		this.stories.push(story);

		const browser = new Browser({ timeout: REQUEST_TIMEOUT });
		try {
			if (REQUESTS[kind].form) {
				await this.#answer(browser, created.url, key);
			} else {
				const target = await this.#open(browser, created.url);
				if (kind === 'oauth') await this.#comeBack(browser, created.returnUrl, target, story);
				else await this.#beTold(story);
			}
		} finally {
			browser.close();
		}
		Object.assign(story, { acknowledged: true, at: performance.now() });
		if (name === 'pay') story.claims = this.#claim(story);
		await Promise.all(story.waits);
	}

	/** Goes through the confirm page, to the provider. */
	#open(browser, url) {
		return this.#persist(async () => {
			const confirm = await browser.open(url);
			if (confirm.forms.length === 0) throw new Refusal(confirm.status);
			const hop = await press(browser, confirm, 'continue');
			if (hop.status !== 303 || !hop.location) throw new Refusal(hop.status);
			return new URL(hop.location);
		});
	}

	async #comeBack(browser, returnUrl, target, { name, id }) {
		const parameters = new URLSearchParams({
			iss: this.#fixture.stack.env.URLMODE_DEMO_ISSUER, state: target.searchParams.get('state'),
			...name === 'connect' ? { code: `code-${id}` } : { error: 'access_denied' },
		});
		await this.#persist(async () => {
			const hop = await comeBack(browser, `${returnUrl}?${parameters}`);
			const isDone = hop.status === 303 || (hop.status === 200 && hop.body.includes('Already done'));
			if (!isDone) throw new Refusal(hop.status);
		});
	}

	/** Approves, or types a wrong key and then the right one: as often as the page asks. */
	async #answer(browser, url, key) {
		for (let sent = 0; !this.#closed; sent += 1) {
			const page = await this.#persist(async () => {
				const shown = await browser.open(url);
				if (shown.status !== 200) throw new Refusal(shown.status);
				return shown;
			});
			if (DONE.test(page.body)) return;
			// It is being checked.
			if (page.forms.length === 0) {
				await sleep(PAUSE);
				continue;
			}
			const pressed = key ? { button: 'submit', fields: { 'field.key': sent === 0 ? 'wrong' : key } } : { button: 'approve' };
			await this.#persist(async () => {
				const { status } = await browser.submit(page, pressed);
				if (status >= 500) throw new Refusal(status);
			});
		}
		throw new Error('the lab is closed');
	}

	/** The provider tells the webhook, now and then once too often. */
	async #beTold({ name, id }) {
		const stripe = sender(this.#fixture, 'stripe');
		const event = stripe.event(id, name === 'pay' ? 'paid' : 'expired', { ...PRICE, reference: `cs_${id}` });
		if (name !== 'pay') event.type = 'checkout.session.expired';
		const times = Number.parseInt(id.at(-1), 16) % 3 === 0 ? 2 : 1;

		for (let n = 0; n < times; n += 1) {
			await this.#persist(async () => {
				const { status } = await stripe.send(event);
				if (status !== 200) throw new Refusal(status);
			});
		}
	}

	/** Each server claims what was paid, at the same time. */
	async #claim({ id, owner, waits }) {
		await Promise.all(waits);
		return Promise.all(this.#servers.map((server) => server.claim(id, owner)));
	}

	/** Tries again for as long as it takes. */
	async #persist(step) {
		for (;;) {
			try {
				return await step();
			} catch (error) {
				if (this.#closed) throw error;
				const why = error instanceof Refusal ? String(error.status) : error.code ?? error.name;
				this.again.set(why, (this.again.get(why) ?? 0) + 1);
				await sleep(PAUSE);
			}
		}
	}
}

class Refusal extends Error {
	constructor(status) {
		super(`answered with ${status}`);
		this.status = status;
	}
}
