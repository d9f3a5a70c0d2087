// Tools with an output schema. MCP lets a result of such a tool be data that fits the
// schema, or an error. The frameworks refuse all others, and so do the clients that
// have listed the tools. What an adapter answers in place of the body fits no such
// schema. Therefore it is an error there, with the same text.

/**
 * @typedef {import('./types.js').ToolResult} ToolResult
 * @typedef {import('./types.js').InputRequired} InputRequired
 */

/**
 * @param {ToolResult | InputRequired} result
 * @returns {import('./types.js').ErrorResult | InputRequired}
 */
export function toTyped(result) {
	return 'content' in result ? { content: result.content, isError: true } : result;
}

/**
 * Where the framework does not tell whether the tool has an output schema, the tool says it: a link that the schema does not take would reach nobody.
 *
 * @param {unknown} typed
 */
export function checkTyped(typed) {
	if (typeof typed !== 'boolean') throw new TypeError('typed must be true or false: true for a tool with an outputSchema, which its framework does not tell');
}

/**
 * Whether a server of the official SDKs has a tool whose schema lets our data pass,
 * while clients refuse it: an object of zod without a required member, whose JSON
 * Schema says `additionalProperties: false`. The SDKs do not say which tool is called.
 *
 * @param {object} server
 */
export function hasLenientTool(server) {
	const tools = /** @type {{ _registeredTools?: Record<string, { outputSchema?: ZodLike }> }} */ (server)._registeredTools ?? {};
	return Object.values(tools).some(({ outputSchema }) => outputSchema !== undefined && dropsUnknown(outputSchema) && takes(outputSchema));
}

/**
 * @typedef {object} ZodLike an object of zod 3 or 4
 * @property {{ def: { type: string, catchall?: unknown } }} [_zod]
 * @property {{ typeName?: string, unknownKeys?: string }} [_def]
 * @property {Record<string, unknown>} [shape]
 * @property {(value: unknown) => { success: boolean }} [safeParse]
 */

/** @param {ZodLike} schema */
function dropsUnknown({ _zod, _def, shape = {} }) {
	const drops = _zod ? _zod.def.type === 'object' && _zod.def.catchall === undefined : _def?.typeName === 'ZodObject' && _def.unknownKeys === 'strip';
	return drops && !Object.hasOwn(shape, 'elicitation');
}

/** @param {ZodLike} schema */
function takes(schema) {
	try {
		return schema.safeParse?.({ elicitation: {} }).success ?? false;
	} catch {
		return true; // It is asynchronous.
	}
}
