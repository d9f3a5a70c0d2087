// Calls that MCP clients hold as tasks: rows that any instance reads, whose values are sealed for the task
// and its owner (../../../../sql/functions/044_task.sql).

import { randomUUID } from 'node:crypto';

import { checkOwner } from './arguments.js';
import * as sql from './contract-tasks.js';
import { TASK_CALL_MAX, TASK_LEASE_MS } from './contract-limits.js';
import { TASK_INFO } from './contract-seals.js';
import { seal, unseal } from './seal.js';
import { bindingOf } from './token.js';

/**
 * @typedef {object} TaskKey
 * @property {string} id
 * @property {Buffer} binding
 *
 * @typedef {object} TaskCall
 * @property {string} tool
 * @property {unknown} arguments
 * @property {{ [key: string]: unknown } | undefined} responses what was sent with the call, which had asked for something before
 * @property {string} state the requestState with which the call goes on
 * @property {{ [key: string]: unknown }} requests what its client is asked meanwhile
 * @property {boolean} isOwn whether that is to open the elicitation, which may end without an answer
 * @property {string} text for people and models: what it waits for
 * @property {import('./types.js').Kind} kind
 *
 * @typedef {{ elicitation: string | null, call: Buffer | null }} NextCall what a task waits for from now on, with its sealed call
 *
 * @typedef {object} Task
 * @property {TaskKey} key
 * @property {string} elicitationId
 * @property {TaskCall} call
 * @property {number} round
 * @property {Map<string, unknown>} answers of the client, by the keys of `call.requests`
 * @property {'open' | 'ended' | 'cancelled'} state
 * @property {{ [key: string]: unknown } | undefined} result `{ result }` or `{ error }`
 * @property {number} createdAt Unix milliseconds
 * @property {number} updatedAt
 * @property {number} expiresAt
 * @property {import('./contract-tasks.js').TaskRow['status']} status of its elicitation
 * @property {boolean} isDue
 * @property {boolean} isLeased
 * @property {boolean} isUnread whether it has a result that was never read
 * @property {'refunded' | 'claimed' | undefined} withheld why it has none any more
 *
 * @typedef {{ id: string, fence: number }} TaskClaim of the elicitation with this id
 */

export class Tasks {
	#query;
	#keys;
	#tenant;
	#keep;

	/**
	 * @param {Pick<import('./database.js').Database, 'query'>} database
	 * @param {import('./keys.js').KeyRing} keys
	 * @param {string} tenant
	 * @param {number} keep milliseconds that a result is kept after the last end of its claim
	 */
	constructor(database, keys, tenant, keep) {
		this.#query = database.query.bind(database);
		this.#keys = keys;
		this.#tenant = tenant;
		this.#keep = keep;
	}

	/**
	 * @param {import('./types.js').Owner} owner
	 * @param {string} id
	 * @returns {TaskKey}
	 */
	keyOf(owner, id) {
		const { subject, session } = checkOwner(owner);
		return { id, binding: bindingOf(subject, session, this.#tenant) };
	}

	/**
	 * @param {import('./types.js').Owner} owner
	 * @param {string} elicitation
	 * @param {TaskCall} call
	 * @returns {Promise<Task | undefined>} undefined: the owner has no such elicitation
	 */
	async create(owner, elicitation, call) {
		const key = this.keyOf(owner, randomUUID());
		const created = await sql.createTask(this.#query, { ...key, elicitation, call: this.#seal(key, call) });
		return created && this.read(key);
	}

	/**
	 * @param {TaskKey} key
	 * @returns {Promise<Task | undefined>} undefined: the owner has no such task, or it is over
	 */
	async read(key) {
		const row = await sql.readTask(this.#query, key);
		if (!row) return undefined;
		const open = (/** @type {Buffer} */ sealed) => unseal(this.#keys, { ...key, use: TASK_INFO }, sealed);
		return {
			key, elicitationId: row.elicitation, round: row.round, state: row.state, status: row.status, isDue: row.is_due, isLeased: row.is_leased, isUnread: row.is_unread, withheld: row.withheld ?? undefined,
			call: /** @type {TaskCall} */ (/** @type {unknown} */ (open(row.call))),
			answers: new Map(row.answered.map((name, index) => [name, open(/** @type {Buffer} */ (row.answers[index])).answer])),
			result: row.result ? open(row.result) : undefined,
			createdAt: millisecondsOf(row.created_at), updatedAt: millisecondsOf(row.updated_at), expiresAt: millisecondsOf(row.expires_at),
		};
	}

	/**
	 * @param {Task} task
	 * @param {string} name of what was asked
	 * @param {unknown} answer
	 * @returns {Promise<boolean>} true once
	 */
	answer({ key, round }, name, answer) {
		return sql.answerTaskInput(this.#query, { ...key, round, name, sealed: this.#seal(key, { answer }) });
	}

	/**
	 * @param {Task} task
	 * @param {number} [lease] to make this one longer
	 * @returns {Promise<number>} the lease; 0: another instance has it, or the task is not open
	 */
	begin({ key }, lease = 0) {
		return sql.beginTask(this.#query, { ...key, leaseMs: TASK_LEASE_MS, lease });
	}

	/**
	 * @param {Task} task
	 * @param {number} lease
	 * @param {NextCall} [next] undefined: it waits as before
	 */
	continue({ key }, lease, { elicitation, call } = { elicitation: null, call: null }) {
		return sql.continueTask(this.#query, { ...key, lease, elicitation, call });
	}

	/**
	 * @param {Task} task
	 * @param {number} lease
	 * @param {Buffer} result sealed: `{ result }` or `{ error }`
	 * @param {TaskClaim[]} claims that it was made of
	 * @returns {Promise<boolean>} false: another instance has the lease, or it was cancelled
	 */
	end({ key }, lease, result, claims) {
		return sql.endTask(this.#query, { ...key, lease, result, claimed: claims.map(({ id }) => id), fences: claims.map(({ fence }) => String(fence)), keepMs: this.#keep });
	}

	/**
	 * The client has the result: what it was made of is delivered.
	 *
	 * @param {Task} task
	 */
	confirm({ key }) {
		return sql.confirmTask(this.#query, { ...key, keepMs: this.#keep });
	}

	/**
	 * For `end`, and for the call of `continue`.
	 *
	 * @param {Task} task
	 * @param {object} value
	 */
	seal({ key }, value) {
		return this.#seal(key, value);
	}

	/**
	 * @param {TaskKey} key
	 * @returns {Promise<boolean>} false: the owner has no such task
	 */
	cancel(key) {
		return sql.cancelTask(this.#query, key);
	}

	/**
	 * @param {TaskKey} key
	 * @param {object} value
	 */
	#seal(key, value) {
		return seal(this.#keys, { ...key, use: TASK_INFO }, JSON.stringify(value));
	}
}

/**
 * Whether a call, or an answer, is small enough to be kept. Its state and what it asks for come on top.
 *
 * @param {unknown} value
 */
export function canBeKept(value) {
	return Buffer.byteLength(JSON.stringify(value) ?? '') <= TASK_CALL_MAX / 4;
}

/** @param {string} seconds */
function millisecondsOf(seconds) {
	return Math.round(Number(seconds) * 1_000);
}
