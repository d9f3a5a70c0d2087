// A handle in requestState, sealed with a key that is derived from the key of the api: another instance with the same
// key opens it. It is bound to one owner, one item or resume key, and all that the call asks for.
//
//   umh_ || base64url(nonce(12) || AES-256-GCM(JSON of the elicitation and a digest of owner and request))
//   key    HKDF-SHA256(key of the api, no salt, "urlmode handle v1")
//
// After the handle with its count and a point, that of a body that has asked for something itself has the round, sealed
// with the same key. Its associated data is the text before that point, so that it is of this handle.

import { checkOwner } from '../core/arguments.js';
import { canonicalJson } from '../core/canonical-json.js';
import { GRACE_MAX_MS } from '../core/contract-limits.js';
import { NONCE_BYTES } from '../core/contract-seals.js';
import { StateTokenError } from '../core/errors.js';
import { toBase64url } from '../core/plain-sha256.js';

const INFO = 'urlmode handle v1';
const PREFIX = 'umh_';
const encoder = new TextEncoder();

/**
 * @typedef {import('../core/internals.js').Handles} IHandles
 * @typedef {import('../core/internals.js').HandleRequest} HandleRequest
 */

/** @implements {IHandles} */
export class Handles {
	#secret;
	/** @type {ReturnType<typeof derive> | undefined} */
	#key;

	/** @param {string} secret */
	constructor(secret) {
		this.#secret = secret;
	}

	pattern = /^(umh_[A-Za-z0-9_-]{40,8000})\.([1-9])(?:\.([A-Za-z0-9_-]+))?$/;

	/**
	 * @param {HandleRequest} request
	 * @param {import('../core/internals.js').HandledElicitation} elicitation
	 */
	async seal(request, { elicitationId: id, url, returnUrl, expiresAt }) {
		return PREFIX + await this.#seal({ id, url, returnUrl, expiresAt, of: await digestOf(request) });
	}

	/**
	 * @param {HandleRequest} request
	 * @param {string} sealed
	 */
	async open(request, sealed) {
		const { id, url, returnUrl, expiresAt, of } = await this.check(sealed);
		if (of !== await digestOf(request)) throw new StateTokenError('STATE_INVALID');
		return /** @type {import('../core/internals.js').HandledElicitation} */ ({ elicitationId: id, url, returnUrl, expiresAt: new Date(expiresAt), resumed: true });
	}

	/** @type {IHandles['sealRound']} */
	async sealRound(handle, _elicitation, _owner, left) {
		return `${handle}.${await this.#seal(left, handle)}`;
	}

	/** @type {IHandles['openRound']} */
	async openRound(text) {
		const at = text.lastIndexOf('.');
		return /** @type {import('../core/internals.js').LeftRound} */ (await this.#open(text.slice(at + 1), text.slice(0, at)));
	}

	/**
	 * @param {string} sealed
	 * @returns {Promise<{ id: string, url: string, returnUrl: string, expiresAt: string, of: string }>}
	 */
	async check(sealed) {
		const handle = await this.#open(sealed.slice(PREFIX.length));
		if (Date.parse(handle.expiresAt) + GRACE_MAX_MS <= Date.now()) throw new StateTokenError('STATE_EXPIRED');
		return handle;
	}

	/**
	 * @param {object} value
	 * @param {string} [of] what it belongs to
	 */
	async #seal(value, of = '') {
		const iv = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
		const text = encoder.encode(JSON.stringify(value));
		const sealed = await crypto.subtle.encrypt({ name: 'AES-GCM', iv, additionalData: encoder.encode(of) }, await this.#derived, text);
		return toBase64url(Uint8Array.of(...iv, ...new Uint8Array(sealed)));
	}

	/**
	 * @param {string} sealed
	 * @param {string} [of]
	 */
	async #open(sealed, of = '') {
		const bytes = fromBase64url(sealed);
		if (!bytes) throw new StateTokenError('STATE_INVALID');
		const algorithm = { name: 'AES-GCM', iv: bytes.subarray(0, NONCE_BYTES), additionalData: encoder.encode(of) };
		const opened = await crypto.subtle.decrypt(algorithm, await this.#derived, bytes.subarray(NONCE_BYTES)).catch(() => undefined);
		if (!opened) throw new StateTokenError('STATE_INVALID');
		return JSON.parse(new TextDecoder().decode(opened));
	}

	get #derived() {
		this.#key ??= derive(this.#secret);
		return this.#key;
	}
}

/** @param {string} secret */
async function derive(secret) {
	const base = await crypto.subtle.importKey('raw', encoder.encode(secret), 'HKDF', false, ['deriveKey']);
	return crypto.subtle.deriveKey({ name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(0), info: encoder.encode(INFO) }, base,
		{ name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt']);
}

/**
 * Of whose it is and what for.
 *
 * @param {HandleRequest} request
 */
async function digestOf({ options, key }) {
	const { provider, kind, item, expected, about, clientId, sameClient } = options;
	const { form, approver, fourEyes, stepUp, submitLabel, verifyTimeout } = /** @type {import('./api.js').Members} */ (options);
	const { subject, session } = checkOwner(options);
	const asked = {
		subject, session, provider, kind, ...item === undefined ? { expected, key } : { item }, about, form, approver, fourEyes, stepUp, submitLabel,
		verify: verifyTimeout !== undefined, client: sameClient ? clientId : undefined,
	};
	return toBase64url(new Uint8Array(await crypto.subtle.digest('SHA-256', encoder.encode(canonicalJson(asked)))));
}

/**
 * @param {string} text
 * @returns {Uint8Array<ArrayBuffer> | undefined} undefined if it is not exactly that
 */
function fromBase64url(text) {
	try {
		const bytes = Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0));
		return toBase64url(bytes) === text ? bytes : undefined;
	} catch {
		return undefined;
	}
}
