// lynq: its waits are a Map in one process, and a callback that reaches
// another never ends them. Here the row ends them: on completion the session
// gets its value, and then the wait is released; after a refusal it is
// released alone, and lynq finds the value missing.
//
// Written against lynq's documented interface.

import { AsyncLocalStorage } from 'node:async_hooks';

import { link } from './link.js';
import { claim, lookAt, openElicitation, ownerOf, resumeKeyOf } from './open.js';
import { push } from './push.js';
import { linkInWords } from './words.js';

/**
 * @typedef {import('./types.js').Asked} Asked
 * @typedef {import('./types.js').Accepted} Accepted
 * @typedef {import('./types.js').ToolResult} ToolResult
 *
 * @typedef {object} ServerLike what is used of lynq's MCPServer
 * @property {(sessionId: string) => SessionLike} session
 * @property {(elicitationId: string) => void} completeElicitation
 *
 * @typedef {object} SessionLike
 * @property {(key: string) => unknown} get
 * @property {(key: string, value: unknown) => void} set
 *
 * @typedef {object} ContextLike what is used of lynq's ToolContext
 * @property {string} sessionId
 * @property {AbortSignal} signal
 * @property {SessionLike} session
 * @property {{ url(message: string, url: string, options: UrlOptions): Promise<{ action: import('../types.js').Action }>
 *     }} elicit
 *
 * @typedef {{ elicitationId: string, waitForCompletion: boolean, timeout: number }} UrlOptions
 *
 * @typedef {import('./types.js').AskOptions & { c: ContextLike }} ElicitOptions `c` is what the tool's handler is
 *     called with, beside its arguments
 *
 * @typedef {Omit<import('./types.js').AskOptions, 'subject' | 'session' | 'id'> & WayOnly} WayOptions
 * @typedef {object} WayOnly
 * @property {(sessionId: string) => string | Promise<string>} subject who the server's own authorization says the user
 *     of a session is
 * @property {string} sessionKey as urlAction has it: `user` for oauth(), `payment` for payment()
 * @property {(accepted: Accepted) => unknown} [value] what the session gets under that key, perhaps a promise of it:
 *     the result by default, or true where there is none
 * @property {(error: unknown) => void} [onError] what `value` threw, or the wait; the tool is released without a value
 *
 * @typedef {object} Way
 * @property {(params: { sessionId: string, elicitationId: string }) => Promise<string>} buildUrl for oauth(), payment()
 *     and urlAction()
 * @property {Middleware} resume put it before them: a call goes on with what an earlier one began, a client that
 *     cannot be sent to a URL gets the link in words, and what nobody waits for any more says so in its row
 *
 * @typedef {object} Middleware
 * @property {string} name
 * @property {(c: ContextLike, next: () => Promise<CallResult>) => Promise<CallResult>} onCall
 *
 * @typedef {{ content: { type: 'text', text: string }[], isError?: boolean }} CallResult
 */

const TIMEOUT_MS = 300_000;

/**
 * `c.elicit.url`, with an elicitation of ours and its outcome.
 *
 * @param {ServerLike} server
 * @param {ElicitOptions} options
 * @returns {Promise<Asked>}
 */
export async function elicitUrl(server, { c, ...options }) {
	const call = { signal: c.signal, progress: undefined };
	try {
		return await push(options, {
			...call,
			isGone: () => false,
			elicit({ elicitationId, message, url }, { signal, timeout }) {
				// There is no other way to end a wait of lynq's from outside.
				signal.addEventListener('abort', () => server.completeElicitation(elicitationId), { once: true });
				return c.elicit.url(message, url, { elicitationId, waitForCompletion: true, timeout });
			},
			complete: async (elicitationId) => server.completeElicitation(elicitationId),
		});
	} catch (error) {
		if (!isUnsupported(error)) throw error;
		return link(options, call);
	}
}

/**
 * What oauth(), payment() and urlAction() need to wait for one kind of
 * elicitation.
 *
 * @param {ServerLike} server
 * @param {WayOptions} options
 * @returns {Way}
 */
export function urlWay(server, options) {
	const way = new LynqWay(server, options);
	return {
		buildUrl: (params) => way.buildUrl(params),
		resume: { name: `urlmode:${options.provider}`, onCall: (c, next) => way.onCall(c, next) },
	};
}

/**
 * @typedef {object} Visit of one call
 * @property {import('./types.js').AskOptions} asking
 * @property {import('../types.js').Elicitation | undefined} elicitation
 * @property {AbortController} ended
 */

class LynqWay {
	#server;
	#options;
	/** @type {AsyncLocalStorage<Visit>} */
	#visits = new AsyncLocalStorage();

	/**
	 * @param {ServerLike} server
	 * @param {WayOptions} options
	 */
	constructor(server, options) {
		this.#server = server;
		this.#options = options;
	}

	/** @param {{ sessionId: string, elicitationId: string }} params */
	async buildUrl({ sessionId, elicitationId }) {
		const visit = this.#visits.getStore();
		const asking = visit?.asking ?? await this.#asking(sessionId);
		const elicitation = visit?.elicitation ?? await openElicitation({ ...asking, id: elicitationId });
		// Their id is only how lynq knows this wait; ours may be one that goes on.
		void this.#wait(asking, elicitation, { sessionId, elicitationId, signal: visit?.ended.signal });
		return elicitation.url;
	}

	/**
	 * @param {ContextLike} c
	 * @param {() => Promise<CallResult>} next
	 */
	async onCall(c, next) {
		const { sessionKey } = this.#options;
		if (c.session.get(sessionKey)) return next();
		const asking = await this.#asking(c.sessionId);
		const elicitation = await openElicitation(asking, resumeKeyOf(asking));
		const outcome = elicitation.resumed ? await lookAt(asking, elicitation.elicitationId) : undefined;
		if (outcome) {
			const asked = await claim(asking, outcome, elicitation);
			if (asked.action !== 'accept') return asked.toolResult;
			c.session.set(sessionKey, await this.#valueOf(asked));
			return next();
		}
		return this.#visit(c, next, { asking, elicitation, ended: new AbortController() });
	}

	/**
	 * @param {ContextLike} c
	 * @param {() => Promise<CallResult>} next
	 * @param {Visit & { elicitation: import('../types.js').Elicitation }} visit
	 */
	async #visit(c, next, visit) {
		const { urlmode, message } = visit.asking;
		const { elicitationId } = visit.elicitation;
		let reason = 'refused';
		const onAbort = () => visit.ended.abort(c.signal.reason);
		c.signal.addEventListener('abort', onAbort, { once: true });
		try {
			return await this.#visits.run(visit, next);
		} catch (error) {
			if (isUnsupported(error)) {
				reason = '';
				return linkInWords(message, visit.elicitation);
			}
			reason = isTimeout(error) ? 'timeout' : 'failed';
			throw error;
		} finally {
			c.signal.removeEventListener('abort', onAbort);
			if (c.signal.aborted) reason = 'aborted';
			visit.ended.abort();
			// One that was completed stays as it is.
			const action = reason === 'refused' ? 'decline' : 'cancel';
			if (reason) await urlmode.abandon(elicitationId, { ...ownerOf(visit.asking), action, reason }).catch(() => {});
		}
	}

	/**
	 * @param {import('./types.js').AskOptions} asking
	 * @param {import('../types.js').Elicitation} elicitation
	 * @param {{ sessionId: string, elicitationId: string, signal: AbortSignal | undefined }} theirs
	 */
	async #wait(asking, elicitation, { sessionId, elicitationId, signal }) {
		const { urlmode, timeout = asking.ttl ?? TIMEOUT_MS, recheck } = asking;
		try {
			const outcome = await urlmode.waitForCompletion(elicitation.elicitationId, {
				...ownerOf(asking), timeout, signal, recheck,
			});
			const asked = await claim(asking, outcome, elicitation);
			if (asked.action === 'accept') {
				this.#server.session(sessionId).set(this.#options.sessionKey, await this.#valueOf(asked));
			}
		} catch (error) {
			if (!signal?.aborted) this.#options.onError?.(error);
		}
		this.#server.completeElicitation(elicitationId);
	}

	/** @param {Accepted} accepted */
	async #valueOf(accepted) {
		return this.#options.value ? this.#options.value(accepted) : accepted.result ?? true;
	}

	/**
	 * @param {string} sessionId
	 * @returns {Promise<import('./types.js').AskOptions>}
	 */
	async #asking(sessionId) {
		return { ...this.#options, subject: await this.#options.subject(sessionId) };
	}
}

/** @param {unknown} error the SDK's, of a client without the capability */
function isUnsupported(error) {
	return error instanceof Error && /does not support url elicitation/i.test(error.message);
}

/** @param {unknown} error */
function isTimeout(error) {
	return error instanceof Error && error.message === 'Elicitation timed out';
}
