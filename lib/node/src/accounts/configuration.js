// This server as a client of a provider, in the form that openid-client wants.

import { createHash } from 'node:crypto';

import { METADATA_MAX, METADATA_MS } from '../core/contract-limits.js';
import { ProviderUnavailableError } from '../core/errors.js';
import { isLoopback } from '../core/url.js';
import { readWhole } from './bounded-answer.js';
import { authenticationOf } from './client-authentication.js';
import { codeOf, limitedTo, limitOfRequest } from './request.js';
import { fetchOnce, toTokenRequest } from './token-request.js';
import { parse, toTokenResponse } from './token-response.js';

/**
 * @typedef {typeof import('openid-client')} OpenIdClient
 * @typedef {import('openid-client').Configuration} Configuration
 * @typedef {import('./types.js').OAuthDescription} OAuthDescription
 * @typedef {import('./types.js').Client} Client
 */

/** @type {Map<string, { at: number, configuration: Promise<Configuration> }>} the oldest first */
const discovered = new Map();

/**
 * openid-client is only needed by servers that connect accounts.
 *
 * @returns {Promise<OpenIdClient>}
 */
export async function importOpenIdClient() {
	try {
		return await import('openid-client');
	} catch (error) {
		if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ERR_MODULE_NOT_FOUND') throw error;
		throw new Error('accounts require the package openid-client, version 6: npm install openid-client@6');
	}
}

/**
 * @param {OpenIdClient} openid
 * @param {string} provider its name, for errors
 * @param {OAuthDescription} oauth with its variables filled in
 * @param {Client} client
 * @returns {Promise<Configuration>}
 * @throws {TypeError} if the client does not fit
 * @throws {ProviderUnavailableError}
 */
export async function configurationOf(openid, provider, oauth, client) {
	const authentication = authenticationOf(openid, oauth, client);
	const { issuer, token_endpoint: tokenEndpoint } = oauth;
	if (tokenEndpoint !== undefined) {
		const configuration = new openid.Configuration(/** @type {import('openid-client').ServerMetadata} */ ({
			issuer: issuer ?? new URL(tokenEndpoint).origin,
			authorization_endpoint: oauth.authorization_endpoint,
			token_endpoint: tokenEndpoint,
			revocation_endpoint: oauth.revocation_endpoint,
			authorization_response_iss_parameter_supported: oauth.authorization_response_iss_parameter_supported,
		}), client.id, undefined, authentication);
		if (isLoopback(new URL(tokenEndpoint))) openid.allowInsecureRequests(configuration);
		return readAnswers(openid, configuration, oauth, false);
	}
	return discover(openid, provider, oauth, client, authentication);
}

/**
 * @param {OpenIdClient} openid
 * @param {string} provider
 * @param {OAuthDescription} oauth
 * @param {Client} client
 * @param {import('openid-client').ClientAuth} authentication
 */
async function discover(openid, provider, oauth, client, authentication) {
	const issuer = new URL(String(oauth.issuer));
	const key = createHash('sha256').update(JSON.stringify([oauth, client])).digest('base64url');
	const known = discovered.get(key);
	if (known && performance.now() - known.at < METADATA_MS) return known.configuration;
	discovered.delete(key);
	for (const oldest of discovered.keys()) {
		if (discovered.size < METADATA_MAX) break;
		discovered.delete(oldest);
	}
	const configuration = openid.discovery(issuer, client.id, undefined, authentication, {
		execute: isLoopback(issuer) ? [openid.allowInsecureRequests] : [],
	}).then((found) => readAnswers(openid, found, oauth, true), (error) => {
		discovered.delete(key);
		throw new ProviderUnavailableError(provider, codeOf(error));
	});
	discovered.set(key, { at: performance.now(), configuration });
	return configuration;
}

/**
 * @param {OpenIdClient} openid
 * @param {Configuration} configuration
 * @param {OAuthDescription} oauth
 * @param {boolean} verifiesIdToken
 */
function readAnswers(openid, configuration, oauth, verifiesIdToken) {
	const { token_endpoint: token, revocation_endpoint: revocation, userinfo_endpoint: userinfo } = configuration.serverMetadata();
	const [tokenUrl, revocationUrl, userinfoUrl] = [token, revocation, userinfo].map((address) => address && new URL(address).href);
	configuration.timeout = undefined; // each request has `limitedTo`
	// OpenID Connect Core section 3.1.3.7 allows to do without it where the token came over TLS.
	if (verifiesIdToken) openid.enableNonRepudiationChecks(configuration);
	configuration[openid.customFetch] = async (url, options) => {
		const isToken = url === tokenUrl;
		const request = { .../** @type {RequestInit} */ (options), signal: limitedTo(limitOfRequest()) };
		const isRefresh = isToken && new URLSearchParams(/** @type {URLSearchParams} */ (request.body)).get('grant_type') === 'refresh_token';
		const address = isRefresh ? oauth.refresh_endpoint ?? url : url;
		const response = await readWhole(await fetchOnce(address, isToken || url === revocationUrl ? toTokenRequest(request, oauth) : request));
		if (url === userinfoUrl && response.headers.get('content-type')?.startsWith('application/json')) return withTexts(response);
		// Who the account is was proven when it was connected. A refresh that fails for its id token would lose the others.
		return isToken ? toTokenResponse(response, oauth.token_response, verifiesIdToken && !isRefresh) : response;
	};
	return configuration;
}

/**
 * The same JSON, with whole numbers that JavaScript cannot hold as texts: they are identifiers.
 *
 * @param {Response} response
 * @returns {Promise<Response>}
 */
async function withTexts(response) {
	const text = await response.text();
	const content = parse(text);
	return new Response(content === undefined ? text : JSON.stringify(content), { status: response.status, headers: response.headers });
}
