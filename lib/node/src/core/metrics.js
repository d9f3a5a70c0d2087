// What a process knows of its waits, for Prometheus (text format 0.0.4).

import { TEXTS } from './contract-texts.js';
import { WAIT_ENDS } from './contract-words.js';

/**
 * @param {unknown} error with which a wait rejects
 * @param {AbortSignal | undefined} signal
 */
function endOf(error, signal) {
	if (signal?.aborted && error === signal.reason) return 'aborted';
	const name = error instanceof Error ? error.name : '';
	return name === 'ElicitationTimeoutError' ? 'timeout' : name === 'UrlModeClosedError' ? 'closed' : 'error';
}

export class Metrics {
	#listener;
	#lost = 0;
	#ended = new Map(WAIT_ENDS.map((end) => [end, 0]));
	/** @type {Set<{ began: number }>} in the order in which they have begun */
	#open = new Set();

	/** @param {import('./listener.js').Listener} listener */
	constructor(listener) {
		this.#listener = listener;
		listener.on('lost', () => {
			this.#lost += 1;
		});
	}

	/**
	 * Counts a wait. A look without a wait (timeout 0) is none.
	 *
	 * @template {{ action: string }} T
	 * @param {Promise<T>} wait
	 * @param {number} timeout
	 * @param {AbortSignal | undefined} signal
	 * @returns {Promise<T>} the same wait
	 */
	follow(wait, timeout, signal) {
		if (timeout === 0) return wait;
		const open = { began: performance.now() };
		const end = (/** @type {string} */ name) => {
			this.#open.delete(open);
			this.#ended.set(name, (this.#ended.get(name) ?? 0) + 1);
		};
		this.#open.add(open);
		wait.then(({ action }) => end(action), (error) => end(endOf(error, signal)));
		return wait;
	}

	/** @returns {string} */
	text() {
		const [oldest] = this.#open;
		const age = oldest === undefined ? 0 : (performance.now() - oldest.began) / 1_000;
		return [
			...metric('waits', 'gauge', TEXTS.waitsMetric, [['', this.#open.size]]),
			...metric('oldest_wait_age_seconds', 'gauge', TEXTS.oldestWaitMetric, [['', age.toFixed(3)]]),
			...metric('waits_ended_total', 'counter', TEXTS.waitsEndedMetric,
				[...this.#ended].map(([end, count]) => [`{end="${end}"}`, count])),
			...metric('notifications_arrive', 'gauge', TEXTS.notificationsMetric,
				[['', Number(this.#listener.receivesNotifications)]]),
			...metric('connections_lost_total', 'counter', TEXTS.connectionsLostMetric,
				[['', this.#lost]]),
		].join('');
	}
}

/**
 * @param {string} name
 * @param {'gauge' | 'counter'} type
 * @param {string} help
 * @param {(string | number)[][]} values labels and value
 */
function metric(name, type, help, values) {
	const whole = `urlmode_server_${name}`;
	return [`# HELP ${whole} ${help}\n`, `# TYPE ${whole} ${type}\n`, ...values.map(([labels, value]) => `${whole}${labels} ${value}\n`)];
}
