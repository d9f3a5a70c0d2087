// The events of a UrlMode in OpenTelemetry, whose API is given: nothing of it is imported here.

/**
 * @typedef {Record<string, string>} Attributes
 * @typedef {{ elicitationId: string, provider: string, kind?: string, action?: string, reason?: string }} Event
 *
 * @typedef {object} Trace what is used of the `trace` that OpenTelemetry's API has
 * @property {() => { addEvent(name: string, attributes: Attributes): unknown } | undefined} getActiveSpan the span of the call
 * @property {(name: string) => { startSpan(name: string, options: { attributes: Attributes }): { end(): void } }} getTracer for spans of their own
 */

const OF_A_CALL = ['created', 'opened', 'processing', 'completed'];
const OF_NO_CALL = ['late', 'refunded'];

/**
 * From now on, what happens in a call is an event of its span, such as `urlmode.completed`. A late payment and a refund belong to no
 * call, and are spans of their own. None contains a subject, an address or a result.
 *
 * @param {{ on(name: never, listener: (event: never) => void): unknown }} urlmode on PostgreSQL, or over HTTP
 * @param {Trace} trace the `trace` of OpenTelemetry's API
 */
export function spanEvents(urlmode, trace) {
	const on = (/** @type {string} */ name, /** @type {(event: Event) => void} */ report) => urlmode.on(/** @type {never} */ (name), report);
	for (const name of OF_A_CALL) on(name, (event) => trace.getActiveSpan()?.addEvent(`urlmode.${name}`, attributesOf(event)));
	const tracer = trace.getTracer('urlmode');
	for (const name of OF_NO_CALL) on(name, (event) => tracer.startSpan(`urlmode.${name}`, { attributes: attributesOf(event) }).end());
}

/**
 * @param {Event} event
 * @returns {Attributes}
 */
function attributesOf({ elicitationId: id, provider, kind, action, reason }) {
	return Object.fromEntries(Object.entries({ elicitation_id: id, provider, kind, action, reason })
		.flatMap(([name, value]) => (value ? [[`urlmode.${name}`, value]] : [])));
}
