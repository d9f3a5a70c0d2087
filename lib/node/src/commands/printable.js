/**
 * A text from elsewhere on one line of a terminal, without control characters.
 *
 * @param {string} text
 */
export function printable(text) {
	return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}
