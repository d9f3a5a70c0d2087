// What the tests of every adapter have in common: a fixture with the OpenID
// provider, what an example takes for granted, and the people who act.

import { openProvider } from './demo.mjs';
import { sender } from './deliveries.mjs';
import { makeProject, example } from './projects.mjs';
import { openFixture } from './fixture.mjs';
import { startInstance } from './instances.mjs';

export const PRICE = { amount: 1050, currency: 'EUR' };

/** Access token → subject. */
export const USERS = { 'token-of-ada': 'ada@example.org', 'token-of-grace': 'grace@example.org' };

/** The example's `app.mjs`: what is its reader's own. */
const APP = `
import { allowInsecureRequests, discovery, None } from 'openid-client';

const users = ${JSON.stringify(USERS)};

export const subjectOf = (authorization) => users[/^Bearer (.+)$/.exec(authorization ?? '')?.[1]];
export const createCheckout = ({ elicitationId }) => 'https://checkout.example/pay?reference=' + elicitationId;
export const configuration = await discovery(new URL(process.env.URLMODE_DEMO_ISSUER), 'urlmode-demo', undefined, None(),
	{ execute: [allowInsecureRequests] });
`;

/** @param {string} name */
export async function openAdapterFixture(name) {
	const fixture = await openFixture({ name: `adapters-${name}` });
	fixture.closeAtEnd(await openProvider(fixture.stack));
	return fixture;
}

/**
 * An example of the README with one version of its framework.
 *
 * @param {string} name the example is in NAME-server.mjs
 * @param {'oldest' | 'newest'} frameworks
 * @param {Partial<Parameters<typeof makeProject>[0]>} [more]
 */
export function exampleProject(name, frameworks, { files, ...more } = {}) {
	return makeProject({
		name,
		frameworks,
		...more,
		files: { 'server.mjs': example(`${name}-server.mjs`), 'app.mjs': APP, ...files },
	});
}

/** Starts an instance that ends with the fixture. */
export async function startExample(fixture, project, options) {
	return fixture.closeAtEnd(await startInstance(project, fixture.stack, options));
}

/** Somebody follows the link, goes on and signs in at the provider. */
export async function signIn(fixture, url, name = 'Ada Lovelace') {
	const browser = fixture.browser();
	const provider = await browser.submit(await browser.open(url), { button: 'continue' });
	return browser.submit(provider, { button: 'sign-in', fields: { name } });
}

/** Somebody follows the link, and refuses on the confirm page. */
export async function refuse(fixture, url) {
	const browser = fixture.browser();
	return browser.submit(await browser.open(url), { button: 'refuse' });
}

/**
 * Somebody follows the link and goes on to the checkout; then the provider
 * says how it ended.
 *
 * @param {'paid' | 'failed' | 'processing' | 'settled'} [what]
 * @param {object} [price]
 */
export async function pay(fixture, url, what = 'paid', price = PRICE) {
	const browser = fixture.browser();
	const page = await browser.open(url);
	const [{ action, fields }] = page.forms;
	const hop = await browser.send({
		url: new URL(action, page.url), method: 'POST', from: page,
		body: new URLSearchParams([...fields, ['answer', 'continue']]).toString(),
	});
	const id = new URL(hop.location).searchParams.get('reference');
	await settle(fixture, id, what, price);
	return id;
}

/** A signed webhook of the provider, through nginx. */
export async function settle(fixture, id, what = 'paid', price = PRICE) {
	const stripe = sender(fixture, 'stripe');
	const answer = await stripe.send(stripe.event(id, what, price));
	if (answer.status !== 200) {
		throw new Error(`the webhook was answered ${answer.status}: ${answer.body}`);
	}
}

/** Where the row stands: `status action reason`. */
export async function standing(fixture, id) {
	const { status, action, reason } = await fixture.stack.elicitation(id);
	return [status, action, reason].filter(Boolean).join(' ');
}

/** The elicitations of a subject, the newest first. */
export function elicitationsOf(fixture, subject) {
	return fixture.stack.sql('SELECT * FROM urlmode.elicitation WHERE subject = $1 ORDER BY created_at DESC', [subject]);
}

/** Nobody has asked anybody for anything: each test begins so. */
export async function forgetAll(fixture) {
	await fixture.stack.sql('DELETE FROM urlmode.elicitation WHERE subject = ANY ($1)', [Object.values(USERS)]);
}
