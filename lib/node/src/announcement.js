// What the database announces on its channel: one object, or an array of those
// of a statement. Anyone who can connect to the database can send such a text.

/**
 * @typedef {object} Announcement
 * @property {string} id of an elicitation
 * @property {boolean} late a payment was proved after its end
 * @property {string | undefined} outcome sealed, in base64
 *
 * @param {string} payload
 * @returns {Announcement[]} empty if it is another text
 */
export function parseAnnouncements(payload) {
	let value;
	try {
		value = JSON.parse(payload);
	} catch {
		return [];
	}
	return (Array.isArray(value) ? value : [value])
		.filter((each) => typeof each?.id === 'string')
		.map(({ id, late, outcome }) => ({ id, late: late === true, outcome: typeof outcome === 'string' ? outcome : undefined }));
}
