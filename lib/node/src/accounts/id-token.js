// SPDX-License-Identifier: MIT
// What openid-client takes and the other languages refuse (OpenID Connect Core sections 2 and 3.1.3.7).

import { CLOCK_SKEW_MS } from '../core/contract-limits.js';

/**
 * @param {Record<string, unknown>} claims of an id token that openid-client has verified
 * @param {string} clientId
 * @throws with the code `invalid_id_token`: it is of nobody, for another client alone, or of the future
 */
export function assertClaims({ sub, iat, azp }, clientId) {
	const isOfNow = 1_000 * Number(iat) < Date.now() + CLOCK_SKEW_MS;
	if (sub === '' || (azp ?? clientId) !== clientId || !isOfNow) {
		throw Object.assign(new Error('the id token is not for this client, now'), { code: 'invalid_id_token' });
	}
}
