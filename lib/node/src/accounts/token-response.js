// Turns the answer of a token endpoint into what RFC 6749 section 5 says, so
// that openid-client can read and check it.

import { TOKEN_LIFETIME_MAX_S } from '../core/contract-limits.js';
import { findIn } from './pointer.js';
import { noteAnswer, noteTokens } from './request.js';

/**
 * No token has a control character (RFC 6749 appendix A.12), and what stands for bytes that are no UTF-8 was not in it: a line end could
 * begin another header where the token is used.
 */
const UNUSABLE = /[\u0000-\u001f\u007f\ufffd]/;

/** The member of stored tokens that holds the variables of their description: only this package writes it. */
export const VARIABLES = 'urlmode_variables';


/**
 * @typedef {object} Rules
 * @property {string} [member] where the tokens are, as a JSON pointer
 * @property {'bearer'} [token_type] what the token is, whatever the answer says
 * @property {string[]} [invalid_grant] the provider's codes for a code or refresh token that is not good any more
 */

/**
 * @param {Response} response
 * @param {Rules} [rules]
 * @param {boolean} [verifiesIdToken] if not, an id token is left out
 * @returns {Promise<Response>}
 */
export async function toTokenResponse(response, rules = {}, verifiesIdToken = false) {
	const text = await response.text();
	const isForm = response.headers.get('content-type')?.toLowerCase().startsWith('application/x-www-form-urlencoded');
	const answer = isForm ? Object.fromEntries([...new URLSearchParams(text)].filter(([, value]) => value !== '')) : parse(text);
	noteAnswer(response, answer);
	const isAnswer = typeof answer === 'object' && answer !== null && !Array.isArray(answer);
	const read = isAnswer ? toTokens(answer, rules, verifiesIdToken, Date.parse(response.headers.get('date') ?? '') || Date.now()) : {};
	const tokens = isUsable(read) ? read : {};
	// Some answer 200 to what they refuse.
	const isRefusal = tokens.access_token === undefined && typeof tokens.error === 'string';
	const status = !response.ok ? response.status : isRefusal ? 400 : 200;
	if (response.ok && typeof tokens.access_token === 'string') noteTokens(/** @type {never} */ (tokens));
	return Response.json(tokens, { status });
}

/**
 * @param {Record<string, unknown>} tokens
 * @returns {boolean} also if there are none
 */
function isUsable({ token_type: type, ...tokens }) {
	return tokens.access_token === undefined || unusableOf(tokens) === undefined && /^bearer$/i.test(String(type ?? 'bearer'));
}

/**
 * @param {Record<string, unknown>} tokens
 * @returns {string | undefined} the member with a token that cannot be used
 */
export function unusableOf(tokens) {
	return ['access_token', 'refresh_token'].find((name) => UNUSABLE.test(String(tokens[name] ?? '')));
}

/**
 * @param {object} answer
 * @param {Rules} rules
 * @param {boolean} verifiesIdToken
 * @param {number} now by the provider's clock, if it says it
 * @returns {Record<string, unknown>}
 */
function toTokens(answer, { member, token_type: type, invalid_grant: refusals = [] }, verifiesIdToken, now) {
	const inner = member === undefined ? undefined : findIn(answer, member);
	const isWithin = typeof inner === 'object' && inner !== null;
	// An answer with tokens at both places keeps both.
	const all = { ...answer, ...isWithin && inner, ...isWithin && 'access_token' in answer && answer.access_token !== null && 'access_token' in inner && { outer: answer } };
	/** @type {Record<string, unknown>} */
	const tokens = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
	if (Array.isArray(tokens.scope)) tokens.scope = tokens.scope.filter((scope) => typeof scope === 'string').join(' ');
	// Square says when the token expires, and not in how many seconds.
	const left = tokens.expires_in === undefined ? (Date.parse(String(tokens.expires_at)) - now) / 1_000 : NaN;
	if (left > 0) tokens.expires_in = Math.floor(left);
	// Tokens that came with something that is no time are good, and may have replaced others.
	if (isTime(tokens.expires_in)) tokens.expires_in = Number(tokens.expires_in);
	else delete tokens.expires_in;
	if (type !== undefined) tokens.token_type = type;
	if (refusals.includes(String(tokens.error))) tokens.error = 'invalid_grant';
	if (!verifiesIdToken) delete tokens.id_token;
	delete tokens[VARIABLES];
	return tokens;
}

/**
 * Whether this is how long a token is valid.
 *
 * @param {unknown} seconds some write the number as text
 */
export function isTime(seconds) {
	const isNumber = typeof seconds === 'number' || typeof seconds === 'string' && /^ *\d+(\.\d+)? *$/.test(seconds);
	return isNumber && Number(seconds) >= 0 && Number(seconds) <= TOKEN_LIFETIME_MAX_S;
}

/**
 * @param {string} _
 * @param {unknown} value
 */
function wellFormed(_, value) {
	return typeof value === 'string' ? value.toWellFormed() : value;
}

/**
 * @param {string} text
 * @returns {unknown} undefined if it is no JSON. A whole number that JavaScript cannot hold is a text: it is an identifier. Half of a
 *     surrogate pair is replaced, as in other languages
 */
export function parse(text) {
	try {
		const content = JSON.parse(text, /\\ud[89a-f]/i.test(text) ? wellFormed : undefined);
		if (!/\d{16}/.test(text)) return content;
		return JSON.parse(text.replace(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, (part) => (
			/^-?\d+$/.test(part) && !Number.isSafeInteger(Number(part)) ? `"${part}"` : part)));
	} catch {
		return undefined;
	}
}
