// Turns the answer of a token endpoint into what RFC 6749 section 5 says, so
// that openid-client can read and check it.

import { findIn } from './pointer.js';

/**
 * @typedef {object} Rules
 * @property {string} [member] where the tokens are, as a JSON pointer
 * @property {'bearer'} [token_type] what the token is, whatever the answer says
 */

/**
 * @param {Response} response
 * @param {Rules} rules
 * @param {boolean} verifiesIdToken if not, an id token is left out
 * @returns {Promise<Response>}
 */
export async function toTokenResponse(response, rules, verifiesIdToken) {
	const text = await response.text();
	const answer = response.headers.get('content-type')?.startsWith('application/x-www-form-urlencoded')
		? Object.fromEntries(new URLSearchParams(text)) : parse(text);
	const isAnswer = typeof answer === 'object' && answer !== null && !Array.isArray(answer);
	const tokens = isAnswer ? toTokens(answer, rules, verifiesIdToken) : {};
	// Some answer 200 to what they refuse.
	const isRefusal = tokens.access_token === undefined && typeof tokens.error === 'string';
	const status = !response.ok ? response.status : isRefusal ? 400 : 200;
	return Response.json(tokens, { status });
}

/**
 * @param {object} answer
 * @param {Rules} rules
 * @param {boolean} verifiesIdToken
 * @returns {Record<string, unknown>}
 */
function toTokens(answer, { member, token_type: type }, verifiesIdToken) {
	const inner = member === undefined ? undefined : findIn(answer, member);
	const all = { ...answer, ...typeof inner === 'object' && inner };
	/** @type {Record<string, unknown>} */
	const tokens = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
	if (Array.isArray(tokens.scope)) tokens.scope = tokens.scope.join(' ');
	if (type !== undefined) tokens.token_type = type;
	if (!verifiesIdToken) delete tokens.id_token;
	return tokens;
}

/** @param {string} text */
function parse(text) {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}
