// Calls the functions of the schema urlmode that an MCP server may call.

import { setTimeout as sleep } from 'node:timers/promises';

import { Batches } from './batches.js';
import { BATCH_MAX, BATCH_WAIT_MS, BATCHES_AT_ONCE, BUSY_MAX_MS, BUSY_MIN_MS, QUERY_MS } from './contract-limits.js';
import {
	ElicitationExistsError, ElicitationLimitError, ElicitationMismatchError, ElicitationNotFoundError,
	ElicitationOpenError, ElicitationReferenceError, isDatabaseError, UrlModeBusyError, UrlModeClosedError,
} from './errors.js';
import { jittered } from './jitter.js';
import { Pool } from './pool.js';

/** The channel on which every change of a row is announced, as {"id":…,"status":…}. */
export const CHANNEL = 'urlmode';

const BATCHES = { size: BATCH_MAX, atOnce: BATCHES_AT_ONCE, waitMs: BATCH_WAIT_MS };

const CREATE = `SELECT extract(epoch FROM expires_at) AS expires, outcome FROM urlmode.create_elicitation(
	$1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22)`;
const RESUME = `SELECT id, provider, kind, extract(epoch FROM expires_at) AS expires, expires_in_ms, link_kid
	FROM urlmode.resume($1, $2, $3, $4)`;
const CLAIM = 'SELECT urlmode.claim($1, $2, $3, $4, $5, $6) AS outcome';
const UNCLAIMED = `SELECT elicitation, provider_name, reference, amount, currency, matches, late, proven_at, refunded, held,
	subject, session, binding, resume_key, result FROM urlmode.unclaimed($1, $2, $3)`;
const REFUNDS = `SELECT elicitation, provider_name, reference, amount, currency, reversed, received_at, changed_at,
	payment, paid, refunded, held, claimed, subject, session, resume_key FROM urlmode.refunds($1, $2, $3)`;
const ABANDON = 'SELECT outcome FROM urlmode.abandon($1, $2, $3, $4)';
const NOTIFY = 'SELECT pg_notify($1, $2)';
const READ_NAME = 'urlmode_read';
const READ = `SELECT id, provider, kind, status, action, reason, late, payment_reference, refunded, held, completed_from, result, verifier,
	closes_in_ms, failed_attempts, rechecks, rechecked, recheck_in_ms
	FROM urlmode.read($1::uuid[], $2::bytea[])`;
const MARK_READ = 'SELECT urlmode.mark_read($1::uuid[], $2::bytea[], $3::bigint)';
const PURGE_RESULTS = 'SELECT urlmode.purge_results($1) AS taken';
const PURGE = 'SELECT urlmode.purge($1, $2) AS taken';
const EXPIRE = 'SELECT urlmode.expire($1::uuid[], $2::bytea[])';
const SETTLE = 'SELECT urlmode.settle($1, $2, $3, $4, $5, $6, $7, $8) AS outcome';
const TAKE_RECHECK = `SELECT lease, rechecks, event_type, unproven_references AS references, expected
	FROM urlmode.take_recheck($1, $2, $3)`;
const TAKE_CHECK = 'SELECT lease, result, left_ms FROM urlmode.take_check($1, $2)';
const END_CHECK = 'SELECT urlmode.end_check($1, $2, $3, $4, $5) AS outcome';
const END_RECHECK = 'SELECT urlmode.end_recheck($1, $2, $3, $4, $5)';

/**
 * @typedef {import('./rows.js').Row} Row
 * @typedef {import('./rows.js').NewRow} NewRow
 * @typedef {import('./rows.js').ResumeKey} ResumeKey
 * @typedef {import('./rows.js').Resumed} Resumed
 * @typedef {import('./rows.js').Completion} Completion
 * @typedef {import('./rows.js').CheckRow} CheckRow
 * @typedef {import('./rows.js').RecheckRow} RecheckRow
 * @typedef {import('./rows.js').UnclaimedRow} UnclaimedRow
 * @typedef {import('./rows.js').RefundRow} RefundRow
 * @typedef {import('./rows.js').CreateOutcome} CreateOutcome
 * @typedef {import('./rows.js').AbandonOutcome} AbandonOutcome
 * @typedef {import('./rows.js').RowKey} RowKey
 * @typedef {import('./rows.js').Abandoned} Abandoned
 */

/**
 * Whether the server refused the statement because a privilege or a migration
 * is missing (SQLSTATE class 42 or 3F), so that it would refuse it again.
 *
 * @param {unknown} error
 */
export function isRefusal(error) {
	return isDatabaseError(error) && /^(42|3F)/.test(error.code);
}

/**
 * Reads rows. A row that does not exist, or that has another binding, is left out.
 *
 * @param {(text: string, values: unknown[], name: string) => Promise<unknown[]>} query
 * @param {RowKey[]} rowKeys
 * @returns {Promise<Row[]>}
 */
export async function readRows(query, rowKeys) {
	const rows = await query(READ, toColumns(rowKeys), READ_NAME);
	return /** @type {Row[]} */ (rows);
}

/** @param {RowKey[]} rowKeys */
function toColumns(rowKeys) {
	return [rowKeys.map(({ id }) => id), rowKeys.map(({ binding }) => binding)];
}

/** The functions of the schema, which are called one by one or, where many calls come, in batches. */
export class Database {
	#pool;
	#creates = new Batches((/** @type {NewRow[]} */ rows) => this.#create(rows), BATCHES);
	#resumes = new Batches((/** @type {ResumeKey[]} */ keys) => this.#resume(keys), BATCHES);
	#abandons = new Batches((/** @type {Abandoned[]} */ rows) => this.#abandon(rows), BATCHES);

	/**
	 * @param {import('./database-url.js').DatabaseConfig} config
	 * @param {import('./types.js').Pool | undefined} [pool] somebody else's, which is used instead of a pool of its own
	 */
	constructor(config, pool) {
		this.#pool = new Pool(config, pool);
	}

	/**
	 * @param {NewRow} row
	 * @returns {Promise<number | undefined>} when it expires, in Unix seconds with a fraction; undefined if another call
	 *     of the same owner has created one that can be resumed
	 * @throws {ElicitationLimitError}
	 * @throws {UrlModeBusyError}
	 */
	async create(row) {
		try {
			// Also the waits between the attempts belong to the call, which `close` waits for.
			return await this.#pool.track(() => this.#createWhenFree(row));
		} catch (error) {
			if (isDatabaseError(error) && error.code === '23505') throw new ElicitationExistsError(row.id);
			throw error;
		}
	}

	/**
	 * @param {NewRow} row
	 * @returns {Promise<number | undefined>} as for `create`
	 */
	async #createWhenFree(row) {
		const giveUp = Date.now() + QUERY_MS;
		for (let delay = BUSY_MIN_MS; ; delay = Math.min(2 * delay, BUSY_MAX_MS)) {
			const { outcome, expires } = await this.#creates.ask(row);
			if (outcome === 'full') throw new ElicitationLimitError();
			if (outcome !== 'busy') return outcome === 'created' ? expires : undefined;
			// Another call creates for the same owner.
			if (Date.now() > giveUp) throw new UrlModeBusyError('other calls of this owner create elicitations all the time');
			await sleep(jittered(delay));
			// Nobody waits for the answer any more.
			if (this.#pool.brokenOff) throw new UrlModeClosedError();
		}
	}

	/** @param {NewRow[]} rows */
	async #create(rows) {
		const answers = await this.#pool.run(CREATE, [
			rows.map(({ id }) => id), rows.map(({ provider }) => provider), rows.map(({ kind }) => kind),
			rows.map(({ subject }) => subject), rows.map(({ session }) => session), rows.map(({ binding }) => binding),
			rows.map(({ requester }) => requester), rows.map(({ targetUrl }) => targetUrl),
			rows.map(({ expected }) => expected && JSON.stringify(expected)), rows.map(({ verifier }) => verifier),
			rows.map(({ ttl }) => ttl), rows.map(({ exclusive }) => exclusive), rows.map(({ resumeKey }) => resumeKey),
			rows.map(({ canRecheck }) => canRecheck), rows.map(({ request }) => request), rows.map(({ checkout }) => checkout),
			rows.map(({ clientId }) => clientId), rows.map(({ linkKid }) => linkKid), rows.map(({ form }) => form),
			rows.map(({ approvers }) => approvers && JSON.stringify(approvers)), rows.map(({ verifyMs }) => verifyMs),
			rows.map(({ traceparent }) => traceparent),
		]);
		return answers.map(({ expires, outcome }) => (
			{ outcome: /** @type {CreateOutcome} */ (outcome), expires: expires === null ? NaN : Number(expires) }));
	}

	/**
	 * @param {Buffer} binding
	 * @param {string} resumeKey
	 * @param {boolean} canRecheck
	 * @param {Buffer} request digest of the request
	 * @returns {Promise<Resumed | undefined>}
	 */
	resume(binding, resumeKey, canRecheck, request) {
		return this.#pool.track(() => this.#resumes.ask({ binding, resumeKey, canRecheck, request }));
	}

	/** @param {ResumeKey[]} keys */
	async #resume(keys) {
		const rows = await this.#pool.run(RESUME, [
			keys.map(({ binding }) => binding), keys.map(({ resumeKey }) => resumeKey), keys.map(({ canRecheck }) => canRecheck),
			keys.map(({ request }) => request),
		]);
		return rows.map(({ id, provider, kind, expires, expires_in_ms: ttl, link_kid: linkKid }) => (id === null ? undefined
			: /** @type {Resumed} */ ({ id, provider, kind, expires: Number(expires), ttl: Number(ttl), linkKid })));
	}

	/**
	 * @param {RowKey} rowKey of a completed elicitation
	 * @param {import('./types.js').Action} action of the outcome to claim
	 * @param {string | null} reference of the payment to claim; null: the oldest that matches
	 * @param {number} keep milliseconds that the result of a payment is kept afterwards
	 * @param {boolean} held whether to claim it although a part of it may have gone back
	 * @returns {Promise<boolean>} false if another call has claimed it, or if it has another outcome by now
	 * @throws {ElicitationOpenError}
	 */
	async claim({ id, binding }, action, reference, keep, held) {
		const [answer] = await this.query(CLAIM, [id, binding, reference, keep, action, held]);
		if (answer?.outcome === 'open') throw new ElicitationOpenError(id);
		return answer?.outcome === 'claimed';
	}

	/**
	 * @param {{ provider?: string | null, since?: Date | null, id?: string | null }} filter
	 * @returns {Promise<UnclaimedRow[]>}
	 */
	async unclaimed({ provider = null, since = null, id = null }) {
		const rows = await this.query(UNCLAIMED, [provider, since, id]);
		return /** @type {never} */ (rows);
	}

	/**
	 * @param {{ provider?: string | null, since?: Date | null, id?: string | null }} filter
	 * @returns {Promise<RefundRow[]>}
	 */
	async refunds({ provider = null, since = null, id = null }) {
		const rows = await this.query(REFUNDS, [provider, since, id]);
		return /** @type {never} */ (rows);
	}

	/**
	 * @param {RowKey} rowKey
	 * @param {'decline' | 'cancel'} action
	 * @param {string} reason
	 * @returns {Promise<AbandonOutcome>} `completed`: by this call; a status: it stays as it is
	 */
	async abandon({ id, binding }, action, reason) {
		const outcome = await this.#pool.track(() => this.#abandons.ask({ id, binding, action, reason }));
		if (outcome === 'unknown') throw new ElicitationNotFoundError(id);
		return outcome;
	}

	/** @param {Abandoned[]} rows */
	async #abandon(rows) {
		const answers = await this.#pool.run(ABANDON,
			[...toColumns(rows), rows.map(({ action }) => action), rows.map(({ reason }) => reason)]);
		return answers.map(({ outcome }) => /** @type {AbandonOutcome | 'unknown'} */ (outcome));
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
		await this.query(MARK_READ, [...toColumns(rowKeys), keep]);
	}

	/**
	 * Purges some of the results that are due.
	 *
	 * @param {number} keepUnclaimed milliseconds that the result of a payment is kept until it is claimed
	 * @returns {Promise<boolean>} whether more may be due
	 */
	async purgeResults(keepUnclaimed) {
		const [answer] = await this.query(PURGE_RESULTS, [keepUnclaimed]);
		return Number(answer?.taken) > 0;
	}

	/**
	 * Deletes one batch of purgeable data.
	 *
	 * @param {number} keep milliseconds for which it must have been purgeable
	 * @param {import('./types.js').PurgeKind | null} kind null: everything
	 * @returns {Promise<number>} how much it took; 0: that was all
	 */
	async purge(keep, kind) {
		const [answer] = await this.query(PURGE, [keep, kind]);
		return Number(answer?.taken);
	}

	/** @param {RowKey[]} rowKeys */
	async expire(rowKeys) {
		await this.query(EXPIRE, toColumns(rowKeys));
	}

	/**
	 * @param {Completion} completion
	 * @returns {Promise<'completed' | 'late' | 'already'>} `late`: it had ended otherwise, and the payment was recorded
	 * @throws {ElicitationMismatchError}
	 * @throws {ElicitationReferenceError}
	 */
	async settle({ id, binding, action, reason, result, amount, currency, reference }) {
		const [answer] = await this.query(SETTLE, [id, binding, action, reason, result, amount, currency, reference]);
		switch (answer?.outcome) {
		case 'unknown': throw new ElicitationNotFoundError(id);
		case 'mismatch': throw new ElicitationMismatchError(id);
		case 'reference_taken': throw new ElicitationReferenceError(id);
		case 'undecided': throw new TypeError('an approval is accepted by its approver alone, on its page');
		case 'missing':
			throw new TypeError('to accept a payment, amount (in minor units), currency and reference are required: '
				+ 'what was paid, according to the provider');
		default: return /** @type {'completed' | 'late' | 'already'} */ (answer?.outcome);
		}
	}

	/**
	 * Begins a recheck.
	 *
	 * @param {RowKey} rowKey
	 * @param {number} lease milliseconds in which nobody else can begin one
	 * @returns {Promise<RecheckRow | undefined>} undefined if another instance is rechecking, or if there is nothing to recheck
	 */
	async takeRecheck({ id, binding }, lease) {
		const [row] = await this.query(TAKE_RECHECK, [id, binding, lease]);
		return /** @type {never} */ (row);
	}

	/**
	 * @param {RowKey} rowKey
	 * @param {RecheckRow} taken with which it began
	 * @param {boolean} failed whether it has to be done again
	 */
	async endRecheck({ id, binding }, { lease, rechecks }, failed) {
		await this.query(END_RECHECK, [id, binding, lease, rechecks, failed]);
	}

	/**
	 * Begins to verify what a user has submitted.
	 *
	 * @param {RowKey} rowKey
	 * @returns {Promise<CheckRow | undefined>} undefined if another instance does, or if there is nothing to verify
	 */
	async takeCheck({ id, binding }) {
		const [row] = await this.query(TAKE_CHECK, [id, binding]);
		return /** @type {never} */ (row);
	}

	/**
	 * @param {RowKey} rowKey
	 * @param {number} lease
	 * @param {Buffer | null} problem sealed. Without one, and unless it has failed, the row is completed
	 * @param {boolean} failed whether it is not known
	 * @returns {Promise<'completed' | 'opened' | 'refused' | 'late' | 'unknown'>} `late`: the time limit has passed, or the row
	 *     has ended. Nothing was changed
	 */
	async endCheck({ id, binding }, lease, problem, failed) {
		const [answer] = await this.query(END_CHECK, [id, binding, lease, problem, failed]);
		return /** @type {never} */ (answer?.outcome);
	}

	/**
	 * @param {string} text
	 * @param {unknown[]} values
	 */
	query(text, values) {
		return this.#pool.query(text, values);
	}

	/** Waits for the queries in progress first, until `breakOff`. */
	close() {
		return this.#pool.close();
	}

	breakOff() {
		this.#pool.breakOff();
	}
}
