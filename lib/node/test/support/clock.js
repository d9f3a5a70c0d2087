// Time that passes for timers while PostgreSQL answers in its own time.

const TICK_MS = 250;
/** Turns of the event loop that bytes need from one socket of this process to another. */
const TURNS = 5;

/**
 * From now on the test alone says how time passes for timers. It does not pass while PostgreSQL owes an answer, because
 * on a busy machine each time limit would be over before the answer comes.
 *
 * @param {import('./proxy.js').Proxy} proxy to which all connections go for which timers matter
 * @returns {(seconds: number) => Promise<void>} lets so much time pass
 */
export function playTimers(t, proxy) {
	t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
	const answered = async () => {
		for (let quiet = 0; quiet < TURNS; quiet = proxy.isAsked ? 0 : quiet + 1) await new Promise(setImmediate);
	};
	return async (seconds) => {
		for (let passed = 0; passed < seconds * 1_000; passed += TICK_MS) {
			await answered();
			t.mock.timers.tick(TICK_MS);
		}
		await answered();
	};
}
