// What the tests of all adapters share: a fixture with the OpenID provider, the
// examples of lib/node/examples, and the actions of users.

import { randomBytes } from 'node:crypto';

import { openProvider } from './demo.mjs';
import { sender } from './deliveries.mjs';
import { makeProject, example } from './projects.mjs';
import { openFixture } from './fixture.mjs';
import { startInstance } from './instances.mjs';

export const PRICE = { amount: 1050, currency: 'EUR' };

/** Access token → subject. */
export const USERS = { 'token-of-ada': 'ada@example.org', 'token-of-grace': 'grace@example.org' };

/** An environment variable, which has 128 KiB at most, names the users of so many. */
const SCENARIO_RUNS = 800;
const TAG = randomBytes(3).toString('hex');

/** The users of the scenarios, of which each run has two. */
export const SCENARIO_USERS = Object.fromEntries(Array.from({ length: SCENARIO_RUNS }, (_, index) => ['ada', 'grace'].map((user) => [
	`token-of-${scenarioUser(user, index + 1)}`, scenarioUser(user, index + 1)])).flat());

/**
 * @param {string} user
 * @param {number} run
 */
export function scenarioUser(user, run) {
	if (run > SCENARIO_RUNS) throw new Error(`more than ${SCENARIO_RUNS} scenarios: raise SCENARIO_RUNS`);
	return `${user}-${TAG}-${run}@example.org`;
}

/** The `app.mjs` of the examples. */
export const APP = example('app.mjs');

/** @param {string} name */
export async function openAdapterFixture(name) {
	const fixture = await openFixture({ name: `adapters-${name}` });
	fixture.closeAtEnd(await openProvider(fixture.stack));
	return fixture;
}

/**
 * Makes a project of an example with one version of its framework.
 *
 * @param {string} name of a file in lib/node/examples
 * @param {'oldest' | 'newest'} frameworks
 * @param {Partial<Parameters<typeof makeProject>[0]> & { source?: string }} [more] source: the example, by default as it is
 */
export function makeExampleProject(name, frameworks, { source = example(`${name}.mjs`), files, ...more } = {}) {
	return makeProject({
		name,
		frameworks,
		...more,
		files: { 'server.mjs': source, 'app.mjs': APP, ...files },
	});
}

/** The example of urlmode/sdk2, in which each body of a payment asks GATE first. */
export const makeGatedProject = (files = {}) => makeExampleProject('sdk2', 'newest', { files, source: example('sdk2.mjs').replace('{ reference }) => (\n\t\t{ content: [{ type: \'text\', text: `Paid with ${reference}.` }] });',
	'{ reference }) => {\n\t\tconst said = await (await fetch(String(process.env.GATE))).text();\n\t\treturn { content: [{ type: \'text\', text: `Paid with ${reference}.${said}` }] };\n\t};') });

/** Starts an instance that is killed when the fixture is closed. Its application is what its environment says. */
export async function startExample(fixture, project, { env, ...options } = {}) {
	return fixture.closeAtEnd(await startInstance(project, fixture.stack, { ...options, env: {
		APP_USERS: JSON.stringify(USERS), APP_ISSUER: fixture.stack.env.URLMODE_DEMO_ISSUER, APP_CLIENT_ID: 'urlmode-demo', ...env,
	} }));
}

/** Follows the link, continues and signs in at the provider, as a user does. */
export async function signIn(fixture, url, name = 'Ada Lovelace') {
	const browser = fixture.browser();
	const provider = await browser.submit(await browser.open(url), { button: 'continue' });
	return browser.submit(provider, { button: 'sign-in', fields: { name } });
}

/** Follows the link and refuses on the confirm page, as a user does. */
export async function refuse(fixture, url) {
	const browser = fixture.browser();
	return browser.submit(await browser.open(url), { button: 'refuse' });
}

/**
 * Follows the link and continues to the checkout, as a user does.
 *
 * @returns {Promise<string>} the id of the elicitation that is paid for there
 */
export async function goToCheckout(fixture, url) {
	const browser = fixture.browser();
	const page = await browser.open(url);
	const [{ action, fields }] = page.forms;
	const hop = await browser.send({
		url: new URL(action, page.url), method: 'POST', from: page,
		body: new URLSearchParams([...fields, ['answer', 'continue']]).toString(),
	});
	return new URL(hop.location).searchParams.get('reference');
}

/**
 * Goes to the checkout; then the provider sends its webhook.
 *
 * @param {'paid' | 'failed' | 'processing' | 'settled'} [what]
 * @param {object} [price]
 */
export async function pay(fixture, url, what = 'paid', price = PRICE) {
	const id = await goToCheckout(fixture, url);
	await settle(fixture, id, what, price);
	return id;
}

/** Sends a signed webhook of the provider through nginx. */
export async function settle(fixture, id, what = 'paid', price = PRICE) {
	const stripe = sender(fixture, 'stripe');
	const answer = await stripe.send(stripe.event(id, what, { reference: 'cs_test_1', ...price }));
	if (answer.status !== 200) {
		throw new Error(`the webhook was answered ${answer.status}: ${answer.body}`);
	}
}

/** Stripe tells of the first payment of a subscription, or what became of it. */
export async function tellOfSubscription(fixture, id, what) {
	const stripe = sender(fixture, 'stripe');
	const subscription = `sub_${id}`;
	const event = stripe.event(id, 'paid', { ...PRICE, reference: `cs_${id}` });
	if (what === 'subscribed') {
		Object.assign(event.data.object, { mode: 'subscription', subscription, payment_intent: null, invoice: `in_${id}` });
	} else {
		Object.assign(event, { type: 'customer.subscription.updated', created: Math.floor(Date.now() / 1000) + 1, data: { object: {
			id: subscription, object: 'subscription', metadata: { elicitation_id: id }, status: what, cancel_at: null, pause_collection: null, trial_end: null,
		} } });
	}
	const answer = await stripe.send(event);
	if (answer.status !== 200) throw new Error(`the webhook was answered ${answer.status}: ${answer.body}`);
}

/** The state of the row: `status action reason`. */
export async function rowState(fixture, id) {
	const { status, action, reason } = await fixture.stack.elicitation(id);
	return [status, action, reason].filter(Boolean).join(' ');
}

/** The elicitations of a subject, the newest first. */
export function elicitationsOf(fixture, subject) {
	return fixture.stack.sql('SELECT * FROM urlmode.elicitation WHERE subject = $1 ORDER BY created_at DESC', [subject]);
}

/** Deletes the elicitations of all users, and what they paid. Each test begins with it. */
export async function deleteElicitations(fixture) {
	await fixture.stack.sql("DELETE FROM urlmode.payment WHERE reference IN ('cs_test_1', 'cs_test_2')");
	await fixture.stack.sql(`DELETE FROM urlmode.payment p USING urlmode.elicitation e
		WHERE e.id = p.elicitation AND e.subject = ANY ($1)`, [Object.values(USERS)]);
	await fixture.stack.sql('DELETE FROM urlmode.elicitation WHERE subject = ANY ($1)', [Object.values(USERS)]);
}
