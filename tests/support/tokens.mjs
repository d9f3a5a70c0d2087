// Invalid and expired state tokens, made with the keys of the stack, so that each
// breaks only the rule under test.

import { readFileSync } from 'node:fs';

import { parseKeys } from '../../lib/node/src/core/keys.js';
import { mintLink } from '../../lib/node/src/core/link.js';
import { bindingOf, browserOf, mintState, openState } from '../../lib/node/src/core/token.js';

export class Tokens {
	#keys;

	/** @param {import('./stack.mjs').Stack} stack */
	constructor(stack) {
		const file = stack.env.URLMODE_KEYS_FILE;
		this.#keys = parseKeys(readFileSync(file, 'latin1'), file);
	}

	/**
	 * A genuine token for an elicitation of flow.mjs.
	 *
	 * @param {{ id: string, provider: string, owner: { subject: string, session: string } }} elicitation
	 * @param {{ purpose?: import('../../lib/node/src/core/token.js').Purpose, provider?: string,
	 *     expires?: number, cookie?: string, owner?: object, id?: string }} [change]
	 *     expires: Unix seconds; cookie: of the browser to which the token is bound
	 */
	mint({ id, provider, owner }, change = {}) {
		const { purpose = 'return', expires = Math.floor(Date.now() / 1000) + 300, cookie } = change;
		const { subject, session } = change.owner ?? owner;
		return mintState(this.#keys, purpose, change.provider ?? provider, {
			id: change.id ?? id,
			expires,
			binding: bindingOf(subject, session),
			...cookie !== undefined && { browser: browserOf(cookie) },
		});
	}

	/**
	 * The state of a genuine link.
	 *
	 * @param {{ id: string, provider: string }} elicitation
	 */
	link({ id, provider }) {
		return mintLink(this.#keys.minting, provider, id);
	}

	/** The URL of an elicitation as it is some seconds later: its state expires so much earlier. */
	age(url, purpose, { provider }, seconds) {
		const aged = new URL(url);
		const state = openState(this.#keys, purpose, provider, aged.searchParams.get('state'));
		aged.searchParams.set('state', mintState(this.#keys, purpose, provider, { ...state, expires: state.expires - seconds }));
		return aged.href;
	}
}

/** The query of the webhook's address at a provider that signs nothing. Only the id counts. */
export function tokenOf({ stack }, provider, id) {
	return `?state=${new Tokens(stack).mint({ id, provider, owner: { subject: 'anyone', session: '' } }, { purpose: 'webhook' })}`;
}

/** The token with one byte changed. */
export function withByte(token, index, change) {
	const bytes = Buffer.from(token, 'base64url');
	bytes[index] = change(bytes[index]);
	return bytes.toString('base64url');
}
