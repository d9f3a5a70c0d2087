// Calls the functions of the schema urlmode that an MCP server may call.

import { setTimeout as sleep } from 'node:timers/promises';

import { Batches } from './batches.js';
import * as sql from './contract-calls.js';
import * as claiming from './contract-claims.js';
import { BATCH_MAX, BATCH_WAIT_MS, BATCHES_AT_ONCE, BUSY_MAX_MS, BUSY_MIN_MS, KEEP_RESULTS_MS, QUERY_MS } from './contract-limits.js';
import * as money from './contract-money.js';
import * as rechecking from './contract-rechecks.js';
import { NOTIFY, PROGRAM_LIMIT_EXCEEDED } from './contract-statements.js';
import { TEXTS } from './contract-texts.js';
import { REFUSAL_CLASSES } from './contract-words.js';
import {
	ElicitationExistsError, ElicitationLimitError, ElicitationMismatchError, ElicitationNotFoundError,
	ElicitationReferenceError, ElicitationSubscribedError, isDatabaseError, UrlModeBusyError, UrlModeClosedError,
} from './errors.js';
import { jittered } from './jitter.js';
import { Pool } from './pool.js';

const BATCHES = { size: BATCH_MAX, atOnce: BATCHES_AT_ONCE, waitMs: BATCH_WAIT_MS };

const READ_NAME = 'urlmode_read';

/**
 * @typedef {import('./contract-calls.js').Row} Row
 * @typedef {import('./contract-calls.js').RowKey} RowKey identifies a row
 * @typedef {import('./contract-calls.js').NewRow} NewRow
 * @typedef {import('./contract-calls.js').Resuming} Resuming
 * @typedef {import('./contract-calls.js').Abandoned} Abandoned
 * @typedef {import('./contract-calls.js').TakenCheck} TakenCheck
 * @typedef {import('./contract-rechecks.js').TakenRecheck} TakenRecheck
 * @typedef {import('./contract-money.js').UnclaimedRow} UnclaimedRow
 * @typedef {import('./contract-money.js').RefundRow} RefundRow
 * @typedef {Parameters<typeof sql.settle>[1]} Completion
 * @typedef {import('./contract-words.js').AbandonOutcome} AbandonOutcome
 *
 * @typedef {object} Resumed
 * @property {string} id
 * @property {string} provider
 * @property {import('./types.js').Kind} kind
 * @property {boolean} isHeld an amount that does not match waits to be delivered or refunded
 * @property {number} expires Unix seconds with a fraction
 * @property {number} ttl milliseconds; negative if it has expired
 * @property {number | null} linkKid of the key that has minted its link
 */

/**
 * Whether the server refused the statement because a privilege or a migration
 * is missing, or a limit is reached, so that it would refuse it again.
 *
 * @param {unknown} error
 */
export function isRefusal(error) {
	return isDatabaseError(error) && REFUSAL_CLASSES.includes(error.code.slice(0, 2));
}

/**
 * Whether the server would refuse a change again: as for `isRefusal`, but for the queue of notifications, which empties by itself.
 *
 * @param {unknown} error
 */
export function isRefusedChange(error) {
	return isRefusal(error) && !(isDatabaseError(error) && error.code === PROGRAM_LIMIT_EXCEEDED);
}

/**
 * Reads rows. A row that does not exist, or that has another binding, is left out.
 *
 * @param {(text: string, values: unknown[], name: string) => Promise<unknown[]>} query
 * @param {RowKey[]} rowKeys
 * @returns {Promise<Row[]>}
 */
export function readRows(query, rowKeys) {
	return sql.readPaid((text, values) => /** @type {Promise<never[]>} */ (query(text, values, READ_NAME)), rowKeys);
}

/** The functions of the schema, which are called one by one or, where many calls come, in batches. */
export class Database {
	#pool;
	#tenant;
	/** A statement of a batch, whose calls are tracked. @type {(leave: () => number[]) => sql.Query} */
	#runBatch = (leave) => (text, values, reads) => this.#pool.run(text, values, reads, leave);
	/** @type {sql.Query} */
	#ask = (...statement) => this.#pool.query(...statement);
	#creates = new Batches((/** @type {NewRow[]} */ rows, leave) => this.#create(rows, leave), BATCHES);
	#resumes = new Batches((/** @type {Resuming[]} */ all, leave) => this.#resume(all, leave), BATCHES);
	#abandons = new Batches((/** @type {Abandoned[]} */ rows, leave) => sql.abandon(this.#runBatch(leave), rows), BATCHES);

	/**
	 * @param {import('./database-url.js').DatabaseConfig} config
	 * @param {import('./types.js').Pool | undefined} [pool] somebody else's, which is used instead of a pool of its own
	 * @param {string} [tenant] whose rows these are; empty: those that have none
	 */
	constructor(config, pool, tenant = '') {
		this.#pool = new Pool(config, pool);
		this.#tenant = tenant;
	}

	/**
	 * @param {NewRow} row
	 * @param {AbortSignal} [signal] takes it back, as long as it was not sent
	 * @returns {Promise<number | undefined>} when it expires, in Unix seconds with a fraction; undefined if another call
	 *     of the same owner has created one that can be resumed
	 * @throws {ElicitationLimitError}
	 * @throws {ElicitationSubscribedError}
	 * @throws {UrlModeBusyError}
	 */
	async create(row, signal) {
		try {
			// Also the waits between the attempts belong to the call, which `close` waits for.
			return await this.#pool.track(() => this.#createWhenFree(row, signal));
		} catch (error) {
			if (isDatabaseError(error) && error.code === '23505') throw new ElicitationExistsError(row.id);
			throw error;
		}
	}

	/**
	 * @param {NewRow} row
	 * @param {AbortSignal} [signal]
	 * @returns {Promise<number | undefined>} as for `create`
	 */
	async #createWhenFree(row, signal) {
		const giveUp = Date.now() + QUERY_MS;
		for (let delay = BUSY_MIN_MS; ; delay = Math.min(2 * delay, BUSY_MAX_MS)) {
			const { outcome, expires } = await this.#creates.ask(row, signal);
			if (outcome === 'full') throw new ElicitationLimitError();
			if (outcome === 'subscribed') throw new ElicitationSubscribedError(String(row.item));
			if (outcome !== 'busy') return outcome === 'created' ? expires : undefined;
			// Another call creates for the same owner.
			if (Date.now() > giveUp) throw new UrlModeBusyError(TEXTS.ownerIsBusy);
			await sleep(jittered(delay));
			// Nobody waits for the answer any more.
			if (this.#pool.brokenOff) throw new UrlModeClosedError();
		}
	}

	/** @param {NewRow[]} rows @param {() => number[]} leave */
	async #create(rows, leave) {
		const answers = await sql.createElicitation(this.#runBatch(leave), rows);
		return answers.map(({ expires_at: expires, outcome }) => ({ outcome, expires: expires === null ? NaN : Number(expires) }));
	}

	/**
	 * @param {Resuming} asked
	 * @param {AbortSignal} [signal] as for `create`
	 * @returns {Promise<Resumed | undefined>}
	 */
	resume(asked, signal) {
		return this.#pool.track(() => this.#resumes.ask(asked, signal));
	}

	/** @param {Resuming[]} all @param {() => number[]} leave */
	async #resume(all, leave) {
		const rows = await sql.resumeFor(this.#runBatch(leave), all);
		return rows.map(({ id, provider, kind, status, expires_at: expires, expires_in_ms: ttl, link_kid: linkKid }) => (id === null ? undefined
			: { id, provider, kind, isHeld: status === 'held', expires: Number(expires), ttl: Number(ttl), linkKid }));
	}

	/** @param {RowKey} rowKey of an elicitation that was refused */
	async claimRefusal(rowKey) {
		await claiming.claimAtOnce(this.#ask, { ...rowKey, reference: null, keepMs: KEEP_RESULTS_MS, action: 'cancel', held: false, recheckMs: null });
	}

	/**
	 * @param {{ provider?: string | null, since?: Date | null, id?: string | null }} filter
	 * @returns {Promise<UnclaimedRow[]>}
	 */
	unclaimed({ provider = null, since = null, id = null }) {
		return money.unclaimedOf(this.#ask, { tenant: this.#tenant, provider, since, id });
	}

	/**
	 * @param {{ provider?: string | null, since?: Date | null, id?: string | null }} filter
	 */
	undelivered({ provider = null, since = null, id = null }) {
		return money.undeliveredOf(this.#ask, { tenant: this.#tenant, provider, since, id });
	}

	/**
	 * @param {{ provider?: string | null, since?: Date | null, id?: string | null }} filter
	 * @returns {Promise<RefundRow[]>}
	 */
	refunds({ provider = null, since = null, id = null }) {
		return money.refundsWithItem(this.#ask, { tenant: this.#tenant, provider, since, id });
	}

	/** @param {{ subject: string, item: string, since: Date | null, delivered: boolean }} whose */
	paid({ delivered, ...owner }) {
		const whose = { ...owner, tenant: this.#tenant };
		return delivered ? money.delivered(this.#ask, whose) : money.paid(this.#ask, whose);
	}

	/**
	 * @param {{ subject: string, item: string | null }} owner
	 * @returns {Promise<import('./contract-money.js').EntitlementRow[]>} the best of each item, or of the one
	 */
	entitlements(owner) {
		return money.entitlements(this.#ask, { ...owner, tenant: this.#tenant });
	}

	/**
	 * @param {RowKey} rowKey
	 * @param {import('./contract-words.js').EndAction} action
	 * @param {string} reason
	 * @returns {Promise<AbandonOutcome>} `completed`: by this call; a status: it stays as it is
	 */
	async abandon({ id, binding }, action, reason) {
		const outcome = await this.#pool.track(() => this.#abandons.ask({ id, binding, action, reason }));
		if (outcome === 'unknown') throw new ElicitationNotFoundError(id);
		return outcome;
	}

	/** @param {Parameters<typeof sql.beginAsk>[1]} values */
	beginAsk(values) {
		return sql.beginAsk(this.#ask, values);
	}

	/** @param {Parameters<typeof sql.endAsk>[1]} values */
	endAsk(values) {
		return sql.endAsk(this.#ask, values);
	}

	/**
	 * @param {string} channel
	 * @param {string} payload
	 */
	async notify(channel, payload) {
		await this.query(NOTIFY, [channel, payload]);
	}

	/**
	 * @param {RowKey[]} rowKeys whose results were read
	 * @param {number} keep milliseconds from now until the results are purged
	 */
	async markRead(rowKeys, keep) {
		await sql.markRead(this.#ask, rowKeys, { keepMs: keep });
	}

	/**
	 * Purges some of the results that are due.
	 *
	 * @param {number} keepUnclaimed milliseconds that the result of a payment is kept until it is claimed
	 * @returns {Promise<boolean>} whether more may be due
	 */
	async purgeResults(keepUnclaimed) {
		return Number(await sql.purgeResults(this.#ask, { keepUnclaimedMs: keepUnclaimed })) > 0;
	}

	/**
	 * Deletes one batch of purgeable data.
	 *
	 * @param {number} keep milliseconds for which it must have been purgeable
	 * @param {import('./types.js').PurgeKind | null} kind null: everything
	 * @returns {Promise<number>} how much it took; 0: that was all
	 */
	async purge(keep, kind) {
		return Number(await sql.purge(this.#ask, { keepMs: keep, kind }));
	}

	/** @param {RowKey[]} rowKeys */
	expire(rowKeys) {
		return sql.expire(this.#ask, rowKeys);
	}

	/**
	 * @param {Completion} completion
	 * @returns {Promise<'completed' | 'late' | 'already'>} `late`: it had ended otherwise, and the payment was recorded
	 * @throws {ElicitationMismatchError}
	 * @throws {ElicitationReferenceError}
	 */
	async settle(completion) {
		const { id } = completion;
		const outcome = await sql.settle(this.#ask, completion);
		switch (outcome) {
		case 'unknown': throw new ElicitationNotFoundError(id);
		case 'mismatch': throw new ElicitationMismatchError(id);
		case 'reference_taken': throw new ElicitationReferenceError(id);
		case 'undecided': throw new TypeError(TEXTS.undecided);
		case 'missing':
			throw new TypeError(TEXTS.paymentWithoutPrice);
		default: return outcome;
		}
	}

	/**
	 * Begins a recheck.
	 *
	 * @param {RowKey} rowKey
	 * @param {number} lease milliseconds in which nobody else can begin one
	 * @param {number | null} age before a claim: how old the last answer may be, in milliseconds; null: an event must ask
	 * @returns {Promise<TakenRecheck | undefined>} undefined if another instance is rechecking, or if there is nothing to recheck
	 */
	beginRecheck({ id, binding }, lease, age) {
		return rechecking.beginRecheck(this.#ask, { id, binding, leaseMs: lease, maxAgeMs: age });
	}

	/**
	 * @param {RowKey} rowKey
	 * @param {TakenRecheck} taken with which it began
	 * @param {boolean} failed whether it has to be done again
	 */
	endRecheck({ id, binding }, { lease, rechecks }, failed) {
		return rechecking.endRecheck(this.#ask, { id, binding, lease, rechecks, failed });
	}

	/**
	 * @param {RowKey} rowKey
	 * @param {TakenRecheck} taken with which it began
	 * @param {{ payments: object[], refunds: object[] }} rows what the provider has
	 */
	answerRecheck({ id, binding }, { lease, rechecks }, { payments, refunds }) {
		return rechecking.answerRecheck(this.#ask, { id, binding, lease, rechecks, payments, refunds });
	}

	/**
	 * Begins to verify what a user has submitted.
	 *
	 * @param {RowKey} rowKey
	 * @returns {Promise<TakenCheck | undefined>} undefined if another instance does, or if there is nothing to verify
	 */
	takeCheck(rowKey) {
		return sql.takeCheck(this.#ask, rowKey);
	}

	/**
	 * @param {RowKey} rowKey
	 * @param {number} lease
	 * @param {Buffer | null} problem sealed. Without one, and unless it has failed, the row is completed
	 * @param {boolean} failed whether it is not known
	 * @returns {Promise<'completed' | 'opened' | 'refused' | 'late' | 'unknown'>} `late`: the time limit has passed, or the row
	 *     has ended. Nothing was changed
	 */
	endCheck({ id, binding }, lease, problem, failed) {
		return sql.endCheck(this.#ask, { id, binding, lease, problem, failed });
	}

	/**
	 * @param {string} text
	 * @param {unknown[]} values
	 * @param {boolean} [reads] whether its function only reads
	 * @param {AbortSignal} [signal] takes the statement back, as long as it was not sent
	 */
	query(text, values, reads, signal) {
		return this.#pool.query(text, values, reads, signal);
	}

	/** Waits for the queries in progress first, until `breakOff`. */
	close() {
		return this.#pool.close();
	}

	breakOff() {
		this.#pool.breakOff();
	}
}
