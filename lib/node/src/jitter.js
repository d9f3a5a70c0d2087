/**
 * Up to a quarter more or less, so that many processes do not act at once.
 *
 * @param {number} milliseconds
 */
export function jittered(milliseconds) {
	return milliseconds * (0.75 + Math.random() / 2);
}
