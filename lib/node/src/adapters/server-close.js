// The end of a session in the official SDKs, whose server has one `onclose`.

/** @typedef {{ onclose?: (() => void) | undefined }} Closing the used part of the SDKs' Server */

/** @type {WeakMap<Closing, Set<() => void>>} */
const closeWatchers = new WeakMap();

/**
 * @param {Closing} server
 * @param {() => void} watcher called when the session is closed
 * @returns {() => void} removes the watcher
 */
export function onClose(server, watcher) {
	let watchers = closeWatchers.get(server);
	if (!watchers) {
		const all = new Set();
		const previous = server.onclose;
		server.onclose = () => {
			for (const each of all) each();
			previous?.();
		};
		closeWatchers.set(server, all);
		watchers = all;
	}
	watchers.add(watcher);
	return () => watchers.delete(watcher);
}
