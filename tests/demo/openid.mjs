// The demo MCP server as a client of the OpenID provider.

import * as oidc from 'openid-client';

import { CLIENT_ID } from './provider.mjs';

export class OpenIdClient {
	#issuer;
	#discovered;

	/** @param {string} issuer the provider's issuer identifier, an URL */
	constructor(issuer) {
		this.#issuer = new URL(issuer);
	}

	/** Where the user signs in. The `urlmode` package adds PKCE and nonce, /connect the state. */
	async authorizationUrl(returnUrl) {
		return oidc.buildAuthorizationUrl(await this.#configuration(), {
			redirect_uri: returnUrl,
			scope: 'openid profile',
		});
	}

	/**
	 * Exchanges what came back for tokens. Issuer, PKCE verifier and nonce are
	 * checked here; the state has been, by the callback program.
	 * @param {import('urlmode').Outcome} outcome
	 * @param {string} returnUrl
	 * @returns {Promise<{ name: string, tokens: object }>} tokens: for this server alone
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
			// Plain HTTP, because the demo's provider is on loopback.
			execute: this.#issuer.protocol === 'http:' ? [oidc.allowInsecureRequests] : [],
		});
	}
}
