// What a user may use because of a subscription, as the application sees it.

import { checkText } from './arguments.js';
import { ITEM_MAX, SUBJECT_MAX } from './contract-limits.js';

/** @typedef {import('./contract-money.js').EntitlementRow} EntitlementRow */

/**
 * @param {{ subject: string, item?: string | undefined }} options
 * @returns {{ subject: string, item: string | null }}
 */
export function checkEntitlementOptions({ subject, item }) {
	return { subject: checkText('subject', subject, 1, SUBJECT_MAX), item: item === undefined ? null : checkText('item', item, 1, ITEM_MAX) };
}

/**
 * Whether the user may be asked for a new subscription: the best one has ended, and cannot be resumed.
 *
 * @param {Pick<EntitlementRow, 'entitled' | 'paused' | 'status'>} best
 */
export function isOver({ entitled, paused, status }) {
	return !entitled && !paused && status !== 'past_due';
}

/**
 * @param {EntitlementRow} row
 * @returns {import('./money-types.js').Entitlement}
 */
export function toEntitlement(row) {
	return {
		item: row.item_name, status: row.status, entitled: row.entitled, paused: row.paused, until: row.until ?? undefined,
		provider: row.provider, account: row.account || undefined, subscription: row.subscription ?? undefined,
		elicitationId: row.elicitation, openedAt: row.opened_at,
	};
}
