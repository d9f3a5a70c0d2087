// Follows the ledger over HTTP. An entry is acknowledged by the call that asks for the next one.

import { POLL_GROWTH, POLL_MAX_MS, POLL_MIN_MS } from '../core/contract-limits.js';
import { UrlModeBusyError, UrlModeUnavailableError } from '../core/errors.js';
import { jittered } from '../core/jitter.js';
import { pause } from '../core/runtime.js';
import { UrlModeApiError } from './api.js';
import { toEntry } from './lists.js';

/** How long nobody else reads for the consumer after this process has died. */
const LEASE_MS = 10_000;
const RENEWALS = 3;

/**
 * @param {import('./api.js').Api} api
 * @param {string} consumer
 * @param {AbortSignal} signal ends the loop
 * @returns {AsyncGenerator<import('../core/money-types.js').LedgerEntry, void, void>}
 */
export async function* followLedger(api, consumer, signal) {
	/** The cursor that has given the entry that is being dealt with. @type {string | undefined} */
	let given;
	let interval = POLL_MIN_MS;
	while (!signal.aborted) {
		const page = await read(api, { consumer, limit: 1, lease_ms: LEASE_MS, after: given }, signal);
		const [item] = page?.items ?? [];
		if (item) {
			given = /** @type {string} */ (page?.next);
			interval = POLL_MIN_MS;
			const renewed = { consumer, limit: 1, lease_ms: LEASE_MS, after: renewing(given) };
			const renewal = setInterval(() => void read(api, renewed, signal).catch(() => {}), LEASE_MS / RENEWALS);
			try {
				yield toEntry(item);
			} finally {
				clearInterval(renewal);
			}
		} else {
			given = undefined;
			await pause(Math.min(jittered(interval), page?.left ?? Infinity), signal);
			interval = Math.min(POLL_MAX_MS, interval * POLL_GROWTH);
		}
	}
}

/**
 * The cursor of the same lease that acknowledges nothing: the call has the same entry again, and renews the lease.
 *
 * @param {string} cursor
 */
function renewing(cursor) {
	return `${cursor.split('.')[0]}.0`;
}

/**
 * @param {import('./api.js').Api} api
 * @param {import('./api.js').Members} members
 * @param {AbortSignal} signal
 * @returns {Promise<{ items?: import('./api.js').Members[], next?: string, left?: number } | undefined>} undefined: it cannot be read now
 */
async function read(api, members, signal) {
	try {
		return await api.call('ledger', members, { signal });
	} catch (error) {
		if (signal.aborted || error instanceof UrlModeUnavailableError || error instanceof UrlModeBusyError) return undefined;
		// Another instance reads.
		if (error instanceof UrlModeApiError && error.reason === 'leased') return { left: error.leftMs };
		if (error instanceof UrlModeApiError && error.reason === 'lost') return {};
		throw error;
	}
}
