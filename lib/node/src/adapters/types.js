// What the adapters take and give. Types alone: nothing here runs.

/**
 * @typedef {import('../types.js').CreateOptions & AskOnly} AskOptions what the user is asked to do, and for whom
 * @typedef {object} AskOnly
 * @property {import('../urlmode.js').UrlMode} urlmode
 * @property {string} message what the user reads beside the link: who asks, and for what
 * @property {number} [timeout] milliseconds that the user has; `ttl` by default, which is 300 000 by default
 * @property {number} [legTimeout] milliseconds that a call waits before it asks to be called again, 45 000 by default:
 *     under a client's own limit of 60 seconds. For the ways that take more than one call
 * @property {AbortSignal} [signal] ends the wait, beside the client's own cancelling
 * @property {import('../types.js').RecheckFunction} [recheck] as for waitForCompletion
 * @property {number} [progressEvery] milliseconds between two progress notifications while nothing happens, 15 000 by
 *     default
 *
 * @typedef {object} TextContent
 * @property {'text'} type
 * @property {string} text
 *
 * @typedef {object} ToolResult a result of a tool call, in words
 * @property {TextContent[]} content
 * @property {boolean} [isError]
 *
 * @typedef {object} InputRequired a result of a tool call that asks for another (protocol revision 2026-07-28)
 * @property {'input_required'} resultType
 * @property {{ [key: string]: never }} [inputRequests] for the client: an elicitation/create in URL mode. `never`, because
 *     the SDK's own type wants an elicitationId in it, which this protocol has not
 * @property {string} [requestState]
 *
 * @typedef {object} Accepted
 * @property {'accept'} action
 * @property {string} elicitationId
 * @property {string} returnUrl the redirect URI that the code was asked for with
 * @property {string} reason empty
 * @property {Record<string, unknown> | undefined} result
 * @property {string} [codeVerifier]
 * @property {string} [nonce]
 * @property {undefined} [toolResult]
 */

/**
 * @template {ToolResult | InputRequired} R
 * @typedef {object} NotAccepted
 * @property {'decline' | 'cancel' | 'pending'} action pending: it is open, and a later call goes on with it
 * @property {string} elicitationId
 * @property {string} returnUrl
 * @property {string} reason
 * @property {Record<string, unknown> | undefined} [result]
 * @property {R} toolResult what to answer the call with: says in words what happened, or what to do now
 */

/**
 * @typedef {Accepted | NotAccepted<ToolResult>} Asked
 * @typedef {Accepted | NotAccepted<ToolResult | InputRequired>} AskedInLegs
 */

/**
 * What an adapter knows of the call that it runs in.
 *
 * @typedef {object} Call
 * @property {AbortSignal | undefined} signal that the client cancelled the call, or is gone
 * @property {((progress: number, message: string) => Promise<unknown>) | undefined} progress where the call wants it
 * @property {(reason: unknown) => boolean} [isGone] whether the signal's reason, or an error, means that the client left
 */

export {};
