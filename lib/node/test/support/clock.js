// Time that passes for timers while PostgreSQL answers in its own time.

import pg from 'pg';

const TICK_MS = 250;
/** Turns of the event loop that it takes from a timer to the statement that follows. */
const TURNS = 5;

/**
 * From now on the test alone says how time passes for timers. It does not pass while a client waits for an answer that
 * will come, because on a busy machine each time limit would be over before.
 *
 * @param {{ isSilent: (port: number) => boolean }} proxy
 * @returns {(seconds: number) => Promise<void>} lets so much time pass
 */
export function playTimers(t, proxy) {
	/** @type {Set<{ client: any }>} */
	const asked = new Set();
	for (const name of ['connect', 'query']) {
		const original = pg.Client.prototype[name];
		t.mock.method(pg.Client.prototype, name, function (...values) {
			const call = { client: this };
			const end = () => asked.delete(call);
			const callback = values.at(-1);
			if (typeof callback === 'function') values[values.length - 1] = (...answer) => (end(), callback(...answer));
			asked.add(call);
			const answer = original.apply(this, values);
			answer?.then?.(end, end);
			return answer;
		});
	}
	t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
	const isOwed = () => [...asked].some(({ client }) => !proxy.isSilent(client.connection.stream.localPort));
	const answered = async () => {
		for (let quiet = 0; quiet < TURNS; quiet = isOwed() ? 0 : quiet + 1) await new Promise(setImmediate);
	};
	return async (seconds) => {
		for (let passed = 0; passed < seconds * 1_000; passed += TICK_MS) {
			await answered();
			t.mock.timers.tick(TICK_MS);
		}
		await answered();
	};
}
