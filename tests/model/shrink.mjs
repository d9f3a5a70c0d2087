// Makes a list that fails shorter (Zeller's ddmin): leaves out halves, quarters
// and so on, as long as what is left still fails.

/**
 * @template T
 * @param {T[]} list that fails
 * @param {(part: T[]) => Promise<boolean>} fails
 * @returns {Promise<T[]>} fails, but not without any single one of its elements
 */
export async function shrink(list, fails) {
	let size = Math.ceil(list.length / 2);

	for (;;) {
		let shorter = false;
		for (let start = 0; start < list.length;) {
			const part = [...list.slice(0, start), ...list.slice(start + size)];
			if (part.length > 0 && await fails(part)) {
				list = part;
				shorter = true;
			} else {
				start += size;
			}
		}
		if (!shorter && size === 1) return list;
		size = shorter ? size : Math.ceil(size / 2);
		size = Math.max(1, Math.min(size, list.length));
	}
}
