// Generated from lib/contract by `make contract`: change it there.
// The functions of the schema urlmode that an MCP server may call.

/** @typedef {import('./contract-calls.js').Query} Query */

/**
 * @typedef {object} UnclaimedRow
 * @property {string} elicitation
 * @property {string} provider_name
 * @property {string} reference
 * @property {string} amount
 * @property {string} currency
 * @property {boolean} matches
 * @property {boolean} late
 * @property {Date} proven_at
 * @property {string} refunded
 * @property {boolean} held
 * @property {string} subject
 * @property {string} session
 * @property {Buffer} binding
 * @property {string | null} resume_key
 * @property {Buffer | null} result sealed
 * @property {string | null} item what the payment is for
 */

const UNCLAIMED_OF = `SELECT elicitation, provider_name, reference, amount, currency, matches, late, proven_at, refunded, held, subject,
	session, binding, resume_key, result, item FROM urlmode.unclaimed_of($1, $2, $3, $4)`;

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.tenant
 * @param {string | null} values.provider
 * @param {Date | null} values.since
 * @param {string | null} values.id
 * @returns {Promise<UnclaimedRow[]>}
 */
export function unclaimedOf(query, { tenant, provider, since, id }) {
	return /** @type {Promise<never>} */ (query(UNCLAIMED_OF, [tenant, provider, since, id], true));
}

/**
 * @typedef {object} UndeliveredRow
 * @property {string} elicitation
 * @property {string} provider_name
 * @property {import('./types.js').Kind} kind
 * @property {string | null} reference
 * @property {string | null} amount
 * @property {string | null} currency
 * @property {Date} fulfilled_at
 * @property {Date | null} given_at
 * @property {boolean} has_result whether its result is still kept
 * @property {string} refunded
 * @property {boolean} held
 * @property {string} subject
 * @property {string} session
 * @property {string | null} resume_key
 * @property {string | null} item what the payment or signature is for
 */

const UNDELIVERED_OF = `SELECT elicitation, provider_name, kind, reference, amount, currency, fulfilled_at, given_at, has_result, refunded,
	held, subject, session, resume_key, item FROM urlmode.undelivered_of($1, $2, $3, $4)`;

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.tenant
 * @param {string | null} values.provider
 * @param {Date | null} values.since
 * @param {string | null} values.id
 * @returns {Promise<UndeliveredRow[]>}
 */
export function undeliveredOf(query, { tenant, provider, since, id }) {
	return /** @type {Promise<never>} */ (query(UNDELIVERED_OF, [tenant, provider, since, id], true));
}

/**
 * @typedef {object} RefundRow
 * @property {string} elicitation
 * @property {string} provider_name
 * @property {string} reference
 * @property {string | null} amount
 * @property {string | null} currency
 * @property {string | null} reversed
 * @property {Date} received_at
 * @property {Date} changed_at
 * @property {string | null} payment
 * @property {string | null} paid
 * @property {string | null} refunded
 * @property {boolean | null} held
 * @property {boolean} claimed
 * @property {string | null} subject
 * @property {string | null} session
 * @property {string | null} resume_key
 * @property {string | null} item what the payment is for
 */

const REFUNDS_WITH_ITEM = `SELECT elicitation, provider_name, reference, amount, currency, reversed, received_at, changed_at, payment, paid,
	refunded, held, claimed, subject, session, resume_key, item FROM urlmode.refunds_with_item($1, $2, $3, $4)`;

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.tenant
 * @param {string | null} values.provider
 * @param {Date | null} values.since
 * @param {string | null} values.id
 * @returns {Promise<RefundRow[]>}
 */
export function refundsWithItem(query, { tenant, provider, since, id }) {
	return /** @type {Promise<never>} */ (query(REFUNDS_WITH_ITEM, [tenant, provider, since, id], true));
}

const PAID = 'SELECT urlmode.paid($1, $2, $3, $4) AS answer';

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.subject
 * @param {string} values.item
 * @param {Date | null} values.since when it was proved, or later
 * @param {string} values.tenant
 * @returns {Promise<boolean>}
 */
export async function paid(query, { subject, item, since, tenant }) {
	const [row] = await query(PAID, [subject, item, since, tenant], true);
	return /** @type {never} */ (row?.answer);
}

const DELIVERED = 'SELECT urlmode.delivered($1, $2, $3, $4) AS answer';

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.subject
 * @param {string} values.item
 * @param {Date | null} values.since when it was proved, or later
 * @param {string} values.tenant
 * @returns {Promise<boolean>}
 */
export async function delivered(query, { subject, item, since, tenant }) {
	const [row] = await query(DELIVERED, [subject, item, since, tenant], true);
	return /** @type {never} */ (row?.answer);
}

/**
 * @typedef {object} EntitlementRow
 * @property {string} item_name
 * @property {'trialing' | 'active' | 'cancelled' | 'past_due' | 'ended'} status
 * @property {Date | null} until the end of what was paid; null: the provider has not said it yet
 * @property {boolean} entitled whether the status is one of the first three
 * @property {boolean} paused whether it has ended until it is resumed
 * @property {string} provider
 * @property {string} account
 * @property {string | null} subscription
 * @property {string} elicitation
 * @property {Date} opened_at
 */

const ENTITLEMENTS = `SELECT item_name, status, until, entitled, paused, provider, account, subscription, elicitation, opened_at FROM
	urlmode.entitlements($1, $2, $3)`;

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.tenant
 * @param {string} values.subject
 * @param {string | null} values.item
 * @returns {Promise<EntitlementRow[]>}
 */
export function entitlements(query, { tenant, subject, item }) {
	return /** @type {Promise<never>} */ (query(ENTITLEMENTS, [tenant, subject, item], true));
}
