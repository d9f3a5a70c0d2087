// What ties an authorization code to who asked for it: a code verifier
// (PKCE, RFC 7636) and, for OpenID Connect, a nonce (Core section 3.1.2.1).

import { createHash, randomBytes } from 'node:crypto';

import { withParameters } from './url.js';

/**
 * @typedef {object} Verifier as it is sealed in the row
 * @property {string} code_verifier
 * @property {string} [nonce] only where this module added one
 */

/**
 * Adds an S256 challenge to an authorization URL, and a nonce when its scope
 * has `openid` and it has none of its own.
 *
 * @param {URL} url
 * @returns {{ url: URL, verifier: Verifier }}
 */
export function addVerifier(url) {
	if (url.searchParams.has('code_challenge') || url.searchParams.has('code_challenge_method')) {
		throw new TypeError('targetUrl must not have a code_challenge: pkce adds it');
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
	return { url: withParameters(url, parameters), verifier };
}
