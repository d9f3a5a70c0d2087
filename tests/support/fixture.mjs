// The fixture of most end-to-end tests: a stack, the UrlMode of an MCP server on
// it, and browsers. `close` closes all of them, whatever state they are in.
//
//     const fixture = await openFixture({ name: 'done' });
//     const flow = await fixture.goOn(fixture.browser());
//     await fixture.close();

import { randomUUID } from 'node:crypto';

import { UrlMode } from 'urlmode';

import { Browser } from './browser.mjs';
import * as flow from './flow.mjs';
import { request } from './http.mjs';
import { startStack, useStack } from './stack.mjs';
import { Tokens } from './tokens.mjs';
import { until } from './wait.mjs';

/**
 * @param {{ name: string, own?: boolean, demo?: boolean }} options
 *     name: the name of the stack; own: always starts a new stack, because the
 *     test breaks it
 * @returns {Promise<Fixture>}
 */
export async function openFixture({ name, own = false, ...options }) {
	const fixture = new Fixture(await (own ? startStack : useStack)({ name: `e2e-${name}`, ...options }));

	try {
		fixture.urlmode = fixture.openUrlMode();
	} catch (error) {
		await fixture.close();
		throw error;
	}
	return fixture;
}

class Fixture {
	#open = [];

	/** @param {import('./stack.mjs').Stack} stack */
	constructor(stack) {
		this.stack = stack;
	}

	/** Closes `part` when the fixture is closed, in reverse order. */
	closeAtEnd(part) {
		this.#open.unshift(part);
		return part;
	}

	/**
	 * Lets days pass after the expiry of a payment or signature.
	 * @returns the elicitation, with its URLs as old as they are then
	 */
	async passDays(elicitation, days) {
		const tokens = new Tokens(this.stack);
		const [{ seconds }] = await this.stack.sql(`WITH before AS (SELECT expires_at FROM urlmode.elicitation WHERE id = $1)
			UPDATE urlmode.elicitation e SET expires_at = now() - $2 * interval '1 day' FROM before WHERE e.id = $1
			RETURNING extract(epoch FROM before.expires_at - e.expires_at)::integer AS seconds`, [elicitation.id, days]);
		const age = (purpose) => tokens.age(elicitation[`${purpose}Url`], purpose, elicitation, seconds);
		return { ...elicitation, returnUrl: age('return'), cancelUrl: age('cancel'), webhookUrl: age('webhook') };
	}

	/** Another MCP server on the same database. */
	openUrlMode(options) {
		return this.closeAtEnd(new UrlMode({
			databaseUrl: this.stack.env.URLMODE_DATABASE_URL,
			keysFile: this.stack.env.URLMODE_KEYS_FILE,
			baseUrl: this.stack.baseUrl,
			name: 'Tests & Co',
			...options,
		}));
	}

	/** Another person's browser, with cookies of its own. */
	browser(options) {
		return this.closeAtEnd(new Browser(options));
	}

	url(path) {
		return this.stack.baseUrl + path;
	}

	create(options) {
		return flow.create(this.urlmode, options);
	}

	/** A payment at a provider of `deliveries.mjs`. */
	createPayment(provider = 'stripe', options = {}) {
		return this.create({ provider, kind: 'payment', targetUrl: 'https://checkout.example/pay', ...options });
	}

	/** The goOn of flow.mjs, with the `iss` of a provider that has one. */
	goOn(browser, options) {
		return flow.goOn(this.urlmode, browser, {
			...(options?.provider ?? 'demo') === 'demo' && { issuer: this.stack.env.URLMODE_DEMO_ISSUER },
			...options,
		});
	}

	/** What every MCP server does now and then, until nothing is due, also of the rows of other tests. */
	async purgeResults() {
		while ((await this.stack.sql('SELECT urlmode.purge_results() AS taken'))[0].taken > 0);
	}

	/** The row as text that changes with every update, even if no column changes. */
	async row(id) {
		const [row] = await this.stack.sql(
			'SELECT xmin, ctid, e::text AS text FROM urlmode.elicitation e WHERE id = $1', [id]);
		return JSON.stringify(row);
	}

	/** The state of the row: its status, action and reason. */
	async state({ id }) {
		const { status, action, reason } = await this.stack.elicitation(id);
		return [status, action, reason];
	}

	/** The events that were kept for an elicitation, the first one first. */
	events({ id }) {
		return this.stack.sql('SELECT * FROM urlmode.event WHERE elicitation = $1 ORDER BY received_at', [id]);
	}

	/** Waits until every program serves with its database, by requests for a row that does not exist. */
	async untilServing() {
		const unknown = { id: randomUUID(), provider: 'demo', owner: { subject: 'nobody', session: '' } };
		const tokens = new Tokens(this.stack);
		const back = new URLSearchParams({
			code: 'c', iss: this.stack.env.URLMODE_DEMO_ISSUER, state: tokens.mint(unknown, { cookie: 'x' }),
		});
		const answers = async (path, status) => (
			await request(this.url(path), { headers: { Cookie: '__Host-urlmode=x' } })).status === status;

		await until('the programs serve', async () => (
			await answers('/healthz', 200)
			&& await answers(`/connect/demo?state=${tokens.mint(unknown, { purpose: 'connect' })}`, 404)
			&& await answers(`/oauth/demo/return?${back}`, 404)));
	}

	async close() {
		for (const part of this.#open) {
			await Promise.resolve(part.close()).catch((error) => console.error(error));
		}
		await this.stack.close();
	}
}
