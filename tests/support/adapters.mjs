// What the tests of every adapter have in common: a scene with the OpenID
// provider, what an example takes for granted, and the people who act.

import { openProvider } from './demo.mjs';
import { sender } from './deliveries.mjs';
import { makeProject, example } from './projects.mjs';
import { openScene } from './scene.mjs';
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
export async function openAdapterScene(name) {
	const scene = await openScene({ name: `adapters-${name}` });
	scene.closing(await openProvider(scene.stack));
	return scene;
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

/** Starts an instance that ends with the scene. */
export async function startExample(scene, project, options) {
	return scene.closing(await startInstance(project, scene.stack, options));
}

/** Somebody follows the link, goes on and signs in at the provider. */
export async function signIn(scene, url, name = 'Ada Lovelace') {
	const browser = scene.browser();
	const provider = await browser.submit(await browser.open(url), { button: 'continue' });
	return browser.submit(provider, { button: 'sign-in', fields: { name } });
}

/** Somebody follows the link, and refuses on the confirm page. */
export async function refuse(scene, url) {
	const browser = scene.browser();
	return browser.submit(await browser.open(url), { button: 'refuse' });
}

/**
 * Somebody follows the link and goes on to the checkout; then the provider
 * says how it ended.
 *
 * @param {'paid' | 'failed' | 'processing' | 'settled'} [what]
 * @param {object} [price]
 */
export async function pay(scene, url, what = 'paid', price = PRICE) {
	const browser = scene.browser();
	const page = await browser.open(url);
	const [{ action, fields }] = page.forms;
	const hop = await browser.send({
		url: new URL(action, page.url), method: 'POST', from: page,
		body: new URLSearchParams([...fields, ['answer', 'continue']]).toString(),
	});
	const id = new URL(hop.location).searchParams.get('reference');
	await settle(scene, id, what, price);
	return id;
}

/** A signed webhook of the provider, through nginx. */
export async function settle(scene, id, what = 'paid', price = PRICE) {
	const stripe = sender(scene, 'stripe');
	const answer = await stripe.send(stripe.event(id, what, price));
	if (answer.status !== 200) {
		throw new Error(`the webhook was answered ${answer.status}: ${answer.body}`);
	}
}

/** Where the row stands: `status action reason`. */
export async function standing(scene, id) {
	const { status, action, reason } = await scene.stack.elicitation(id);
	return [status, action, reason].filter(Boolean).join(' ');
}

/** The elicitations of a subject, the newest first. */
export function elicitationsOf(scene, subject) {
	return scene.stack.sql('SELECT * FROM urlmode.elicitation WHERE subject = $1 ORDER BY created_at DESC', [subject]);
}

/** Nobody has asked anybody for anything: each test begins so. */
export async function forgetAll(scene) {
	await scene.stack.sql('DELETE FROM urlmode.elicitation WHERE subject = ANY ($1)', [Object.values(USERS)]);
}
