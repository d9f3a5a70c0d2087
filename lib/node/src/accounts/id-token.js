// SPDX-License-Identifier: MIT
// What openid-client takes and the other languages refuse (OpenID Connect Core sections 2 and 3.1.3.7).

/**
 * @param {Record<string, unknown>} claims of an id token that openid-client has verified
 * @param {string} clientId
 * @throws with the code `invalid_id_token`: it is of nobody, or for another client alone
 */
export function assertClaims({ sub, azp }, clientId) {
	if (sub === '' || (azp ?? clientId) !== clientId) {
		throw Object.assign(new Error('the id token is of nobody, or for another client'), { code: 'invalid_id_token' });
	}
}
