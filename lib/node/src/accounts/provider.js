// A provider at which users connect accounts: where to send the browser, what to
// do with the code that comes back, and whose account it is.

import { setTimeout as sleep } from 'node:timers/promises';

import { ACCOUNT_AGAIN_MS, ACCOUNT_REQUEST_MS, REUSE_MAX_MS } from '../core/contract-limits.js';
import { TEXTS } from '../core/contract-texts.js';
import { jittered } from '../core/jitter.js';
import { codeOf, detailOf, withDetail } from './request.js';
import { readWhole } from './bounded-answer.js';
import { checkParameters, fillIn, fromReturn, readDescription } from './description.js';
import { configurationOf, importOpenIdClient } from './configuration.js';
import { assertClaims } from './id-token.js';
import { lengthen } from './long-lived.js';
import { findText } from './pointer.js';
import { parse } from './token-response.js';


/**
 * @typedef {import('./types.js').Account} Account
 * @typedef {import('./types.js').Connected} Connected
 * @typedef {import('./types.js').NotConnected} NotConnected
 * @typedef {import('./types.js').ProviderOptions} ProviderOptions
 * @typedef {import('./types.js').Tokens} Tokens
 * @typedef {Pick<import('../adapters/types.js').Accepted, 'elicitationId' | 'returnUrl' | 'result' | 'codeVerifier' | 'nonce'>} Accepted
 */

export class AccountProvider {
	#openid;
	#oauth;
	#options;
	#configuration;

	/**
	 * @param {import('./configuration.js').OpenIdClient} openid
	 * @param {import('./types.js').OAuthDescription} oauth with its variables filled in
	 * @param {ProviderOptions} options
	 * @param {import('openid-client').Configuration} configuration
	 */
	constructor(openid, oauth, options, configuration) {
		this.#openid = openid;
		this.#oauth = oauth;
		this.#options = options;
		this.#configuration = configuration;
	}

	/**
	 * @param {ProviderOptions} options
	 * @throws {TypeError} if the options do not fit the description
	 * @throws {import('../core/errors.js').ProviderUnavailableError} if the provider's metadata cannot be discovered
	 */
	static async open(options) {
		const { provider, description = provider, client, variables = {}, parameters = {} } = options;
		if (typeof client?.id !== 'string' || client.id === '') throw new TypeError('client.id must be a non-empty string');
		if (client.secret !== undefined && (typeof client.secret !== 'string' || client.secret === '')) {
			throw new TypeError('client.secret must be a non-empty string, or left out');
		}
		checkScopes('scopes', options.scopes);
		checkScopes('requiredScopes', options.requiredScopes);
		checkParameters(parameters);
		checkReuse(options.reuseWithin);
		const oauth = fillIn(await readDescription(description), variables);
		const openid = await importOpenIdClient();
		return new AccountProvider(openid, oauth, options, await configurationOf(openid, provider, oauth, client));
	}

	get usesPkce() {
		return this.#oauth.pkce === 'S256';
	}

	/** Discovered metadata have the keys with which id tokens are verified. */
	get #isDiscovered() {
		return this.#oauth.token_endpoint === undefined;
	}

	/**
	 * The authorization request (RFC 6749 section 4.1.1). PKCE and nonce are
	 * added when the elicitation is created, the state by /connect.
	 *
	 * @param {string} returnUrl
	 */
	authorizationUrl(returnUrl) {
		const { scope: { parameter = 'scope', separator = ' ' } = {}, response_mode: mode, parameters } = this.#oauth;
		const { client, scopes = [], parameters: more } = this.#options;
		const names = this.#oauth.parameter_names ?? {};
		const url = new URL(String(this.#configuration.serverMetadata().authorization_endpoint));
		const wanted = {
			response_type: 'code', client_id: client.id, redirect_uri: returnUrl,
			...scopes.length > 0 && { [parameter]: scopes.join(separator) },
			...mode === 'form_post' && { response_mode: mode },
			...parameters, ...more,
		};
		for (const [name, value] of Object.entries(wanted)) url.searchParams.set(names[name] ?? name, value);
		return url;
	}

	/**
	 * Exchanges the code. That works once: the outcome must be claimed.
	 *
	 * @param {Accepted} outcome
	 * @param {() => Promise<boolean>} [isInUse] whether the user has an account there, whose tokens some providers would
	 *     revoke with those of this code
	 * @returns {Promise<Connected | NotConnected>}
	 */
	async connect(outcome, isInUse) {
		const { code, iss, ...rest } = outcome.result ?? {};
		if (typeof code !== 'string') return { reason: 'exchange_failed', detail: 'code_missing' };
		const issuerProblem = this.#checkIssuer(iss);
		if (issuerProblem) return { reason: issuerProblem, detail: 'iss' };
		const returned = textsOf(rest);
		const { variables, wrong } = fromReturn(this.#oauth, returned);
		if (wrong !== undefined) return { reason: 'exchange_failed', detail: wrong };
		if (Object.keys(variables).length === 0) return this.#connect(code, outcome, returned, isInUse);
		const there = await AccountProvider.open({ ...this.#options, variables: { ...this.#options.variables, ...variables } });
		return there.#connect(code, outcome, returned, isInUse);
	}

	/**
	 * @param {string} code
	 * @param {Accepted} outcome
	 * @param {Record<string, string>} returned further parameters of the return
	 * @param {() => Promise<boolean>} [isInUse]
	 * @returns {Promise<Connected | NotConnected>}
	 */
	async #connect(code, outcome, returned, isInUse) {
		/** @type {import('./request.js').Seen} */
		const seen = {};
		/** Most users who lack a scope have an account already: without the vault, nobody knows. */
		const drop = async (/** @type {Tokens} */ unused) => {
			if (isInUse && !await isInUse()) await this.revokeAll(unused);
		};
		let answer;
		/** @type {Tokens} */
		let tokens;
		try {
			answer = await withDetail(() => this.#exchange(code, outcome), seen);
			tokens = await this.#lengthen(/** @type {Tokens} */ ({ ...answer }));
		} catch (error) {
			const isRefusal = error instanceof this.#openid.ResponseBodyError;
			if (seen.tokens) await drop(seen.tokens);
			return { reason: isRefusal ? 'exchange_refused' : 'exchange_failed', detail: detailOf(error) };
		}
		/** @type {Record<string, unknown> | undefined} */
		const claims = answer.claims();
		const { scopes = [], requiredScopes = [], variables = {} } = this.#options;
		const granted = tokens.scope === undefined ? scopes : tokens.scope.split(/[\s,]+/).filter(Boolean);
		const missing = requiredScopes.filter((scope) => !granted.includes(scope));
		if (missing.length > 0) {
			await drop(tokens);
			return { reason: 'scope_missing', detail: missing.join(' ') };
		}
		let account;
		try {
			account = await this.#findAccount(tokens, claims, returned);
		} catch (error) {
			if (!await isInUse?.()) await this.revokeAll(tokens);
			return { reason: 'exchange_failed', detail: codeOf(error) };
		}
		return { tokens, account, scopes: granted, requested: scopes, claims, returned, variables };
	}

	/**
	 * A token that its provider makes longer lived, and that is its own refresh token if it can be renewed.
	 *
	 * @param {Tokens} tokens
	 * @returns {Promise<Tokens>}
	 */
	async #lengthen(tokens) {
		const { exchange, renewal } = this.#oauth.long_lived ?? {};
		if (!exchange) return tokens;
		const longer = await this.#renewed(exchange, tokens.access_token);
		if (!renewal) delete longer.refresh_token;
		const { expires_in: _, ...rest } = tokens;
		return { ...rest, ...longer };
	}

	/**
	 * @param {import('./types.js').Lengthening} request
	 * @param {string} accessToken
	 * @returns {Promise<Tokens>} with itself as refresh token
	 */
	async #renewed(request, accessToken) {
		const { client } = this.#options;
		const tokens = await withDetail(() => lengthen(request, { access_token: accessToken, client, rules: this.#oauth.token_response }));
		return { ...tokens, refresh_token: tokens.access_token };
	}

	/**
	 * RFC 6749 section 6, or the provider's own renewal of a long-lived token.
	 *
	 * @param {string} refreshToken
	 * @param {boolean} [isFirst] it was not sent before: where the provider takes it again for a while, half of that is left for another
	 *     request, if the answer to this one does not come
	 * @returns {Promise<Tokens>}
	 * @throws the errors of openid-client
	 */
	async refresh(refreshToken, isFirst = false) {
		const { renewal } = this.#oauth.long_lived ?? {};
		if (renewal) return this.#renewed(renewal, refreshToken);
		const limit = isFirst && this.reuse && !this.staysRefreshable ? Math.min(this.reuse / 2, ACCOUNT_REQUEST_MS) : ACCOUNT_REQUEST_MS;
		return /** @type {Tokens} */ ({ ...await withDetail(() => this.#openid.refreshTokenGrant(this.#configuration, refreshToken), { limit }) });
	}

	/** A refresh token can be used again, also if nobody knows what was answered to its use. */
	get staysRefreshable() {
		return this.#oauth.refresh_token_stays_good === true || this.#oauth.long_lived?.renewal !== undefined;
	}

	/** For how many milliseconds after its use the provider takes a refresh token again; 0: never; null: not known. */
	get reuse() {
		const within = this.#options.reuseWithin ?? this.#oauth.reuse_within;
		return within === undefined ? null : within === 'never' ? 0 : within * 1_000;
	}

	get canRevoke() {
		return Boolean(this.#configuration.serverMetadata().revocation_endpoint);
	}

	/**
	 * RFC 7009.
	 *
	 * @param {string} token
	 */
	async revoke(token) {
		if (!this.canRevoke) {
			throw new TypeError(`${this.#options.provider} has no endpoint that revokes tokens`);
		}
		await withDetail(() => this.#openid.tokenRevocation(this.#configuration, token));
	}

	/**
	 * Ends what the tokens are good for. Most providers end the access token with the refresh token (RFC 7009 section 2.1),
	 * and some then refuse it.
	 *
	 * @param {Tokens} tokens
	 * @returns {Promise<string | undefined>} why it did not succeed
	 */
	async revokeAll({ access_token: accessToken, refresh_token: refreshToken }) {
		if (!this.canRevoke) return 'no_endpoint';
		try {
			await this.revoke(refreshToken ?? accessToken);
			if (refreshToken !== undefined) await this.revoke(accessToken).catch(() => {});
			return undefined;
		} catch (error) {
			return detailOf(error);
		}
	}

	/**
	 * RFC 9207 section 2.4. The callback program has done the same if its
	 * configuration has an issuer.
	 *
	 * @param {unknown} iss
	 * @returns {import('./types.js').Refusal | undefined}
	 */
	#checkIssuer(iss) {
		if (this.#oauth.issuer === undefined) return undefined;
		const { issuer, authorization_response_iss_parameter_supported: isSent } = this.#configuration.serverMetadata();
		if (iss === undefined) {
			return isSent || this.#oauth.authorization_response_iss_parameter_supported ? 'issuer_missing' : undefined;
		}
		return iss === issuer ? undefined : 'issuer_mismatch';
	}

	/**
	 * @param {string} code
	 * @param {Accepted} outcome
	 */
	async #exchange(code, { returnUrl, codeVerifier, nonce }) {
		const callback = new URL(returnUrl);
		// The state and the issuer are checked. Nothing else that came back has a meaning.
		callback.searchParams.set('code', code);
		callback.searchParams.set('iss', this.#configuration.serverMetadata().issuer);
		const answer = await this.#openid.authorizationCodeGrant(this.#configuration, callback, {
			...codeVerifier !== undefined && { pkceCodeVerifier: codeVerifier },
			expectedState: this.#openid.skipStateCheck,
			...this.#isDiscovered && nonce !== undefined && { expectedNonce: nonce, idTokenExpected: true },
		}, this.#oauth.token_parameters);
		const claims = answer.claims();
		if (claims) assertClaims(claims, this.#options.client.id);
		return answer;
	}

	/**
	 * @param {Tokens} tokens
	 * @param {Record<string, unknown> | undefined} claims
	 * @param {Record<string, string>} returned
	 * @returns {Promise<Account | undefined>} undefined: the provider does not say it
	 * @throws if it does at other times: tokens that are stored without a name replace those of another account
	 */
	async #findAccount(tokens, claims, returned) {
		const { account } = this.#oauth;
		if (!account) return undefined;
		const document = await this.#accountDocument(account, tokens, claims, returned);
		const id = findText(document, account.id);
		const name = findText(document, account.name);
		return id === undefined ? undefined : { id, ...name !== undefined && { name } };
	}

	/**
	 * @param {import('./types.js').AccountSource} source
	 * @param {Tokens} tokens
	 * @param {Record<string, unknown> | undefined} claims
	 * @param {Record<string, string>} returned
	 * @returns {Promise<unknown>}
	 */
	async #accountDocument(source, tokens, claims, returned) {
		switch (source.from) {
		case 'return': return returned;
		case 'token_response': return tokens;
		case 'id_token': return claims;
		case 'userinfo': return claims && this.#askUserinfo(tokens, claims);
		default: return this.#askEndpoint(source, tokens);
		}
	}

	/**
	 * Whose account it is, the id token says as well.
	 *
	 * @param {Tokens} tokens
	 * @param {Record<string, unknown>} claims
	 */
	async #askUserinfo(tokens, claims) {
		if (!this.#configuration.serverMetadata().userinfo_endpoint) return claims;
		let document;
		try {
			document = await this.#openid.fetchUserInfo(this.#configuration, tokens.access_token, this.#openid.skipSubjectCheck);
		} catch (error) {
			warn(`userinfo of ${this.#options.provider} failed (${codeOf(error)})`);
			return claims;
		}
		// OpenID Connect Core section 5.3.2.
		if (document.sub !== claims.sub) throw Object.assign(new Error('userinfo is of another user'), { code: 'another_sub' });
		return document;
	}

	/**
	 * Once more if it fails.
	 *
	 * @param {import('./types.js').AccountSource} source
	 * @param {Tokens} tokens
	 * @returns {Promise<unknown>}
	 */
	async #askEndpoint(source, tokens) {
		const signal = AbortSignal.timeout(ACCOUNT_REQUEST_MS);
		for (let attempt = 1; ; attempt += 1) {
			try {
				return await this.#fetchAccount(source, tokens, signal);
			} catch (error) {
				// For most providers a scope is missing.
				const isForGood = /^status_4(?!08|25|29)/.test(codeOf(error));
				if (isForGood) return void warn(TEXTS.noIdentity(this.#options.provider, codeOf(error)));
				if (attempt === 2) throw error;
				await sleep(jittered(ACCOUNT_AGAIN_MS));
			}
		}
	}

	/**
	 * @param {import('./types.js').AccountSource} source
	 * @param {Tokens} tokens
	 * @param {AbortSignal} signal
	 * @returns {Promise<unknown>}
	 */
	async #fetchAccount({ endpoint, headers = {}, body }, tokens, signal) {
		const filled = Object.entries(headers).map(([name, value]) => [
			name, value.replaceAll('{access_token}', () => tokens.access_token).replaceAll('{client_id}', () => this.#options.client.id),
		]);
		const sendsToken = Object.values(headers).some((value) => value.includes('{access_token}'));
		const response = await fetch(String(endpoint), {
			method: body ? 'POST' : 'GET',
			headers: {
				'accept': 'application/json', 'user-agent': 'urlmode',
				...body && { 'content-type': 'application/json' },
				...!sendsToken && { authorization: `Bearer ${tokens.access_token}` },
				...Object.fromEntries(filled),
			},
			...body && { body: JSON.stringify(body) },
			redirect: 'error',
			signal,
		});
		if (!response.ok) throw Object.assign(new Error('the provider refused'), { code: `status_${response.status}` });
		const document = parse(await (await readWhole(response)).text());
		if (document === undefined) throw Object.assign(new Error('the answer is no JSON'), { code: 'no_json' });
		return document;
	}
}

/** @param {string} message */
function warn(message) {
	process.emitWarning(message, { type: 'UrlModeWarning', code: 'URLMODE_ACCOUNT' });
}

/**
 * @param {Record<string, unknown>} returned
 * @returns {Record<string, string>} those of its members that are texts
 */
function textsOf(returned) {
	return Object.fromEntries(/** @type {[string, string][]} */ (Object.entries(returned).filter(([, value]) => typeof value === 'string')));
}

/** @param {unknown} within */
function checkReuse(within = 'never') {
	const isTime = typeof within === 'number' && within > 0 && within <= REUSE_MAX_MS / 1_000;
	if (within !== 'never' && !isTime) throw new TypeError(`reuseWithin must be a number of seconds up to ${REUSE_MAX_MS / 1_000}, or 'never'`);
}

/**
 * @param {string} name of the option
 * @param {string[] | undefined} scopes
 */
export function checkScopes(name, scopes = []) {
	if (!Array.isArray(scopes) || !scopes.every((scope) => typeof scope === 'string' && /^[^\s",\\]+$/.test(scope))) {
		throw new TypeError(`${name} ${TEXTS.mustBeScopes}`);
	}
}
