// The demo MCP server as a client of the OpenID provider.

import * as oidc from 'openid-client';

import { CLIENT_ID } from './provider.mjs';

export class OpenIdClient {
	#issuer;
	#discovered;

	/** @param {string} issuer the provider's issuer identifier, a URL */
	constructor(issuer) {
		this.#issuer = new URL(issuer);
	}

	/** The URL at which the user signs in. The `urlmode` package adds PKCE and nonce, and /connect the state. */
	async authorizationUrl(returnUrl) {
		return oidc.buildAuthorizationUrl(await this.#configuration(), {
			redirect_uri: returnUrl,
			scope: 'openid profile',
		});
	}

	/**
	 * Exchanges the authorization code for tokens. Issuer, PKCE verifier and
	 * nonce are checked here; the callback program has checked the state.
	 * @param {import('urlmode').Outcome} outcome
	 * @param {string} returnUrl
	 * @returns {Promise<{ name: string, tokens: object }>} tokens: only for this server
	 */
	async exchange({ result, codeVerifier, nonce }, returnUrl) {
		const configuration = await this.#configuration();
		const currentUrl = new URL(returnUrl);
		currentUrl.search = new URLSearchParams(result).toString();

		const tokens = await oidc.authorizationCodeGrant(configuration, currentUrl, {
			pkceCodeVerifier: codeVerifier,
			expectedNonce: nonce,
			expectedState: oidc.skipStateCheck,
		});
		const { sub } = tokens.claims();
		const { name } = await oidc.fetchUserInfo(configuration, tokens.access_token, sub);
		return { name, tokens };
	}

	#configuration() {
		this.#discovered ??= this.#discover().catch((error) => {
			this.#discovered = undefined;
			throw error;
		});
		return this.#discovered;
	}

	#discover() {
		return oidc.discovery(this.#issuer, CLIENT_ID, undefined, oidc.None(), {
			// Allows plain HTTP, because the demo's provider is on loopback.
			execute: this.#issuer.protocol === 'http:' ? [oidc.allowInsecureRequests] : [],
		});
	}
}
