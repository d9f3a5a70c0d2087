// SPDX-License-Identifier: MIT
import { createPublicKey, sign } from 'node:crypto';
import { digest, ed25519, event, ID, json, NOW, sha256, writeKeys } from './support.mjs';

// A description of the language: a JSON Web Token with the digest of the body.

/** A JSON Web Token, signed with Ed25519, whose signatures have nothing random (RFC 8032). */
function jsonWebToken(header, claims) {
	const encode = (value) => Buffer.from(json(value)).toString('base64url');
	const text = `${encode({ alg: 'EdDSA', kid: 'k1', typ: 'JWT', ...header })}.${encode(claims)}`;
	return `${text}.${sign(null, Buffer.from(text), ed25519).toString('base64url')}`;
}

export function deliveries() {
	const body = json({ event: 'paid', order: ID, amount: 1050, currency: 'EUR', payment: 'p1' });
	const claims = { iat: NOW, request_body_sha256: sha256(body) };
	const deliver = (name, verdict, { header = {}, more = {}, sent = jsonWebToken(header, { ...claims, ...more }) } = {}) => ({
		name, body, headers: sent === undefined ? {} : { 'example-verification': sent }, verdict,
		...verdict === 'good' && { events: [event('paid', 'paid', digest(body), { reference: 'p1', amount: 1050, currency: 'EUR' })] },
	});

	const { x } = createPublicKey(ed25519).export({ format: 'jwk' });
	return {
		site: { jwks_file: writeKeys('signed-token', { kty: 'OKP', crv: 'Ed25519', kid: 'k1', use: 'sig', alg: 'EdDSA', x }) },
		deliveries: [
			deliver('good', 'good'),
			deliver('of-another-body', 'forged', { more: { request_body_sha256: sha256('') } }),
			deliver('without-a-digest', 'forged', { more: { request_body_sha256: undefined } }),
			deliver('five-minutes-old', 'stale', { more: { iat: NOW - 301 } }),
			deliver('without-a-time', 'unsigned', { more: { iat: undefined } }),
			deliver('of-a-key-that-is-not-here-yet', 'keyless', { header: { kid: 'k2' } }),
			deliver('without-the-name-of-a-key', 'good', { header: { kid: undefined } }),
			deliver('of-another-type', 'forged', { header: { typ: 'at+jwt' } }),
			deliver('with-a-secret-as-key', 'forged', { header: { alg: 'HS256' } }),
			deliver('without-a-signature', 'forged', { header: { alg: 'none' } }),
			deliver('not-a-token', 'forged', { sent: 'x.y.z' }),
			{ ...deliver('none', 'unsigned'), headers: {} },
		],
	};
}
