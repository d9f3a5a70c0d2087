// The short state of the link that is elicited. It names an elicitation, and
// proves that an SDK made it; expiry and owner are the row's. The same
// elicitation has the same link each time, as long as the same key mints it.
//
//   bytes      01 || kid || id(16) || mac(14)
//   mac        the first 14 bytes of HMAC-SHA256 over
//              01 || kid || purpose || 00 || provider || 00 || id
//   purpose    "connect", or "approve" for those who decide for the subject
//   key        HKDF-SHA256(secret of kid, no salt, "urlmode link v1")
//   text       base64url without padding, always 43 characters
//
// In C: lib/crypto/link.c.

import { timingSafeEqual } from 'node:crypto';

import { LINK_INFO, LINK_MAC_BYTES } from './contract-seals.js';
import { StateTokenError } from './errors.js';
import { hmacSha256 } from './sha256.js';
import { idBytes, idText } from './token.js';

const VERSION = 1;
const ID_AT = 2;
const MAC_AT = ID_AT + 16;

/** @typedef {'connect' | 'approve'} LinkPurpose */

/**
 * @param {import('./keys.js').Key} key
 * @param {string} provider
 * @param {string} id a UUID
 * @param {LinkPurpose} [purpose]
 */
export function mintLink(key, provider, id, purpose = 'connect') {
	const named = Buffer.concat([Buffer.of(VERSION, key.kid), idBytes(id)]);
	return Buffer.concat([named, macOf(key, purpose, provider, named)]).toString('base64url');
}

/**
 * @param {import('./keys.js').KeyRing} keys
 * @param {string} provider
 * @param {string} text
 * @param {LinkPurpose} [purpose]
 * @returns {{ id: string, kid: number }} the elicitation's UUID, lower case
 * @throws {StateTokenError} if the text is not a link for this provider and purpose
 */
export function openLink(keys, provider, text, purpose = 'connect') {
	const bytes = Buffer.from(text, 'base64url');
	const [version, kid = -1] = bytes;
	const key = keys.find(kid);
	if (bytes.length !== MAC_AT + LINK_MAC_BYTES || bytes.toString('base64url') !== text || version !== VERSION || !key
		|| !timingSafeEqual(bytes.subarray(MAC_AT), macOf(key, purpose, provider, bytes.subarray(0, MAC_AT)))) {
		throw new StateTokenError('STATE_INVALID');
	}
	return { id: idText(bytes.subarray(ID_AT, MAC_AT)), kid };
}

/**
 * The id of the key that has minted a link or a state token.
 *
 * @param {string} text
 */
export function kidOf(text) {
	return Buffer.from(text.slice(0, 4), 'base64url')[1] ?? 0;
}

/**
 * @param {import('./keys.js').Key} key
 * @param {LinkPurpose} purpose
 * @param {string} provider
 * @param {Uint8Array} named version, kid and id
 */
function macOf(key, purpose, provider, named) {
	return hmacSha256(key.shared(LINK_INFO), named.subarray(0, ID_AT), `${purpose}\0${provider}\0`, named.subarray(ID_AT)).subarray(0, LINK_MAC_BYTES);
}
