// A handle in requestState, sealed with a key of the keys file: a state token of purpose `retry`. It is bound to one
// owner, one item or resume key, and all that the call asks for. A handle for a cheap item cannot complete an
// expensive one.

import { createHash } from 'node:crypto';

import { checkOwner } from './arguments.js';
import { ROUND_INFO } from './contract-seals.js';
import { checkRequest } from './create-options.js';
import { StateTokenError } from './errors.js';
import { kidOf } from './link.js';
import { seal, unseal } from './seal.js';
import { bindingOf, GRACE_MAX_SECONDS, mintState, openState } from './token.js';

/**
 * @typedef {import('./internals.js').Handles} IHandles
 * @typedef {import('./internals.js').HandleRequest} HandleRequest
 */

/** @implements {IHandles} */
export class Handles {
	#keys;
	#urls;
	#tenant;

	/**
	 * @param {import('./keys.js').KeyRing} keys
	 * @param {import('./callback-urls.js').UrlBuilder} urls
	 * @param {string} tenant
	 */
	constructor(keys, urls, tenant) {
		this.#keys = keys;
		this.#urls = urls;
		this.#tenant = tenant;
	}

	pattern = /^([A-Za-z0-9_-]{115})\.([1-9])(?:\.([A-Za-z0-9_-]+))?$/;

	/**
	 * @param {HandleRequest} request
	 * @param {import('./internals.js').HandledElicitation} elicitation
	 */
	seal(request, { elicitationId: id, url, approvalUrl, expiresAt }) {
		const kid = kidOf(new URL(url ?? approvalUrl ?? '').searchParams.get('state') ?? '');
		const expires = Math.ceil(expiresAt.getTime() / 1_000) + GRACE_MAX_SECONDS;
		return mintState({ minting: this.#keys.find(kid) ?? this.#keys.minting }, 'retry', '',
			{ id, expires, binding: this.#bindingIn(request), browser: purposesOf(request)[0] });
	}

	/**
	 * @param {HandleRequest} request
	 * @param {string} sealed
	 */
	open(request, sealed) {
		const { id, binding, browser, expires } = this.check(sealed);
		if (!this.#bindingIn(request).equals(binding) || !purposesOf(request).some((purpose) => purpose.equals(browser))) throw new StateTokenError('STATE_INVALID');
		const { provider, kind } = request.options;
		return /** @type {import('./internals.js').HandledElicitation} */ (this.#urls.toElicitation({
			id, provider, kind, binding: this.#bindingIn(request), expires: expires - GRACE_MAX_SECONDS, linkKid: kidOf(sealed), resumed: true,
		}));
	}

	/**
	 * @param {string} handle with its count
	 * @param {import('./internals.js').HandledElicitation} elicitation
	 * @param {import('./types.js').Owner} owner
	 * @param {import('./internals.js').LeftRound} left
	 */
	sealRound(handle, elicitation, owner, left) {
		const json = JSON.stringify({ ...left, of: digestOf(handle) });
		return `${handle}.${seal(this.#keys, this.#roundOf(elicitation, owner), json).toString('base64url')}`;
	}

	/**
	 * @param {string} text
	 * @param {import('./internals.js').HandledElicitation} elicitation
	 * @param {import('./types.js').Owner} owner
	 */
	openRound(text, elicitation, owner) {
		const at = text.lastIndexOf('.');
		try {
			const { of, ...left } = unseal(this.#keys, this.#roundOf(elicitation, owner), Buffer.from(text.slice(at + 1), 'base64url'));
			if (of === digestOf(text.slice(0, at))) return /** @type {import('./internals.js').LeftRound} */ (/** @type {unknown} */ (left));
		} catch {
			// It is no round of this row and owner.
		}
		throw new StateTokenError('STATE_INVALID');
	}

	/** @param {string} sealed */
	check(sealed) {
		return openState(this.#keys, 'retry', '', sealed);
	}

	/** @param {HandleRequest} request */
	#bindingIn({ options }) {
		const { subject, session } = checkOwner(options);
		return bindingOf(subject, session, this.#tenant);
	}

	/**
	 * @param {import('./internals.js').HandledElicitation} elicitation
	 * @param {import('./types.js').Owner} owner
	 * @returns {import('./seal.js').SealContext}
	 */
	#roundOf({ elicitationId: id }, owner) {
		const { subject, session } = checkOwner(owner);
		return { id, binding: bindingOf(subject, session, this.#tenant), use: ROUND_INFO };
	}
}

/**
 * A round is of the handle that it came with, and so of its request.
 *
 * @param {string} handle
 */
function digestOf(handle) {
	return createHash('sha256').update(handle).digest().subarray(0, 16).toString('base64url');
}

/**
 * @param {HandleRequest} request
 * @returns {[Buffer, ...Buffer[]]} of new handles, then of those of packages that send no items
 */
function purposesOf({ options, key }) {
	const { item, request, earlierRequest } = checkRequest(options);
	/** @type {(asked: Buffer, key: string) => Buffer} */
	const of = (asked, its) => createHash('sha256').update(asked).update(its).digest().subarray(0, 16);
	return item === null || earlierRequest === null ? [of(request, key)] : [of(request, ''), of(earlierRequest, key)];
}
