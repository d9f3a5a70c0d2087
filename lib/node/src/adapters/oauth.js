// The authorization code becomes tokens: by openid-client, which does what
// RFC 6749, 7636, 9207 and OpenID Connect Core want of a client.

import { authorizationCodeGrant, skipStateCheck } from 'openid-client';

/**
 * @typedef {object} Completed what is used of an outcome: of waitForCompletion, or of an adapter
 * @property {string} action
 * @property {Record<string, unknown> | undefined} [result]
 * @property {string} [codeVerifier]
 * @property {string} [nonce]
 */

/**
 * Exchanges the code of an accepted `oauth` elicitation, with its PKCE
 * verifier and nonce. The issuer is compared here (RFC 9207) and the `state`
 * was, by the callback program. Once: a code is good for one exchange.
 *
 * The tokens are this server's, and are never to reach the MCP client.
 *
 * @param {import('openid-client').Configuration} configuration of this server at the provider
 * @param {Completed} outcome
 * @param {string | URL} returnUrl the redirect URI that the code was asked for with
 * @returns {Promise<import('openid-client').TokenEndpointResponse & import('openid-client').TokenEndpointResponseHelpers>}
 * @throws {TypeError} the outcome is not an accept with a code
 * @throws what openid-client throws
 */
export async function exchangeCode(configuration, { action, result, codeVerifier, nonce }, returnUrl) {
	if (action !== 'accept' || typeof result?.code !== 'string') {
		throw new TypeError('exchangeCode wants an outcome with action accept and a code');
	}
	const callback = new URL(returnUrl);
	for (const [name, value] of Object.entries(result)) {
		if (typeof value === 'string') callback.searchParams.set(name, value);
	}
	return authorizationCodeGrant(configuration, callback, {
		pkceCodeVerifier: codeVerifier,
		expectedNonce: nonce,
		expectedState: skipStateCheck,
		idTokenExpected: nonce !== undefined,
	});
}
