// Random numbers that a seed repeats (mulberry32).

export class Random {
	#state;

	/** @param {number} seed */
	constructor(seed) {
		this.#state = seed >>> 0;
	}

	/** From 0 to below 1. */
	number() {
		this.#state = (this.#state + 0x6d2b79f5) >>> 0;
		let mixed = this.#state;
		mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	}

	chance(probability) {
		return this.number() < probability;
	}

	pick(list) {
		return list[Math.floor(this.number() * list.length)];
	}

	/** A key of `weights`, as often as its number says. */
	weighted(weights) {
		let rest = this.number() * Object.values(weights).reduce((sum, weight) => sum + weight, 0);
		for (const [key, weight] of Object.entries(weights)) {
			rest -= weight;
			if (rest < 0) return key;
		}
		return Object.keys(weights)[0];
	}
}
