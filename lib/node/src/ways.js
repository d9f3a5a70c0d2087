// Where the browser goes: to /connect, and back from the provider.

import { mintState } from './token.js';

/**
 * How long the way back outlives the row's expiry, in seconds: who has paid
 * is told how it stands, also when the bank takes its time. What may still be
 * done, the row's own expiry decides.
 */
const RETURN_SECONDS = 24 * 60 * 60;

/**
 * @typedef {import('./types.js').Elicitation} Elicitation
 * @typedef {import('./types.js').Kind} Kind
 * @typedef {import('./types.js').Way} Way
 */

export class Ways {
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
	 * @param {{ id: string, provider: string, kind: Kind, binding: Buffer, expires: number, ttl?: number, way?: Way,
	 *     resumed: boolean }} row
	 * @returns {Elicitation}
	 */
	elicitation({ id, provider, kind, binding, expires, ttl = 0, way, resumed }) {
		const state = mintState(this.#keys, 'connect', provider, { id, expires: Math.ceil(expires), binding });
		return {
			...way ?? this.back({ id, provider, kind, binding, ttl }),
			url: `${this.#baseUrl}/connect/${provider}?state=${state}`,
			expiresAt: new Date(expires * 1_000),
			resumed,
		};
	}

	/**
	 * @param {{ id: string, provider: string, kind: Kind, binding: Buffer, ttl: number }} elicitation
	 * @returns {Way}
	 */
	back({ id, provider, kind, binding, ttl }) {
		if (kind === 'oauth') {
			// Its state is minted by /connect, for the browser that opens it.
			const returnUrl = `${this.#baseUrl}/oauth/${provider}/return`;
			return { elicitationId: id, returnUrl, cancelUrl: undefined };
		}
		const expires = Math.ceil((Date.now() + ttl) / 1_000) + RETURN_SECONDS;
		/** @param {'return' | 'cancel'} purpose */
		const back = (purpose) => {
			const state = mintState(this.#keys, purpose, provider, { id, expires, binding });
			return `${this.#baseUrl}/payment/${provider}/${purpose}?state=${state}`;
		};
		return { elicitationId: id, returnUrl: back('return'), cancelUrl: back('cancel') };
	}
}
