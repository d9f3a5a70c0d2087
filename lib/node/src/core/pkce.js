// Binds an authorization code to the request for it: with a code verifier
// (PKCE, RFC 7636) and, for OpenID Connect, a nonce (Core section 3.1.2.1).

import { createHash, randomBytes } from 'node:crypto';

import { TEXTS } from './contract-texts.js';
import { addParameters } from './url.js';

/**
 * @typedef {object} Verifier as it is sealed in the row
 * @property {string} code_verifier
 * @property {string} [nonce] only if this module added one
 */

/**
 * Adds an S256 challenge to an authorization URL. Adds a nonce as well if the
 * scope contains `openid` and the URL has no nonce.
 *
 * @param {URL} url
 * @returns {{ url: URL, verifier: Verifier }}
 */
export function addPkce(url) {
	if (url.searchParams.has('code_challenge') || url.searchParams.has('code_challenge_method')) {
		throw new TypeError(TEXTS.targetUrlChallenge);
	}
	/** @type {Verifier} */
	const verifier = { code_verifier: randomBytes(32).toString('base64url') };
	/** @type {Record<string, string>} */
	const parameters = {
		code_challenge: createHash('sha256').update(verifier.code_verifier).digest('base64url'),
		code_challenge_method: 'S256',
	};
	const scopes = (url.searchParams.get('scope') ?? '').split(' ');
	if (scopes.includes('openid') && !url.searchParams.has('nonce')) {
		verifier.nonce = randomBytes(16).toString('base64url');
		parameters.nonce = verifier.nonce;
	}
	return { url: addParameters(url, parameters), verifier };
}
