import { median } from './statistics.mjs';

/** What was measured: for each name the figures of every repeat. */
export class Results {
	#all = new Map();

	/**
	 * @param {string} name
	 * @param {Record<string, number>} figures
	 */
	add(name, figures) {
		if (!this.#all.has(name)) this.#all.set(name, []);
		this.#all.get(name).push(figures);
	}

	has(...names) {
		return names.every((name) => this.#all.has(name));
	}

	/** A figure of every repeat. */
	each(name, figure) {
		return this.#all.get(name).map((figures) => figures[figure]);
	}

	median(name, figure) {
		return median(this.each(name, figure));
	}

	/** The median of the ratios within each repeat. */
	ratio([above, aboveFigure], [below, belowFigure]) {
		const dividends = this.each(above, aboveFigure);
		const divisors = this.each(below, belowFigure);
		return median(dividends.map((value, n) => value / divisors[Math.min(n, divisors.length - 1)]));
	}

	toJSON() {
		return Object.fromEntries(this.#all);
	}
}
