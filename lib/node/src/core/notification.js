// A notification of the database on its channel: one object, or an array of those
// of a statement. Anyone who can connect to the database can send such a text.

/**
 * @typedef {object} Notification
 * @property {string} id of an elicitation
 * @property {unknown} [status] of that elicitation
 * @property {unknown} [late] true: a payment was proved after its end
 * @property {unknown} [refunded] true: money went back, or came again
 * @property {unknown} [outcome] sealed, in base64
 *
 * @param {string} payload
 * @returns {Notification[]} empty if it is another text
 */
export function parseNotifications(payload) {
	let value;
	try {
		value = JSON.parse(payload);
	} catch {
		return [];
	}
	return (Array.isArray(value) ? value : [value]).filter((each) => typeof each?.id === 'string');
}
