// SPDX-License-Identifier: MIT
// Providers that sign with a JSON Web Token, or whose deliveries are known by the address to which they are sent.
import { createPublicKey, sign } from 'node:crypto';

import { ed25519, event, ID, json, NOW, sha256, write, writeKeys } from './support.mjs';

const digest = (body) => `sha256:${sha256(body)}`;

/** A JSON Web Token, signed with Ed25519, whose signatures have nothing random (RFC 8032). */
function jsonWebToken(header, claims) {
	const encode = (value) => Buffer.from(json(value)).toString('base64url');
	const text = `${encode({ alg: 'EdDSA', kid: 'k1', typ: 'JWT', ...header })}.${encode(claims)}`;
	return `${text}.${sign(null, Buffer.from(text), ed25519).toString('base64url')}`;
}

/** A description of the language: a JSON Web Token with the digest of the body. */
export function signedToken() {
	const body = json({ event: 'paid', order: ID, amount: 1050, currency: 'EUR', payment: 'p1' });
	const claims = { iat: NOW, request_body_sha256: sha256(body) };
	const deliver = (name, verdict, { header = {}, more = {}, sent = jsonWebToken(header, { ...claims, ...more }) } = {}) => ({
		name, body, headers: sent === undefined ? {} : { 'example-verification': sent }, verdict,
		...verdict === 'good' && { events: [event('paid', 'paid', digest(body), { reference: 'p1', amount: 1050, currency: 'EUR' })] },
	});

	const { x } = createPublicKey(ed25519).export({ format: 'jwk' });
	write('signed-token', {
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
	});
}

/** It signs with keys that the programs cannot have: a delivery proves nothing. */
export function plaid() {
	const deliver = (name, webhook_code, status, effect, headers = {}) => {
		const body = json({ environment: 'sandbox', link_session_id: 's1', link_token: 'link-sandbox-1', public_tokens: ['public-sandbox-1'], status, webhook_code, webhook_type: 'LINK' });
		return { name, body, headers, verdict: 'good', events: [event(effect, `LINK.${webhook_code}`, digest(body), { reference: 's1', id: null })] };
	};

	write('plaid', {
		site: {},
		deliveries: [
			deliver('finished', 'SESSION_FINISHED', 'SUCCESS', 'recheck'),
			deliver('exited', 'SESSION_FINISHED', 'EXITED', 'recheck'),
			deliver('events', 'EVENTS', undefined, 'ignore'),
			deliver('with a token that nobody verifies', 'SESSION_FINISHED', 'SUCCESS', 'recheck', { 'plaid-verification': 'x.y.z' }),
		],
	});
}

export function truelayer() {
	const deliver = (name, type, effect, more = {}) => {
		const body = json({ type, event_version: 1, event_id: 'e1', payment_id: 'p1', metadata: { elicitation_id: ID }, ...more });
		const own = more.metadata ? { id: null } : {};
		return { name, query: 'token=in-the-address', headers: {}, body, verdict: 'good', events: [event(effect, type, digest(body), { reference: 'p1', ...own })] };
	};
	const settled = deliver('settled', 'payment_settled', 'recheck');

	write('truelayer', {
		site: { secrets: ['in-the-address'] },
		deliveries: [
			settled,
			deliver('executed', 'payment_executed', 'recheck'),
			deliver('creditable', 'payment_creditable', 'recheck'),
			deliver('failed', 'payment_failed', 'recheck', { failure_reason: 'authorization_failed' }),
			deliver('of another system', 'payment_settled', 'recheck', { metadata: { order: '7' } }),
			deliver('authorized', 'payment_authorized', 'ignore'),
			{ ...settled, name: 'another secret', query: 'token=in-another-address', verdict: 'forged', events: undefined },
			{ ...settled, name: 'no secret', query: '', verdict: 'unsigned', events: undefined },
		],
	});
}

export function twilio() {
	const deliver = (name, fields, effect, type, reference) => {
		const body = new URLSearchParams({ AccountSid: 'AC1', ...fields }).toString();
		return {
			name, body, headers: {}, content_type: 'application/x-www-form-urlencoded', verdict: 'good',
			events: [event(effect, type, digest(body), { reference, id: null })],
		};
	};

	write('twilio', {
		site: {},
		deliveries: [
			deliver('call', { CallSid: 'CA1', CallStatus: 'completed' }, 'recheck', 'completed', 'CA1'),
			deliver('call that rings', { CallSid: 'CA1', CallStatus: 'ringing' }, 'ignore', 'ringing', 'CA1'),
			deliver('message', { MessageSid: 'SM1', MessageStatus: 'delivered' }, 'recheck', 'delivered', 'SM1'),
			...['failed', 'busy', 'no-answer', 'canceled'].map((status) => deliver(`call ${status}`, { CallSid: 'CA1', CallStatus: status }, 'recheck', status, 'CA1')),
			...['read', 'failed', 'undelivered'].map((status) => deliver(`message ${status}`, { MessageSid: 'SM1', MessageStatus: status }, 'recheck', status, 'SM1')),
			deliver('message that is sent', { MessageSid: 'SM1', MessageStatus: 'sent' }, 'ignore', 'sent', 'SM1'),
		],
	});
}
