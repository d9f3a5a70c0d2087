// What the api lists, page after page, as the application sees it.

/**
 * @typedef {import('./api.js').Members} Members
 */

/**
 * All items of a list.
 *
 * @param {import('./api.js').Api} api
 * @param {string} method
 * @param {Members} filter
 * @returns {Promise<Members[]>}
 */
export async function listAll(api, method, filter) {
	/** @type {Members[]} */
	const all = [];
	for (let after; ;) {
		const { items, next } = await api.call(method, { ...filter, after });
		all.push(...items);
		if (next === null) return all;
		after = next;
	}
}

/**
 * @param {Members} item
 * @returns {import('../core/money-types.js').UnclaimedPayment}
 */
export function toUnclaimedPayment(item) {
	const { id, provider, subject, session, reference, amount, currency, matches, late, refunded, held, result } = item;
	return {
		elicitationId: id, provider, subject, session, item: item.item ?? undefined, resumeKey: item.resume_key ?? undefined,
		reference, amount, currency, matches, late, provenAt: new Date(item.proven_at), refunded, held, result: result ?? undefined,
	};
}

/**
 * @param {Members} item
 * @returns {import('../core/money-types.js').Refund}
 */
export function toRefund(item) {
	const { id, provider, reference, payment, paid, refunded, held, claimed } = item;
	return {
		elicitationId: id, provider, subject: item.subject ?? undefined, session: item.session ?? undefined,
		item: item.item ?? undefined, resumeKey: item.resume_key ?? undefined, reference, amount: item.amount ?? undefined, currency: item.currency ?? undefined,
		reversed: item.reversed ?? undefined, receivedAt: new Date(item.received_at), changedAt: new Date(item.changed_at),
		payment: payment === null ? undefined : { reference: payment, amount: paid, refunded, held: held === true, claimed },
	};
}

/**
 * @param {Members} item
 * @returns {import('../core/money-types.js').Entitlement}
 */
export function toEntitlement(item) {
	const { status, entitled, paused, until, provider, account, subscription, id } = item;
	return {
		item: item.item, status, entitled, paused, until: until === null ? undefined : new Date(until), provider,
		account: account || undefined, subscription: subscription ?? undefined, elicitationId: id ?? undefined, openedAt: new Date(item.opened_at),
	};
}

/**
 * @param {Members} item
 * @returns {import('../core/money-types.js').LedgerEntry}
 */
export function toEntry({ id, number, type, kind, provider, ...rest }) {
	const { subject, item, payment, checkout, reference, amount, currency, refunded, status } = Object.fromEntries(
		Object.entries(rest).map(([name, value]) => [name, value ?? undefined]));
	const dateOf = (/** @type {string | null} */ time) => (time === null ? undefined : new Date(time));
	return {
		number, enteredAt: new Date(rest.entered_at), type, kind, provider, elicitationId: id ?? undefined, subject, item, payment, checkout,
		reference, amount, currency, refunded, status, occurredAt: dateOf(rest.occurred_at), evidenceDueAt: dateOf(rest.evidence_due_at),
	};
}
