// Whether a call uses the stored token, and when it is refreshed (lib/PROTOCOL.md, "The vault").

import { REFUSED_NEW_MS, VALID_FOR_MS, VALID_LEAST_MS } from '../core/contract-limits.js';

/**
 * @typedef {object} Judgement
 * @property {'use' | 'use and refresh' | 'refresh' | 'refused' | 'expired'} verdict `use and refresh`: in the background. The last two: only the
 *     user can help
 * @property {boolean} isGood it has not expired, and it is not the one that was refused
 */

/**
 * @param {import('./database.js').AccountRow} row
 * @param {import('../accounts/types.js').Tokens} tokens of the row
 * @param {{ validFor: number | undefined, refused: string | undefined, hasChanged: boolean }} asked hasChanged: since the call has read the row first
 * @returns {Judgement}
 */
export function judge(row, { access_token: accessToken, refresh_token: refreshToken }, { validFor, refused, hasChanged }) {
	const left = row.expires_in_ms === null ? Infinity : Number(row.expires_in_ms);
	const half = Number(row.lifetime_ms ?? 0) / 2;
	// A long-lived token is renewed with itself, while it is valid.
	const isItsOwn = refreshToken === accessToken;
	const isRefreshable = refreshToken !== undefined && !(isItsOwn && left <= 0);
	if (accessToken === refused) {
		const isNew = hasChanged || row.since_refresh_ms !== null && Number(row.since_refresh_ms) < REFUSED_NEW_MS;
		return { verdict: isRefreshable && !isNew ? 'refresh' : 'refused', isGood: false };
	}
	const isGood = left > 0;
	// One refresh is enough, however short a time the provider makes its tokens valid.
	if (hasChanged) return { verdict: 'use', isGood };
	if (isGood && left >= Math.min(validFor ?? VALID_LEAST_MS, half)) {
		const isNearEnd = left < Math.min(isItsOwn ? Infinity : VALID_FOR_MS, half);
		return { verdict: isRefreshable && isNearEnd ? 'use and refresh' : 'use', isGood };
	}
	if (!isRefreshable) return { verdict: isGood ? 'use' : 'expired', isGood };
	return { verdict: 'refresh', isGood };
}
