// Invalid and expired state tokens, made with the keys of the stack, so that each
// breaks only the rule under test.

import { readFileSync } from 'node:fs';

import { keyRing, Key, parseKeys } from '../../lib/node/src/keys.js';
import { bindingOf, browserOf, mintState } from '../../lib/node/src/token.js';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

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
	 * @param {{ purpose?: import('../../lib/node/src/token.js').Purpose, provider?: string,
	 *     expires?: number, cookie?: string, owner?: object, id?: string,
	 *     keys?: import('../../lib/node/src/keys.js').KeyRing }} [change]
	 *     expires: Unix seconds; cookie: of the browser to which the token is bound
	 */
	mint({ id, provider, owner }, change = {}) {
		const { purpose = 'return', expires = Math.floor(Date.now() / 1000) + 300, cookie, keys = this.#keys } = change;
		const { subject, session } = change.owner ?? owner;
		return mintState(keys, purpose, change.provider ?? provider, {
			id: change.id ?? id,
			expires,
			binding: bindingOf(subject, session),
			...cookie !== undefined && { browser: browserOf(cookie) },
		});
	}

	/** Other keys with the same kid, or the same secret with another kid. */
	get otherSecret() {
		return keyRing([new Key(this.#keys.minting.kid, Buffer.alloc(32, 7))]);
	}

	get otherKid() {
		return keyRing([new Key(this.#keys.minting.kid + 1, Buffer.alloc(32, 7))]);
	}
}

/** The token with one byte changed. */
export function withByte(token, index, change) {
	const bytes = Buffer.from(token, 'base64url');
	bytes[index] = change(bytes[index]);
	return bytes.toString('base64url');
}

/** The same bytes with a last character whose unused bits are not zero. */
export function withTrailingBits(token) {
	return token.slice(0, -1) + ALPHABET[ALPHABET.indexOf(token.at(-1)) | 1];
}
