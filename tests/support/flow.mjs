// The single steps of an elicitation without a provider, whose part the test
// plays. The whole flow with a real provider is in tests/e2e/flow.test.mjs.
//
//     const flow = await goOn(urlmode, browser);
//     const hop = await browser.send({ url: flow.returnUrl({ code: 'c' }) });

import { randomUUID } from 'node:crypto';

/** A page of the provider's site, from which the browser comes back. */
export const PROVIDER_PAGE = { url: 'http://localhost:9/', headers: {} };

/** The state in an address. */
export const stateOf = (url) => new URL(url).searchParams.get('state');

const TARGET = 'http://localhost:9/authorize?client_id=tests';

/**
 * Creates an elicitation; a payment accepts any amount unless `expected` says
 * otherwise, and is, as a signature, for an item of its own unless `item` says
 * otherwise. The returned object also contains its owner.
 *
 * @param {import('urlmode').UrlMode} urlmode
 * @param {Partial<import('urlmode').CreateOptions>} [options]
 */
export async function create(urlmode, options = {}) {
	const owner = { subject: options.subject ?? `user-${randomUUID()}`, session: options.session ?? '' };
	const elicitation = await urlmode.create({
		provider: 'demo', kind: 'oauth', targetUrl: TARGET,
		...options.kind === 'payment' && { expected: 'any' },
		...['payment', 'signature'].includes(options.kind) && { item: `report:${randomUUID()}` },
		...options, ...owner,
	});
	return { ...elicitation, owner, provider: options.provider ?? 'demo', id: elicitation.elicitationId };
}

/** Presses a button of the confirm page without following the redirect. */
export function press(browser, page, answer) {
	const [{ action, fields }] = page.forms;
	return browser.send({
		url: new URL(action, page.url),
		method: 'POST',
		body: new URLSearchParams([...fields, ['answer', answer]]).toString(),
		from: page,
	});
}

/**
 * Creates an elicitation, and continues from its confirm page in `browser` until
 * it is redirected to the provider.
 *
 * @param {import('urlmode').UrlMode} urlmode
 * @param {import('./browser.mjs').Browser} browser
 * @param {Partial<import('urlmode').CreateOptions> & { issuer?: string }} [options]
 *     issuer: the `iss` of the provider, if it has one
 */
export async function goOn(urlmode, browser, { issuer, ...options } = {}) {
	const elicitation = await create(urlmode, options);
	const confirm = await browser.open(elicitation.url);
	const hop = await press(browser, confirm, 'continue');
	const target = new URL(hop.location);
	const state = target.searchParams.get('state');
	const parameters = (more) => ({ ...issuer !== undefined && { iss: issuer }, state, ...more });

	return {
		...elicitation,
		confirm,
		hop,
		target,
		state,
		/** The parameters of the provider's response. */
		parameters,
		/** The URL to which the provider sends the browser. */
		returnTo(more) {
			return new URL(`${elicitation.returnUrl}?${new URLSearchParams(parameters(more))}`);
		},
	};
}

/** Returns from the provider without following redirects. */
export function comeBack(browser, url) {
	return browser.send({ url: new URL(url), from: PROVIDER_PAGE });
}
