// Tells the client of a session that an elicitation is completed, once, whichever
// of its calls has asked, and also after the end of that call.

/** @typedef {import('./types.js').Session} Session */

/** @type {WeakMap<object, Map<string, 'waiting' | 'told'>>} the elicitations of each session */
const sessions = new WeakMap();

/** @param {Session} session */
function elicitationsOf({ key }) {
	const known = sessions.get(key) ?? new Map();
	sessions.set(key, known);
	return known;
}

/**
 * @param {Session | undefined} session
 * @param {string} id
 * @param {() => Promise<unknown>} tell
 */
export async function notifyOnce(session, id, tell) {
	const known = session && elicitationsOf(session);
	if (known?.get(id) === 'told') return;
	known?.set(id, 'told');
	// The client's next call says the same.
	await tell().catch(() => {});
}

/**
 * Waits independently of any call, until the session ends.
 *
 * @param {import('../urlmode.js').UrlMode} urlmode
 * @param {Session} session
 * @param {string} id
 * @param {import('../types.js').Owner & Pick<import('../types.js').WaitOptions, 'recheck'>} options
 */
export async function notifyWhenCompleted(urlmode, session, id, options) {
	const known = elicitationsOf(session);
	if (known.has(id)) return;
	known.set(id, 'waiting');
	const closing = new AbortController();
	const stopWatching = session.onClose(() => closing.abort());
	try {
		await urlmode.waitForCompletion(id, { ...options, timeout: Infinity, signal: closing.signal });
		await notifyOnce(session, id, () => session.notify(id));
	} catch {
		// The session has ended, or the UrlMode was closed.
	} finally {
		stopWatching();
	}
}
