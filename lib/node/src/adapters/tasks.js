// Calls as tasks, for clients that declare the extension io.modelcontextprotocol/tasks (SEP-2663). A wait of
// days is not a call that is open for days: the first answer is a task, and the client asks for it when
// it likes, on any instance.
//
// A task is a retry of revision 2026-07-28 whose requestState is kept here in place of the client. When what it waits for
// has ended, whoever is asked for the task next runs the tool once more with that state, and keeps what it
// returns. While its tool asks for something, `tasks/get` says so, and `tasks/update` answers it.

import { setTimeout as sleep } from 'node:timers/promises';

import { RPC_INTERNAL_ERROR, RPC_INVALID_PARAMS, TASK_LEASE_MS, TASK_POLL_MS, TASK_WAIT_MS } from '../core/contract-limits.js';
import { TEXTS } from '../core/contract-texts.js';
import { ACTIONS, UNSTORABLE_CLASSES } from '../core/contract-words.js';
import { isDatabaseError } from '../core/errors.js';
import { finish, internalsOf } from '../core/internals.js';
import { canBeKept } from '../core/tasks.js';
import { isErrorAnswer } from './error-answer.js';
import { endAsk, REFUSALS } from './asks.js';
import { failureResult, progressMessage } from './messages.js';
import { looks } from './task-looks.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** What a client is told of a result that cannot be written as JSON, or is larger than a row of tasks takes. */
const UNKEPT = { code: RPC_INTERNAL_ERROR, message: TEXTS.taskUnkept };

/**
 * @typedef {import('../core/tasks.js').Task} Task
 * @typedef {import('../core/tasks.js').TaskCall} TaskCall
 * @typedef {import('./types.js').TaskRound} TaskRound
 * @typedef {import('../core/types.js').Owner} Owner
 * @typedef {import('./types.js').ClientLike} ClientLike
 * @typedef {{ content?: unknown, isError?: unknown, resultType?: unknown, requestState?: unknown, inputRequests?: { [key: string]: unknown } }} Result
 *
 * @typedef {object} Asking how a framework describes a request about a task
 * @property {Owner} owner
 * @property {ClientLike} client
 * @property {(call: TaskCall, answers: { [key: string]: unknown }, round: TaskRound) => Promise<Result>} run calls the tool
 * @property {() => Promise<import('./answer.js').Written>} written what becomes of the answer to the request
 *
 * @typedef {{ end: Buffer, answer: import('./answer.js').Written } | { next: import('../core/tasks.js').NextCall | undefined }} Kept how a run has ended, sealed; or what the
 *     task waits for from now on: undefined, as before
 */

export class TaskServer {
	#urlmode;
	#tasks;
	#refuse;

	/**
	 * @param {import('../core/urlmode.js').UrlMode} urlmode
	 * @param {(code: number, message: string) => Error} refuse makes the error of a protocol
	 */
	constructor(urlmode, refuse) {
		this.#urlmode = urlmode;
		this.#tasks = internalsOf(urlmode).tasks;
		this.#refuse = refuse;
	}

	/**
	 * Whether a call with these parameters can become a task.
	 *
	 * @param {unknown} parameters
	 */
	takes(parameters) {
		return canBeKept(parameters);
	}

	/**
	 * Keeps a call that waits.
	 *
	 * @param {Owner} owner
	 * @param {{ name: string, arguments?: unknown, responses?: { [key: string]: unknown } | undefined }} parameters of the call
	 * @param {TaskRound} round
	 * @param {Result} result that requires input
	 */
	async create(owner, { name, arguments: given, responses }, { awaited }, result) {
		if (!awaited) throw new TypeError('the call waits for nothing');
		const task = await this.#tasks.create(owner, awaited.elicitationId, {
			tool: name, arguments: given, responses, state: String(result.requestState), requests: result.inputRequests ?? {}, isOwn: true, text: awaited.text, kind: awaited.kind,
		});
		if (!task) throw new TypeError(TEXTS.taskOwner);
		const { inputRequests, ...seed } = detailsOf(task);
		return { ...seed, resultType: 'task' };
	}

	/**
	 * @param {unknown} id
	 * @param {Asking} asking
	 */
	async get(id, asking) {
		let task = await this.#find(id, asking);
		if (isRunnable(task)) {
			const running = finish(this.#urlmode, this.#run(task, asking));
			await Promise.race([running, sleep(TASK_WAIT_MS, undefined, { ref: false })]);
			task = await this.#find(id, asking);
		}
		const { elicitationId, isDue, isLeased, isUnread, status } = task;
		const look = looks.getStore();
		const confirm = isUnread ? () => this.#confirm(task) : undefined;
		// Who looks for a client that listens knows when that has it.
		if (look) Object.assign(look, { elicitationId: isDue ? undefined : elicitationId, owner: asking.owner, status, isBusy: isLeased || isRunnable(task), confirm });
		else if (confirm) void asking.written().then((written) => (written === 'written' ? confirm() : undefined));
		return detailsOf(task);
	}

	/**
	 * Its client has got it. What it may not have got is not delivered, and it is given it again.
	 *
	 * @param {Task} task
	 */
	async #confirm(task) {
		await finish(this.#urlmode, this.#tasks.confirm(task)).catch(() => {}); // The next one who reads it confirms it.
	}

	/**
	 * @param {unknown} id
	 * @param {unknown} responses
	 * @param {Asking} asking
	 */
	async update(id, responses, asking) {
		const task = await this.#find(id, asking);
		for (const [name, answer] of Object.entries(typeof responses === 'object' && responses ? responses : {})) {
			const key = outstanding(task).find((each) => keyIn(task, each) === name);
			const action = task.call.isOwn ? actionOf(answer) : 'any';
			// What nobody asks for, or has answered, is ignored.
			if (key === undefined || action === undefined) continue;
			if (!canBeKept(answer)) throw this.#refuse(RPC_INVALID_PARAMS, TEXTS.taskResponse);
			const isFirst = await this.#tasks.answer(task, key, answer);
			if (isFirst && task.call.isOwn) {
				await endAsk(/** @type {never} */ ({ urlmode: this.#urlmode, ...asking.owner }), asking.client, task.elicitationId, REFUSALS[action]?.answer ?? 'accepted');
			}
			task.answers.set(key, answer);
		}
		return {};
	}

	/**
	 * Ends the task alone. What its user has begun goes on, and the next call is given it.
	 *
	 * @param {unknown} id
	 * @param {Asking} asking
	 */
	async cancel(id, { owner }) {
		if (!await this.#tasks.cancel(this.#keyOf(id, owner))) throw this.#notFound();
		return {};
	}

	/**
	 * @param {unknown} id
	 * @param {Asking} asking
	 */
	async #find(id, { owner }) {
		const task = await this.#tasks.read(this.#keyOf(id, owner));
		if (!task) throw this.#notFound();
		return task;
	}

	/**
	 * @param {unknown} id
	 * @param {Owner} owner
	 */
	#keyOf(id, owner) {
		if (typeof id !== 'string' || !UUID.test(id)) throw this.#notFound();
		return this.#tasks.keyOf(owner, id);
	}

	/** Also that of another user. */
	#notFound() {
		return this.#refuse(RPC_INVALID_PARAMS, TEXTS.taskNotFound);
	}

	/**
	 * Runs the tool, which may take longer than the request that has begun it.
	 *
	 * @param {Task} task
	 * @param {Asking} asking
	 */
	async #run(task, asking) {
		const lease = await this.#tasks.begin(task);
		if (lease === 0) return;
		const renewal = setInterval(() => void this.#tasks.begin(task, lease).catch(() => {}), TASK_LEASE_MS / 3);
		const round = new Run();
		try {
			const answers = { ...task.call.responses, ...!task.call.isOwn && Object.fromEntries(task.answers) };
			const ended = await asking.run(task.call, answers, round).then((result) => ({ result }), (error) => ({ error }));
			await this.#keep(task, lease, round, this.#seal(task, round, ended)).catch((error) => {
				if (!isTooLarge(error)) throw error;
				return this.#keep(task, lease, round, this.#unkept(task));
			});
		} finally {
			clearInterval(renewal);
			round.end('lost');
		}
	}

	/**
	 * What is kept of a run. It may have returned anything, also what throws an error when it is read: that ends the task. Otherwise the
	 * next one who asks would run the tool again, and again.
	 *
	 * @param {Task} task
	 * @param {Run} round
	 * @param {{ result: Result } | { error: unknown }} ended
	 * @returns {Kept}
	 */
	#seal(task, round, ended) {
		try {
			const result = 'result' in ended ? { resultType: 'complete', ...ended.result } : undefined;
			if (result?.resultType !== 'input_required' && !round.isUndone) {
				const end = 'error' in ended ? { error: errorOf(ended.error) } : { result };
				return { end: this.#tasks.seal(task, end), answer: isErrorAnswer(end) ? 'failed' : 'kept' };
			}
			const next = result?.resultType === 'input_required' ? nextOf(task, round, result) : undefined;
			return { next: next && { elicitation: next.elicitationId, call: this.#tasks.seal(task, next.call) } };
		} catch {
			return this.#unkept(task);
		}
	}

	/** Nobody gets what the tool has returned, so that what it was made of stays claimable. @param {Task} task @returns {Kept} */
	#unkept(task) {
		return { end: this.#tasks.seal(task, { error: UNKEPT }), answer: 'lost' };
	}

	/**
	 * @param {Task} task
	 * @param {number} lease
	 * @param {Run} round
	 * @param {Kept} kept
	 */
	async #keep(task, lease, round, kept) {
		if ('end' in kept) {
			const isEnded = await this.#tasks.end(task, lease, kept.end, kept.answer === 'kept' ? round.claims : []);
			round.end(isEnded ? kept.answer : 'lost');
		} else await this.#tasks.continue(task, lease, kept.next);
	}
}

/** @param {unknown} error of PostgreSQL, where a value is larger than a row takes (SQLSTATE 22, 23 and 54) */
function isTooLarge(error) {
	return isDatabaseError(error) && UNSTORABLE_CLASSES.includes(error.code.slice(0, 2));
}

/**
 * A run of the tool of a task. Nobody waits for its answer. Its claims are confirmed by who reads what is kept of it.
 *
 * @implements {TaskRound}
 */
class Run {
	/** @type {TaskRound['awaited']} */
	awaited;
	isUndone = false;
	/** @type {import('../core/tasks.js').TaskClaim[]} */
	claims = [];
	/** @type {(answer: import('./answer.js').Written) => void} */
	end = () => {};
	/** @type {Promise<import('./answer.js').Written>} */
	#ended = new Promise((resolve) => {
		this.end = resolve;
	});

	/** @type {TaskRound['answer']} */
	answer = {
		signal: new AbortController().signal, isCut: () => false, isOwn: () => {},
		written: (claim) => {
			if (claim) this.claims.push(claim);
			return this.#ended;
		},
	};
}

/**
 * @param {Task} task
 * @param {Run} round
 * @param {Result} result that requires input
 * @returns {{ elicitationId: string, call: TaskCall } | undefined} undefined: it waits as before
 */
function nextOf({ call, elicitationId }, { awaited }, { requestState, inputRequests = {} }) {
	if (requestState === call.state) return undefined;
	const next = { ...call, state: String(requestState), requests: inputRequests };
	if (awaited) return { elicitationId: awaited.elicitationId, call: { ...next, isOwn: true, text: awaited.text, kind: awaited.kind } };
	return { elicitationId, call: Object.keys(inputRequests).length > 0 ? { ...next, isOwn: false, text: '' } : next };
}

/** @param {Task} task */
function isRunnable(task) {
	return task.isDue && !task.isLeased && (task.call.isOwn || outstanding(task).length === 0);
}

/**
 * What the client has not answered yet.
 *
 * @param {Task} task
 */
function outstanding({ state, call, answers }) {
	return state === 'open' ? Object.keys(call.requests).filter((key) => !answers.has(key)) : [];
}

/**
 * No key is used twice in the life of a task.
 *
 * @param {Task} task
 * @param {string} key
 */
function keyIn({ round }, key) {
	return `${round}.${key}`;
}

/** @param {Task} task */
function detailsOf(task) {
	const { key, call, createdAt, updatedAt, expiresAt } = task;
	const details = {
		taskId: key.id, createdAt: new Date(createdAt).toISOString(), lastUpdatedAt: new Date(updatedAt).toISOString(),
		ttlMs: expiresAt - createdAt, pollIntervalMs: TASK_POLL_MS, ...statusOf(task),
	};
	const keys = details.status === 'input_required' ? outstanding(task) : [];
	return { ...details, ...keys.length > 0 && { inputRequests: Object.fromEntries(keys.map((each) => [keyIn(task, each), call.requests[each]])) } };
}

/** @param {Task} task */
function statusOf(task) {
	const { state, withheld, call, status, isDue } = task;
	const result = withheld ? { result: { resultType: 'complete', ...failureResult('cancel', withheld) } } : task.result;
	if (state === 'cancelled') return { status: 'cancelled' };
	if (state === 'ended') return { status: result && 'error' in result ? 'failed' : 'completed', ...result };
	// Nobody needs to open what is being worked on.
	const isOpen = !call.isOwn || !isDue && status !== 'processing';
	const statusMessage = status === 'processing' ? progressMessage(call.kind, status) : isDue ? '' : call.text;
	return { status: isOpen && outstanding(task).length > 0 ? 'input_required' : 'working', ...statusMessage && { statusMessage } };
}

/** @param {unknown} answer */
function actionOf(answer) {
	const action = typeof answer === 'object' && answer !== null && 'action' in answer ? answer.action : undefined;
	return ACTIONS.find((known) => known === action);
}

/** @param {unknown} error of the protocol: what a tool throws is a result */
function errorOf(error) {
	const { code, message, data } = /** @type {{ code?: unknown, message?: unknown, data?: unknown }} */ (error ?? {});
	return { code: Number.isSafeInteger(code) ? code : RPC_INTERNAL_ERROR, message: String(message ?? 'Internal error'), ...data !== undefined && { data } };
}
