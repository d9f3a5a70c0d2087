// Some providers give a refresh token at the first consent only, which can be used again and again. Where the
// answer to a later one has none, the account keeps the one that it has.

import { AccountSealError } from '../core/errors.js';
import { openTokens } from './sealed-tokens.js';

/**
 * @param {import('./database.js').VaultDatabase} database
 * @param {import('../core/keys.js').KeyRing} keys
 * @param {import('./sealed-tokens.js').Place} place
 * @param {string[]} scopes of the new access token: a refresh token for fewer could not replace it
 * @returns {Promise<{ version: string, refreshToken: string } | undefined>} undefined: there is none that is worth keeping
 */
export async function readKept(database, keys, place, scopes) {
	const [row] = await database.read(place.subject, place.provider, place.account);
	if (row?.state !== 'connected' || !scopes.every((scope) => row.scopes.includes(scope))) return undefined;
	try {
		const { access_token: accessToken, refresh_token: refreshToken } = openTokens(keys, place, row.tokens);
		// A long-lived token is renewed with itself.
		if (refreshToken === undefined || refreshToken === accessToken) return undefined;
		return { version: row.version, refreshToken };
	} catch (error) {
		if (error instanceof AccountSealError) return undefined;
		throw error;
	}
}
