/**
 * Changes an interval by up to a quarter, at random, so that many processes
 * do not act at the same moment.
 *
 * @param {number} milliseconds
 */
export function jittered(milliseconds) {
	return milliseconds * (0.75 + Math.random() / 2);
}
