// A user who connects an account, from the tool call to its result: with the
// adapter of the SDK 2.x and a client of 2025-11-25, whose parts of the framework
// the test plays.

import { randomUUID } from 'node:crypto';

import { withAccount } from 'urlmode/sdk2';

import { startDressedProviders } from './dressed-provider.mjs';
import { openFixture } from './fixture.mjs';
import { deferred } from './wait.mjs';

/** A fixture, and the providers at which its accounts are connected. */
export async function openAccounts(name) {
	const fixture = await openFixture({ name });
	try {
		const providers = await startDressedProviders({ redirectUri: fixture.url('/oauth/account/return') });
		return { fixture, providers: fixture.closeAtEnd(providers) };
	} catch (error) {
		await fixture.close();
		throw error;
	}
}

/**
 * The call of a tool that connects an account at this provider.
 *
 * @param {object} fixture
 * @param {object} provider see dressed-provider.mjs
 * @param {object} [options] of withAccount
 * @returns {{ asked: Promise<object>, result: Promise<{ account?: object, toolResult: object, text?: string }> }} account: what its
 *     body was given
 */
export function startConnecting(fixture, provider, { urlmode = fixture.urlmode, ...options } = {}) {
	const asked = deferred();
	const send = async ({ params }) => {
		asked.resolve(params);
		return { action: 'accept' };
	};
	const mcpReq = { id: 1, signal: new AbortController().signal, requestState: () => undefined, notify: async () => {}, send };
	const server = { getClientCapabilities: () => ({ elicitation: { url: {} } }), getClientVersion: () => undefined };
	let account;
	const ended = withAccount({
		urlmode, server, call: { mcpReq }, subject: `user-${randomUUID()}`, provider: 'account', description: provider.file,
		client: provider.client, variables: provider.variables, scopes: ['read'], message: 'Connect your account.', ...options,
	}, (connected) => {
		account = connected;
		return { content: [] };
	});
	const result = ended.then((toolResult) => ({
		action: account ? 'accept' : toolResult.structuredContent ? 'pending' : 'refused', ...account, toolResult, text: toolResult.content[0]?.text,
	}));
	result.catch(asked.reject);
	asked.promise.catch(() => {});
	return { asked: asked.promise, result };
}

/** Goes to the provider's sign-in page. */
export async function goToProvider(fixture, url, browser = fixture.browser()) {
	const confirm = await browser.open(url);
	return { browser, page: await browser.submit(confirm, { button: 'continue' }) };
}

/** Signs in and comes back. */
export async function signIn(fixture, url, { name = 'Ada Lovelace', browser } = {}) {
	const there = await goToProvider(fixture, url, browser);
	return there.browser.submit(there.page, { button: 'sign-in', fields: { name } });
}

/**
 * Signs in, and does not come back.
 *
 * @returns {Promise<URL>} the address of the browser's return
 */
export async function signInAndStay(fixture, url, { name = 'Ada Lovelace', browser = fixture.browser() } = {}) {
	const { page } = await goToProvider(fixture, url, browser);
	const [{ action, fields }] = page.forms;
	let hop = await browser.send({
		url: new URL(action, page.url), method: 'POST', from: page,
		body: new URLSearchParams([...fields, ['answer', 'sign-in'], ['name', name]].filter(([key], i, all) => (
			all.findLastIndex(([other]) => other === key) === i))).toString(),
	});
	while (!new URL(hop.location).pathname.endsWith('/return')) hop = await browser.send({ url: new URL(hop.location), from: page });
	return new URL(hop.location);
}
