// All waits of a process, over as few calls of `wait` as possible.
//
// A call asks for up to a thousand elicitations, and is answered when one of them has moved beyond what was seen of
// it. When another one is waited for, the call is made again with all of them. So that a thousand are not repeated
// each time, a call that has many is left alone: others get a call of their own, until these are many as well and
// join it.
//
// A call that is made again before its answer may have been answered with a lease, which would be lost: nobody could be
// asked until it ends. Therefore leases are asked for by calls of their own, which do not wait: when something begins or
// has moved, and at intervals, because an event that asks for a recheck moves nothing.

import { ElicitationNotFoundError, ElicitationSealError, UrlModeBusyError, UrlModeClosedError, UrlModeUnavailableError } from '../core/errors.js';
import { jittered } from '../core/jitter.js';
import { pause } from '../core/runtime.js';
import { Wait } from '../core/wait.js';
import { toOutcome } from './outcome.js';

/** As many as the api takes in one call, and for how long it keeps the call. */
const OF_MAX = 1_000;
const FOR_MS = 55_000;
/** How long an answer may be on its way. */
const ANSWER_MS = 10_000;
/** From so many on a call is left alone. */
const MANY = 50;
const RETRY_MS = 500;
/** How often leases are asked for. */
const LEASES_MS = 2_000;

/**
 * @typedef {import('./api.js').Members} Members
 * @typedef {{ subject: string, session: string }} Owner
 *
 * @typedef {Pick<import('./questions.js').Questions, 'answer'>} Questions what the server is asked back
 */

/** An elicitation, and the waits of its owner. */
export class Entry {
	/** @type {Set<Wait>} */
	waits = new Set();
	/** What was seen of it. @type {string | undefined} */
	seen;
	/** Empty until it is known. */
	provider = '';
	#asked;

	/**
	 * @param {string} id
	 * @param {Owner} owner
	 * @param {Map<string, string>} asked the status, by name, when the server began to be asked back, also for waits that have ended
	 */
	constructor(id, owner, asked) {
		this.id = id;
		this.owner = owner;
		this.#asked = asked;
		this.name = JSON.stringify([id, owner.subject, owner.session]);
	}

	get askedOn() {
		return this.#asked.get(this.name);
	}

	/** The function of a wait that may be called now. */
	get recheck() {
		return [...this.waits].map((wait) => wait.recheckOf(this.provider)).find((recheck) => recheck !== undefined);
	}

	get verify() {
		return [...this.waits].map(({ verify }) => verify).find((verify) => verify !== undefined);
	}

	/** What the server can be asked. */
	get can() {
		return this.askedOn ? [] : [...this.verify ? ['check'] : [], ...this.recheck ? ['recheck'] : []];
	}

	/** As the api takes it. */
	toElement(can = /** @type {string[]} */ ([])) {
		return { id: this.id, ...this.owner, ...can.length > 0 ? { can } : { seen: this.seen } };
	}
}

/** @param {unknown} error of a call of the api */
const isAway = (error) => error instanceof UrlModeUnavailableError || error instanceof UrlModeBusyError;

export class Waits {
	#api;
	#questions;
	/** @type {Map<string, Entry>} by id and owner */
	#entries = new Map();
	/** @type {Ask[]} */
	#asks = [];
	/** @type {Set<Wait>} */
	#waits = new Set();
	/** What may have a lease. @type {Set<Entry>} */
	#fresh = new Set();
	/** @type {Map<string, string>} */
	#asked = new Map();
	/** @type {import('../core/runtime.js').Timer | undefined} */
	#leases;
	#isClosed = false;

	/**
	 * @param {import('./api.js').Api} api
	 * @param {Questions} questions
	 */
	constructor(api, questions) {
		this.#api = api;
		this.#questions = questions;
	}

	get size() {
		return this.#waits.size;
	}

	/**
	 * @param {string} id
	 * @param {Owner} owner
	 * @param {import('../core/wait.js').WaitOptions} options
	 * @returns {Promise<import('../core/types.js').Outcome>}
	 */
	wait(id, owner, options) {
		const made = new Entry(id, owner, this.#asked);
		const { name } = made;
		const entry = options.timeout === 0 ? made : this.#entries.get(name) ?? made;
		const wait = new Wait(id, options, () => {
			this.#waits.delete(wait);
			entry.waits.delete(wait);
			if (entry.waits.size > 0 || this.#entries.get(name) !== entry) return;
			this.#entries.delete(name);
			this.#asks.find((ask) => ask.delete(entry));
		});
		this.#waits.add(wait);
		entry.waits.add(wait);
		if (wait.checksOnce) {
			void this.#look(entry, wait);
			return wait.promise;
		}
		const isNew = entry.waits.size === 1;
		this.#entries.set(name, entry);
		// It hears of what was seen before it began.
		entry.seen = undefined;
		const ask = isNew ? this.#askFor(entry) : this.#asks.find((each) => each.has(entry));
		ask?.restart();
		this.#askForLease(entry);
		return wait.promise;
	}

	/** @param {UrlModeClosedError} error */
	async close(error) {
		this.#isClosed = true;
		clearTimeout(this.#leases);
		await Promise.all([...this.#waits].map((wait) => wait.end('closed', error)));
	}

	/**
	 * Shows an elicitation to its waits.
	 *
	 * @param {Entry} entry
	 * @param {Members} shown
	 * @param {boolean} [isLease] whether a lease was asked for
	 */
	show(entry, shown, isLease = false) {
		const waits = [...entry.waits];
		if (shown.error !== undefined) {
			const error = shown.error === 'not_found' ? new ElicitationNotFoundError(entry.id)
				: new ElicitationSealError(entry.id, 'the log of the api says why');
			for (const wait of waits) wait.reject(error);
			return;
		}
		if (!isLease) entry.seen = shown.seen;
		entry.provider = shown.provider;
		// What was paid may have gone back: the provider may have to be asked first.
		if (!isLease && this.#askForLease(entry) && shown.status === 'completed') return;
		if ((shown.check || shown.recheck) && !entry.askedOn) void this.#answer(entry, shown);
		for (const wait of waits) {
			// What was paid may have gone back, which the provider is just being asked.
			if (entry.askedOn === 'completed' && wait.recheckOf(shown.provider)) continue;
			wait.observe(/** @type {never} */ (shown));
			if (shown.status === 'completed') wait.resolve(toOutcome(structuredClone(shown)));
			else wait.progress(shown.status, shown.failed_attempts);
		}
	}

	/**
	 * @param {Entry} entry
	 * @param {Members} shown
	 */
	async #answer(entry, shown) {
		/** @param {unknown} error */
		const fail = (error) => {
			if (shown.status !== 'completed') for (const wait of entry.waits) wait.reject(error);
		};
		try {
			const end = await this.#ask(entry, shown);
			if ('error' in end) fail(end.error);
		} catch (error) {
			// While the api is away the waits go on, and somebody is asked again.
			if (!isAway(error)) fail(error);
		} finally {
			// It is shown also if it has not moved, to the waits that there are now.
			this.#askForLease(this.#entries.get(entry.name) ?? entry);
		}
	}

	/**
	 * @param {Entry} entry
	 * @param {Members} shown
	 */
	async #ask(entry, shown) {
		this.#asked.set(entry.name, shown.status);
		try {
			return await this.#questions.answer(entry, shown);
		} finally {
			this.#asked.delete(entry.name);
		}
	}

	/**
	 * @param {Entry} entry
	 * @returns {boolean} whether there is something that the server can be asked
	 */
	#askForLease(entry) {
		if (entry.can.length === 0) return false;
		this.#fresh.add(entry);
		// What begins in this turn is asked for together.
		if (this.#fresh.size === 1) queueMicrotask(() => void this.#askForLeases([...this.#fresh]));
		return true;
	}

	/** @param {Entry[]} entries */
	async #askForLeases(entries) {
		this.#fresh.clear();
		clearTimeout(this.#leases);
		// One that is being asked would drop a second lease, and nobody else could have it.
		const asked = entries.filter(({ can, waits, askedOn }) => can.length > 0 && waits.size > 0 && askedOn === undefined);
		for (let at = 0; at < asked.length && !this.#isClosed; at += OF_MAX) {
			const some = new Map(asked.slice(at, at + OF_MAX).map((entry) => [entry.id, entry]));
			const of = [...some.values()].map((entry) => entry.toElement(entry.can));
			// What waits for the same tells of a failure.
			const { elicitations } = await this.#api.call('wait', { of, for_ms: 0 }).catch(() => ({ elicitations: [] }));
			for (const shown of elicitations) this.show(/** @type {Entry} */ (some.get(shown.id)), shown, true);
		}
		if (this.#isClosed || ![...this.#entries.values()].some(({ can }) => can.length > 0)) return;
		clearTimeout(this.#leases);
		this.#leases = setTimeout(() => void this.#askForLeases([...this.#entries.values()]), jittered(LEASES_MS));
	}

	/**
	 * Looks once, and once more where the look had the server asked back.
	 *
	 * @param {Entry} entry
	 * @param {Wait} wait
	 */
	async #look(entry, wait) {
		try {
			for (let can = entry.can, isAnswered = false; ;) {
				const { elicitations: [shown] } = await this.#api.call('wait', { of: [entry.toElement(can)], for_ms: 0 });
				entry.provider = shown.provider ?? '';
				if (shown.check || shown.recheck) {
					const end = await this.#ask(entry, shown).catch((error) => ({ error }));
					if ('error' in end && shown.status !== 'completed') throw end.error;
					wait.rechecked ||= shown.recheck !== undefined;
					[can, isAnswered] = [[], true];
				} else if (!isAnswered && entry.can.length > can.length) {
					can = entry.can;
				} else {
					this.show(entry, shown, true);
					break;
				}
			}
			wait.timeOut();
		} catch (error) {
			wait.reject(error);
		}
	}

	/** @param {Entry} entry that has no call yet */
	#askFor(entry) {
		const takes = (/** @type {Ask} */ ask) => !ask.hasId(entry.id) && ask.size < OF_MAX;
		let ask = this.#asks.find((each) => takes(each) && each.size < MANY);
		if (!ask) {
			ask = new Ask(this.#api, (shown, its) => this.show(its, shown), () => {
				this.#asks = this.#asks.filter((each) => each !== ask);
			});
			this.#asks.push(ask);
		}
		ask.add(entry);
		if (ask.size >= MANY) this.#join(ask);
		return ask;
	}

	/**
	 * Moves what a call has to an earlier one that has room for it.
	 *
	 * @param {Ask} ask
	 */
	#join(ask) {
		const { entries } = ask;
		const into = this.#asks.find((each) => each !== ask && each.size >= MANY && each.size + entries.length <= OF_MAX
			&& entries.every(({ id }) => !each.hasId(id)));
		if (!into) return;
		for (const entry of entries) {
			ask.delete(entry);
			into.add(entry);
		}
		into.restart();
	}
}

/** A call that is made again and again, as long as something is waited for in it. */
class Ask {
	#api;
	#onShown;
	#onEnd;
	/** @type {Map<string, Entry>} by id */
	#entries = new Map();
	/** Ends the call that is parked, to make it again. @type {AbortController | undefined} */
	#parked;
	#isRunning = false;

	/**
	 * @param {import('./api.js').Api} api
	 * @param {(shown: Members, entry: Entry) => void} onShown
	 * @param {() => void} onEnd
	 */
	constructor(api, onShown, onEnd) {
		this.#api = api;
		this.#onShown = onShown;
		this.#onEnd = onEnd;
	}

	get size() {
		return this.#entries.size;
	}

	get entries() {
		return [...this.#entries.values()];
	}

	/** @param {string} id */
	hasId(id) {
		return this.#entries.has(id);
	}

	/** @param {Entry} entry */
	has(entry) {
		return this.#entries.get(entry.id) === entry;
	}

	/** @param {Entry} entry */
	add(entry) {
		this.#entries.set(entry.id, entry);
	}

	/** @param {Entry} entry */
	delete(entry) {
		const had = this.has(entry) && this.#entries.delete(entry.id);
		// The connection is not kept for nobody.
		if (had && this.size === 0) this.#parked?.abort();
		return had;
	}

	/** Makes the call with what is to be waited for now. */
	restart() {
		if (this.#isRunning) this.#parked?.abort();
		else void this.#run();
	}

	async #run() {
		this.#isRunning = true;
		// What begins in this turn is asked for together.
		await undefined;
		try {
			while (this.size > 0) await this.#call();
		} catch (error) {
			for (const entry of this.entries) for (const wait of entry.waits) wait.reject(error);
		}
		this.#isRunning = false;
		this.#onEnd();
	}

	async #call() {
		const parked = this.#parked = new AbortController();
		const of = this.entries.map((entry) => entry.toElement());
		try {
			const { elicitations } = await this.#api.call('wait', { of, for_ms: FOR_MS }, {
				answerMs: FOR_MS + ANSWER_MS, triesMs: Infinity, signal: parked.signal,
			});
			for (const shown of elicitations) {
				const entry = this.#entries.get(shown.id);
				if (entry) this.#onShown(shown, entry);
			}
		} catch (error) {
			if (error instanceof UrlModeClosedError) throw error;
			if (parked.signal.aborted) return;
			if (!isAway(error)) throw error;
			await pause(jittered(RETRY_MS), parked.signal);
		}
	}
}
