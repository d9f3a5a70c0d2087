// Tells the client that has asked its user that the elicitation is completed: once
// in each session, also after the end of the call.

import { NOTICES_MAX } from '../core/contract-limits.js';
import { ownerOf } from './asking.js';
import { onClose } from './server-close.js';

/** @typedef {import('./types.js').Session} Session */


/** @type {WeakMap<object, Map<string, Notice>>} by session and elicitation */
const sessions = new WeakMap();

/**
 * @param {Session | undefined} session without one, the notice is for a single call
 * @param {string} id of an elicitation
 * @returns {Notice}
 */
export function noticeOf(session, id) {
	/** @type {Map<string, Notice>} */
	const notices = sessions.get(session ?? {}) ?? new Map();
	const notice = notices.get(id) ?? new Notice(id);
	if (!session) return notice;
	sessions.set(session, notices.set(id, notice));
	if (notices.size > NOTICES_MAX) notices.delete(/** @type {string} */ (notices.keys().next().value));
	return notice;
}

class Notice {
	#id;
	#reported = false;
	#watched = false;

	/** @param {string} id */
	constructor(id) {
		this.#id = id;
	}

	/** @param {() => Promise<unknown>} report */
	async send(report) {
		if (this.#reported) return;
		this.#reported = true;
		// The client's next call says the same.
		await report().catch(() => {});
	}

	/**
	 * Waits independently of any call, until the session ends.
	 *
	 * @param {import('./types.js').AnyElicitOptions} options
	 * @param {Session} session
	 */
	async sendWhenCompleted(options, session) {
		const { urlmode, recheck, verify } = options;
		if (this.#watched || this.#reported || !session.transport) return;
		this.#watched = true;
		const closing = new AbortController();
		const stopWatching = onClose(session, () => closing.abort());
		// The SDKs' transport over stdio does not close when its client has.
		session.transport._stdin?.once('end', () => closing.abort());
		try {
			await urlmode.waitForCompletion(this.#id, { ...ownerOf(options), recheck, verify, timeout: Infinity, signal: closing.signal });
			await this.send(() => sendCompletion(session, this.#id));
		} catch {
			// The session has ended, or the UrlMode was closed.
		} finally {
			stopWatching();
		}
	}
}

/**
 * By the transport itself, because the SDKs refuse to notify a client that does
 * not declare what the option `clients` says of it. What nobody listens to is
 * kept by the transport's event store, or dropped.
 *
 * @param {Session} session
 * @param {string} elicitationId
 * @param {string | number} [relatedRequestId] the call in whose stream it is sent
 */
export async function sendCompletion({ transport }, elicitationId, relatedRequestId) {
	await transport?.send({ jsonrpc: '2.0', method: 'notifications/elicitation/complete', params: { elicitationId } },
		{ ...relatedRequestId !== undefined && { relatedRequestId } });
}
