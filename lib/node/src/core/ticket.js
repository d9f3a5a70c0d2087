// The session ticket: a cookie by which an MCP server with web sessions tells
// callback programs on the same host who the user is. Their configuration must
// contain `"user_check": "session-ticket"`. lib/crypto/ticket.h reads it.
//
//   bytes      01 || kid || nonce(12) || ciphertext || tag(16)
//   plaintext  expires(8, big-endian Unix seconds) || subject
//   key        HKDF-SHA256(secret of kid, no salt, "urlmode ticket v1")
//   AAD        01 || kid || "ticket"
//   text       base64url without padding
//
// Because of the prefix of its name, other hosts of the site cannot set this cookie (RFC 6265bis section 4.1.3.2).

import { TICKET_COOKIE, TICKET_INFO } from './contract-seals.js';
import { TEXTS } from './contract-texts.js';
import { mint } from './envelope.js';

const CONTEXT = Buffer.from('ticket');

/**
 * @param {import('./keys.js').KeyRing} keys
 * @param {string} subject 1 to 512 bytes
 * @param {number} expires Unix seconds
 * @param {Uint8Array} [nonce] random by default
 * @returns {string} the value of the cookie
 */
export function mintTicket(keys, subject, expires, nonce) {
	return mint(keys, TICKET_INFO, CONTEXT, { expires, after: [Buffer.from(subject)] }, nonce);
}

/**
 * @param {import('./keys.js').KeyRing} keys
 * @param {string} subject
 * @param {number} ttl milliseconds
 * @returns {import('./types.js').Ticket}
 */
export function ticketCookie(keys, subject, ttl) {
	const seconds = Math.ceil(ttl / 1_000);
	const value = mintTicket(keys, subject, Math.floor(Date.now() / 1_000) + seconds);
	return {
		name: TICKET_COOKIE,
		value,
		header: TEXTS.ticketCookie(TICKET_COOKIE, value, seconds),
	};
}
