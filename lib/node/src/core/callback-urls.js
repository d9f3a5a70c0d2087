// The URLs of an elicitation: the link to /connect, and where the provider
// sends the browser and its own deliveries afterwards.

import { hasForm } from './create-options.js';
import { mintLink } from './link.js';
import { GRACE_MAX_SECONDS, mintState } from './token.js';

/**
 * @typedef {import('./types.js').AnyElicitation} AnyElicitation
 * @typedef {import('./types.js').Kind} Kind
 * @typedef {import('./types.js').CallbackUrls} CallbackUrls
 */

export class UrlBuilder {
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
	 * The link is the same each time: the key that has minted it first mints it
	 * again, as long as the keys file has it.
	 *
	 * @param {{ id: string, provider: string, kind: Kind, binding: Buffer, expires: number, ttl?: number,
	 *     linkKid: number | null, callbackUrls?: CallbackUrls | undefined, byOthers?: boolean, resumed: boolean }} row byOthers: others than
	 *     its subject are to open the link
	 * @returns {AnyElicitation}
	 */
	toElicitation({ id, provider, kind, binding, expires, ttl = 0, linkKid, callbackUrls, byOthers = false, resumed }) {
		const key = (linkKid === null ? undefined : this.#keys.find(linkKid)) ?? this.#keys.minting;
		const link = `${this.#baseUrl}/connect/${provider}?state=${mintLink(key, provider, id, byOthers ? 'approve' : 'connect')}`;
		const expiresAt = new Date(expires * 1_000);
		if (byOthers) return { elicitationId: id, approvalUrl: link, expiresAt, resumed };
		if (hasForm(kind)) return { elicitationId: id, url: link, expiresAt, resumed };
		const { returnUrl, cancelUrl, webhookUrl } = callbackUrls ?? this.build({ id, provider, kind, binding, ttl });
		return /** @type {AnyElicitation} */ ({ elicitationId: id, returnUrl, cancelUrl, webhookUrl, url: link, expiresAt, resumed });
	}

	/**
	 * @param {{ id: string, provider: string, kind: Kind, binding: Buffer, ttl: number }} row
	 * @returns {CallbackUrls}
	 */
	build({ id, provider, kind, binding, ttl }) {
		if (kind === 'oauth') {
			// /connect mints the state of the redirect URI and binds it to the browser.
			const returnUrl = `${this.#baseUrl}/oauth/${provider}/return`;
			return { elicitationId: id, returnUrl, cancelUrl: undefined, webhookUrl: undefined };
		}
		const expires = Math.ceil((Date.now() + ttl) / 1_000) + GRACE_MAX_SECONDS;
		/**
		 * @param {string} path
		 * @param {'return' | 'cancel' | 'webhook'} purpose
		 */
		const urlFor = (path, purpose) => {
			const state = mintState(this.#keys, purpose, provider, { id, expires, binding });
			return `${this.#baseUrl}/${path}?state=${state}`;
		};
		return {
			elicitationId: id,
			returnUrl: urlFor(`payment/${provider}/return`, 'return'),
			cancelUrl: urlFor(`payment/${provider}/cancel`, 'cancel'),
			webhookUrl: urlFor(`webhook/${provider}`, 'webhook'),
		};
	}
}
