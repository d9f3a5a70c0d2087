// Where there is no Node.js: nobody says with which response a call is answered.

/** @returns {undefined} */
export function connectionOfCall() {
	return undefined;
}

/** @template T */
export class CallContext {
	/** @returns {T | undefined} */
	getStore() {
		return undefined;
	}

	/**
	 * @template R
	 * @param {T} _
	 * @param {() => R} work
	 * @returns {R}
	 */
	run(_, work) {
		return work();
	}
}
