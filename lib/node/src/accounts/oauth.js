// Exchanges an authorization code for tokens, and revokes them, with
// openid-client, which implements RFC 6749, 7636, 9207 and OpenID Connect Core.

import { authorizationCodeGrant, skipStateCheck } from 'openid-client';

import { AccountProvider } from './provider.js';

/**
 * @typedef {object} Completed the used part of an outcome, of waitForCompletion or of an adapter
 * @property {string} action `accept`, or there is nothing to exchange
 * @property {Record<string, unknown> | undefined} [result] what the provider has sent back, with the code
 * @property {string | undefined} [codeVerifier] of PKCE
 * @property {string | undefined} [nonce] of OpenID Connect
 */

/**
 * Exchanges the code of an accepted `oauth` elicitation, with its PKCE verifier
 * and nonce. The issuer is checked here (RFC 9207); the callback program has
 * checked the `state`. A code can be exchanged only once.
 *
 * The tokens belong to this server. Never send them to the MCP client.
 *
 * @param {import('openid-client').Configuration} configuration of this server at the provider
 * @param {Completed} outcome of the elicitation
 * @param {string | URL} returnUrl the redirect URI of the authorization request
 * @returns {Promise<import('openid-client').TokenEndpointResponse & import('openid-client').TokenEndpointResponseHelpers>}
 * @throws {TypeError} if the outcome is not an accept with a code
 * @throws the errors of openid-client
 */
export async function exchangeCode(configuration, { action, result, codeVerifier, nonce }, returnUrl) {
	if (action !== 'accept' || typeof result?.code !== 'string') {
		throw new TypeError('exchangeCode requires an outcome with action accept and a code');
	}
	const callback = new URL(returnUrl);
	for (const [name, value] of Object.entries(result)) {
		if (typeof value === 'string') callback.searchParams.set(name, value);
	}
	return authorizationCodeGrant(configuration, callback, {
		expectedState: skipStateCheck,
		idTokenExpected: nonce !== undefined,
		...codeVerifier !== undefined && { pkceCodeVerifier: codeVerifier },
		...nonce !== undefined && { expectedNonce: nonce },
	});
}

/**
 * Revokes a token of an account that was connected (RFC 7009): the refresh
 * token, if there is one.
 *
 * @param {Pick<import('./types.js').ProviderOptions, 'provider' | 'description' | 'client' | 'variables'>} options
 *     those that it was connected with
 * @param {string} token an access token or a refresh token
 * @throws {TypeError} if the provider has no endpoint for it
 * @throws the errors of openid-client
 */
export async function revokeToken({ provider, description, client, variables }, token) {
	const account = await AccountProvider.open({ provider, description, client, variables });
	await account.revoke(token);
}
