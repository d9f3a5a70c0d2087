// This server as a client of a provider, in the form that openid-client wants.

import { createHash } from 'node:crypto';

import { ProviderUnavailableError } from '../errors.js';
import { isLoopback } from '../url.js';
import { toTokenResponse } from './token-response.js';

/** How long metadata that were discovered are used, and for how many clients. */
const DISCOVERED_MS = 60 * 60 * 1_000;
const DISCOVERED_MAX = 256;
/** The lease of a refresh (vault/refresher.js) is longer. */
const REQUEST_TIMEOUT_S = 30;
/** What fetch says when it could not connect: nothing was sent. */
const NOT_CONNECTED = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT']);

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
		throw new Error('withAccount requires the package openid-client, version 6: npm install openid-client');
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
	const key = createHash('sha256').update(JSON.stringify([oauth, client.id, client.secret])).digest('base64url');
	const known = discovered.get(key);
	if (known && performance.now() - known.at < DISCOVERED_MS) return known.configuration;
	discovered.delete(key);
	for (const oldest of discovered.keys()) {
		if (discovered.size < DISCOVERED_MAX) break;
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
function readAnswers(openid, configuration, { token_response: rules = {} }, verifiesIdToken) {
	const { token_endpoint: address } = configuration.serverMetadata();
	const endpoint = address && new URL(address).href;
	configuration.timeout = REQUEST_TIMEOUT_S;
	// OpenID Connect Core section 3.1.3.7 allows to do without it where the token came over TLS.
	if (verifiesIdToken) openid.enableNonRepudiationChecks(configuration);
	configuration[openid.customFetch] = async (url, options) => {
		const response = await fetchOnce(url, /** @type {RequestInit} */ (options));
		return url === endpoint ? toTokenResponse(response, rules, verifiesIdToken) : response;
	};
	return configuration;
}

/**
 * A code and a refresh token that rotates are used up by the first request that arrives: another attempt is only made
 * where the first could not connect.
 *
 * @param {string} url
 * @param {RequestInit} options
 */
async function fetchOnce(url, options) {
	try {
		return await fetch(url, options);
	} catch (error) {
		const { cause } = /** @type {{ cause?: { code?: string } }} */ (error);
		if (!NOT_CONNECTED.has(cause?.code ?? '')) throw error;
		return fetch(url, options);
	}
}

/**
 * @param {OpenIdClient} openid
 * @param {OAuthDescription} oauth
 * @param {Client} client
 * @returns {import('openid-client').ClientAuth}
 */
function authenticationOf(openid, { token_endpoint_auth_method: method, pkce }, { secret }) {
	if (secret === undefined) {
		if (pkce === 'none') throw new TypeError('client.secret is required: this provider has no PKCE');
		return openid.None();
	}
	if (method === 'none') throw new TypeError('client.secret must not be given: clients of this provider have none');
	return method === 'client_secret_post' ? openid.ClientSecretPost(secret) : basicAuthentication(secret);
}

/**
 * RFC 6749 section 2.3.1: id and secret are encoded like values of a form. What
 * a form needs not encode stays as it is, because some providers do not decode.
 *
 * @param {string} secret
 * @returns {import('openid-client').ClientAuth}
 */
function basicAuthentication(secret) {
	const encode = (/** @type {string} */ text) => new URLSearchParams([['', text]]).toString().slice(1);
	return (_server, { client_id: id }, _body, headers) => {
		headers.set('authorization', `Basic ${Buffer.from(`${encode(id)}:${encode(secret)}`).toString('base64')}`);
	};
}

/**
 * What an error may say aloud: the provider's code of an error (RFC 6749 section
 * 5.2), or one of the system or of openid-client. Its message and its cause may
 * hold the provider's answer.
 *
 * @param {unknown} error
 * @returns {string}
 */
export function codeOf(error) {
	const { error: refusal, code, cause } = /** @type {{ error?: unknown, code?: unknown, cause?: unknown }} */ (error ?? {});
	// Whatever has a digit may be a code or a token.
	if (typeof refusal === 'string' && /^[A-Za-z_-]{1,64}$/.test(refusal)) return refusal;
	const systemCode = cause instanceof Error && 'code' in cause ? cause.code : undefined;
	return String(systemCode ?? code ?? 'unknown');
}
