// Generated from lib/contract by `make contract`: change it there.
// The functions of the schema urlmode that an MCP server may call.

/** @typedef {import('./contract-calls.js').Query} Query */

/**
 * @typedef {object} BegunLedger
 * @property {string | null} lease for what follows; null: another instance reads for this consumer
 * @property {string | null} wait_ms how long that lease lasts at most
 */

const BEGIN_LEDGER = 'SELECT lease, wait_ms FROM urlmode.begin_ledger($1, $2, $3)';

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.consumer
 * @param {number | string} values.leaseMs
 * @param {string} values.tenant
 * @returns {Promise<BegunLedger>}
 */
export async function beginLedger(query, { consumer, leaseMs, tenant }) {
	const [row] = await query(BEGIN_LEDGER, [consumer, leaseMs, tenant]);
	return /** @type {never} */ (row);
}

/**
 * @typedef {object} LedgerRow
 * @property {string} number
 * @property {Date} entered_at
 * @property {import('./money-types.js').LedgerType} entry_type
 * @property {'payment' | 'refund' | 'dispute' | 'cancellation'} kind
 * @property {string} provider
 * @property {string | null} elicitation
 * @property {string | null} subject
 * @property {string | null} item
 * @property {string | null} payment
 * @property {string | null} checkout
 * @property {string | null} reference
 * @property {string | null} amount
 * @property {string | null} currency
 * @property {string | null} refunded
 * @property {string | null} status
 * @property {Date | null} occurred_at
 * @property {Date | null} evidence_due_at
 */

const READ_LEDGER = `SELECT number, entered_at, entry_type, kind, provider, elicitation, subject, item, payment, checkout, reference,
	amount, currency, refunded, status, occurred_at, evidence_due_at FROM urlmode.read_ledger($1, $2, $3, $4)`;

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.consumer
 * @param {number | string} values.lease
 * @param {number} values.most entries, at most 100
 * @param {string} values.tenant
 * @returns {Promise<LedgerRow[]>}
 */
export function readLedger(query, { consumer, lease, most, tenant }) {
	return /** @type {Promise<never>} */ (query(READ_LEDGER, [consumer, lease, most, tenant]));
}

const ACKNOWLEDGE_LEDGER = 'SELECT urlmode.acknowledge_ledger($1, $2, $3, $4, $5) AS answer';

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.consumer
 * @param {number | string} values.lease
 * @param {number | string | null} values.number of the entry that was dealt with; null: the lease is renewed alone
 * @param {number | string} values.leaseMs
 * @param {string} values.tenant
 * @returns {Promise<boolean>}
 */
export async function acknowledgeLedger(query, { consumer, lease, number, leaseMs, tenant }) {
	const [row] = await query(ACKNOWLEDGE_LEDGER, [consumer, lease, number, leaseMs, tenant]);
	return /** @type {never} */ (row?.answer);
}

const END_LEDGER = 'SELECT urlmode.end_ledger($1, $2, $3) AS answer';

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.consumer
 * @param {number | string} values.lease
 * @param {string} values.tenant
 * @returns {Promise<boolean>}
 */
export async function endLedger(query, { consumer, lease, tenant }) {
	const [row] = await query(END_LEDGER, [consumer, lease, tenant]);
	return /** @type {never} */ (row?.answer);
}
