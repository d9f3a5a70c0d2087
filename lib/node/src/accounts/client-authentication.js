// How this server authenticates itself at a token endpoint.

import { createPrivateKey, randomUUID, sign } from 'node:crypto';

import { ASSERTION_MS } from '../core/contract-limits.js';
import { TEXTS } from '../core/contract-texts.js';

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** JWS algorithms (RFC 7518 section 3.1), by the curve of the key. */
const CURVES = new Map([['prime256v1', ['ES256', 'sha256']], ['secp384r1', ['ES384', 'sha384']], ['secp521r1', ['ES512', 'sha512']]]);

/**
 * @typedef {import('openid-client').ClientAuth} ClientAuth
 * @typedef {import('./types.js').OAuthDescription} OAuthDescription
 * @typedef {import('./types.js').Client} Client
 */

/**
 * @param {import('./configuration.js').OpenIdClient} openid
 * @param {OAuthDescription} oauth
 * @param {Client} client
 * @returns {ClientAuth}
 * @throws {TypeError} if the client does not fit
 */
export function authenticationOf(openid, oauth, client) {
	const { token_endpoint_auth_method: method, pkce, signed_secret: signed } = oauth;
	const { secret } = client;
	if (method === 'private_key_jwt' || signed) {
		if (secret !== undefined) throw new TypeError(TEXTS.secretBesideKey);
		const key = readKey(client);
		return signed ? signedSecret(key, client, signed) : privateKeyJwt(key, client);
	}
	if (client.privateKey !== undefined) throw new TypeError(TEXTS.privateKeyNotAllowed);
	if (secret === undefined) {
		if (pkce === 'none') throw new TypeError(TEXTS.secretRequired);
		return openid.None();
	}
	if (method === 'none') throw new TypeError(TEXTS.secretNotAllowed);
	return method === 'client_secret_post' ? openid.ClientSecretPost(secret) : basicAuthentication(secret);
}

/**
 * RFC 6749 section 2.3.1: id and secret are encoded like values of a form. What
 * a form needs not encode stays as it is, because some providers do not decode.
 *
 * @param {string} secret
 * @returns {ClientAuth}
 */
function basicAuthentication(secret) {
	const encode = (/** @type {string} */ text) => new URLSearchParams([['', text]]).toString().slice(1);
	return (_server, { client_id: id }, _body, headers) => {
		headers.set('authorization', `Basic ${Buffer.from(`${encode(id)}:${encode(secret)}`).toString('base64')}`);
	};
}

/**
 * RFC 7523 section 2.2.
 *
 * @param {import('node:crypto').KeyObject} key
 * @param {Client} client
 * @returns {ClientAuth}
 */
function privateKeyJwt(key, { keyId }) {
	return (server, { client_id: id }, body) => {
		body.set('client_id', id);
		body.set('client_assertion_type', ASSERTION_TYPE);
		body.set('client_assertion', signToken(key, keyId, { iss: id, sub: id, aud: server.token_endpoint ?? server.issuer, jti: randomUUID() }));
	};
}

/**
 * A client secret that is signed for each request, as Apple wants it.
 *
 * @param {import('node:crypto').KeyObject} key
 * @param {Client} client
 * @param {{ issuer: string, audience: string }} signed
 * @returns {ClientAuth}
 */
function signedSecret(key, { keyId }, { issuer, audience }) {
	return (_server, { client_id: id }, body) => {
		body.set('client_id', id);
		body.set('client_secret', signToken(key, keyId, { iss: issuer, sub: id, aud: audience }));
	};
}

/** @param {Client} client */
function readKey({ privateKey, keyId }) {
	if (keyId !== undefined && (typeof keyId !== 'string' || keyId === '')) throw new TypeError('client.keyId must be a non-empty string, or left out');
	try {
		const key = createPrivateKey(/** @type {string} */ (privateKey));
		algorithmOf(key);
		return key;
	} catch {
		// The error of node:crypto may quote the key.
		throw new TypeError(TEXTS.privateKeyForm);
	}
}

/**
 * @param {import('node:crypto').KeyObject} key
 * @returns {string[]} the name of JWS, and the digest
 */
function algorithmOf({ asymmetricKeyType: type, asymmetricKeyDetails: details }) {
	const found = type === 'rsa' ? ['RS256', 'sha256'] : CURVES.get(details?.namedCurve ?? '');
	if (!found) throw new TypeError('unknown algorithm');
	return found;
}

/**
 * @param {import('node:crypto').KeyObject} key
 * @param {string | undefined} kid
 * @param {object} claims
 * @returns {string} a JSON Web Token (RFC 7519)
 */
function signToken(key, kid, claims) {
	const [alg, digest] = algorithmOf(key);
	const now = Math.floor(Date.now() / 1_000);
	const encode = (/** @type {object} */ part) => Buffer.from(JSON.stringify(part)).toString('base64url');
	const input = `${encode({ alg, typ: 'JWT', ...kid !== undefined && { kid } })}.${encode({ ...claims, iat: now, exp: now + (ASSERTION_MS / 1_000) })}`;
	return `${input}.${sign(digest, Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
}
