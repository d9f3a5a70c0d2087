// The tokens of an account, sealed for its subject, provider and account under the
// vault's own keys.
//
//   place  SHA-256("urlmode account v1" || 00 || subject || 00 || provider || 00 || account)
//   bytes  01 || kid || nonce(12) || ciphertext || tag(16)
//   key    HKDF-SHA256(secret of kid, salt = place, info = "urlmode account v1")
//   AAD    01 || kid || place

import { createHash } from 'node:crypto';

import { TOKENS_MAX } from '../core/contract-limits.js';
import { ACCOUNT_INFO } from '../core/contract-seals.js';
import { TEXTS } from '../core/contract-texts.js';
import { decrypt, encrypt } from '../core/envelope.js';
import { AccountSealError, AccountSizeError } from '../core/errors.js';


/**
 * @typedef {object} Place where an account is in the vault. None of the texts contains NUL
 * @property {string} subject
 * @property {string} provider
 * @property {string} account
 */

/** @param {Place} place */
function digestOf({ subject, provider, account }) {
	return createHash('sha256').update([ACCOUNT_INFO, subject, provider, account].join('\0')).digest();
}

/**
 * @param {import('../core/keys.js').KeyRing} keys
 * @param {Place} place
 * @param {import('../accounts/types.js').Tokens} tokens
 * @param {Uint8Array} [nonce] random by default
 * @returns {Buffer}
 * @throws {AccountSizeError}
 */
export function sealTokens(keys, place, tokens, nonce) {
	const context = digestOf(place);
	const { kid } = keys.minting;
	const sealed = encrypt({ kid, key: keys.minting.derive(context, ACCOUNT_INFO), nonce, context, plaintext: JSON.stringify(tokens) });
	if (sealed.length > TOKENS_MAX) throw new AccountSizeError(place.provider);
	return sealed;
}

/**
 * @param {import('../core/keys.js').KeyRing} keys
 * @param {Place} place
 * @param {Uint8Array} sealed
 * @returns {import('../accounts/types.js').Tokens}
 * @throws {AccountSealError}
 */
export function openTokens(keys, place, sealed) {
	const context = digestOf(place);
	const opened = decrypt(sealed, (kid) => keys.find(kid)?.derive(context, ACCOUNT_INFO), context);
	if (opened === 'unknown key') throw new AccountSealError(place.provider, TEXTS.noSuchVaultKey(Number(sealed[1])));
	if (typeof opened === 'string') throw new AccountSealError(place.provider, `they are ${opened}`);
	return JSON.parse(opened.toString());
}
