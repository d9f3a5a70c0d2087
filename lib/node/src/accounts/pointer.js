// JSON pointers (RFC 6901).

/**
 * @param {unknown} document
 * @param {string} pointer
 * @returns {unknown} undefined if there is nothing
 */
export function findIn(document, pointer) {
	let found = document;
	for (const step of pointer.split('/').slice(1)) {
		const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
		if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined;
		found = /** @type {Record<string, unknown>} */ (found)[name];
	}
	return found;
}

/**
 * @param {unknown} document
 * @param {string | undefined} pointer
 * @returns {string | undefined} a text or a whole number, as text
 */
export function findText(document, pointer) {
	const found = pointer === undefined ? undefined : findIn(document, pointer);
	if (typeof found === 'string') return found === '' ? undefined : found;
	return Number.isSafeInteger(found) ? String(found) : undefined;
}
