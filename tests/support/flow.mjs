// The steps of an elicitation's way, one by one, without a provider: tests
// play its part. The whole way with a real one is in tests/e2e/flow.test.mjs.
//
//     const flow = await goOn(urlmode, browser);
//     const hop = await browser.send({ url: flow.returnUrl({ code: 'c' }) });

import { randomUUID } from 'node:crypto';

/** What comes from elsewhere: a page of the provider's site. */
export const PROVIDER_PAGE = { url: 'http://localhost:9/', headers: {} };

/** The state in an address. */
export const stateOf = (url) => new URL(url).searchParams.get('state');

const TARGET = 'http://localhost:9/authorize?client_id=tests';

/**
 * Creates an elicitation; its owner is in the answer.
 *
 * @param {import('urlmode').UrlMode} urlmode
 * @param {Partial<import('urlmode').CreateOptions>} [options]
 */
export async function create(urlmode, options = {}) {
	const owner = { subject: options.subject ?? `user-${randomUUID()}`, session: options.session ?? '' };
	const elicitation = await urlmode.create({ provider: 'demo', kind: 'oauth', targetUrl: TARGET, ...options, ...owner });
	return { ...elicitation, owner, provider: options.provider ?? 'demo', id: elicitation.elicitationId };
}

/** Presses a button of the confirm page, and follows nothing. */
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
 * Creates an elicitation and goes on from its confirm page in `browser`, to
 * where the provider would be.
 *
 * @param {import('urlmode').UrlMode} urlmode
 * @param {import('./browser.mjs').Browser} browser
 * @param {Partial<import('urlmode').CreateOptions> & { issuer?: string }} [options]
 *     issuer: what the provider says as `iss`, where it has one
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
		/** The fields of the provider's answer. */
		parameters,
		/** Where the provider sends the browser. */
		returnTo(more) {
			return new URL(`${elicitation.returnUrl}?${new URLSearchParams(parameters(more))}`);
		},
	};
}

/** The browser comes back from the provider; follows nothing. */
export function comeBack(browser, url) {
	return browser.send({ url: new URL(url), from: PROVIDER_PAGE });
}
