// The URLs of an elicitation: the link to /connect, and where the provider
// sends the browser and its own deliveries afterwards.

import { mintState } from './token.js';

/**
 * How many seconds the state of a return URL outlives the elicitation. A bank
 * transfer may take a day, and the user who comes back then still gets to see
 * its status. What may still be completed depends on the row's own expiry.
 */
const RETURN_SECONDS = 24 * 60 * 60;

/** The same for the webhook URL: a provider may report a payment, or its refund, weeks later. */
const WEBHOOK_SECONDS = 30 * 24 * 60 * 60;

/**
 * @typedef {import('./types.js').Elicitation} Elicitation
 * @typedef {import('./types.js').Kind} Kind
 * @typedef {import('./types.js').Way} Way
 */

export class CallbackUrls {
	#keys;
	#baseUrl;

	/**
	 * @param {import('./keys.js').KeyRing} keys
	 * @param {string} baseUrl
	 */
	constructor(keys, baseUrl) {
		this.#keys = keys;
		this.#baseUrl = baseUrl;
	}

	/**
	 * @param {{ id: string, provider: string, kind: Kind, binding: Buffer, expires: number, ttl?: number,
	 *     callbackUrls?: Way, resumed: boolean }} row
	 * @returns {Elicitation}
	 */
	toElicitation({ id, provider, kind, binding, expires, ttl = 0, callbackUrls, resumed }) {
		const state = mintState(this.#keys, 'connect', provider, { id, expires: Math.ceil(expires), binding });
		return {
			...callbackUrls ?? this.build({ id, provider, kind, binding, ttl }),
			url: `${this.#baseUrl}/connect/${provider}?state=${state}`,
			expiresAt: new Date(expires * 1_000),
			resumed,
		};
	}

	/**
	 * @param {{ id: string, provider: string, kind: Kind, binding: Buffer, ttl: number }} row
	 * @returns {Way}
	 */
	build({ id, provider, kind, binding, ttl }) {
		if (kind === 'oauth') {
			// /connect mints the state of the redirect URI and binds it to the browser.
			const returnUrl = `${this.#baseUrl}/oauth/${provider}/return`;
			return { elicitationId: id, returnUrl, cancelUrl: undefined, webhookUrl: undefined };
		}
		const expires = Math.ceil((Date.now() + ttl) / 1_000);
		/**
		 * @param {string} path
		 * @param {'return' | 'cancel' | 'webhook'} purpose
		 * @param {number} seconds that the state outlives the elicitation
		 */
		const urlFor = (path, purpose, seconds) => {
			const state = mintState(this.#keys, purpose, provider, { id, expires: expires + seconds, binding });
			return `${this.#baseUrl}/${path}?state=${state}`;
		};
		return {
			elicitationId: id,
			returnUrl: urlFor(`payment/${provider}/return`, 'return', RETURN_SECONDS),
			cancelUrl: urlFor(`payment/${provider}/cancel`, 'cancel', RETURN_SECONDS),
			webhookUrl: urlFor(`webhook/${provider}`, 'webhook', WEBHOOK_SECONDS),
		};
	}
}
