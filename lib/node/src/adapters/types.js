// The types that all adapters share. Nothing here runs.

/**
 * @typedef {import('../types.js').CreateOptions & BaseElicitFields} BaseElicitOptions
 * @typedef {object} BaseElicitFields
 * @property {import('../urlmode.js').UrlMode} urlmode
 * @property {string} message shown to the user beside the link: who asks, and for what
 * @property {number | undefined} [timeout] milliseconds that the user has; `ttl` by default, which is 300 000 by default
 * @property {number | undefined} [legTimeout] milliseconds that one call waits in a flow of several calls, 45 000 by default,
 *     which is less than the usual client timeout of 60 seconds
 * @property {AbortSignal | undefined} [signal] ends the wait, as a cancellation by the client does. What the user has opened goes on
 * @property {import('../types.js').RecheckFunction | undefined} [recheck] as for waitForCompletion
 * @property {number | undefined} [progressEvery] milliseconds between two progress notifications while the status does not change, 15 000 by
 *     default
 *
 * @typedef {object} TextContent
 * @property {'text'} type
 * @property {string} text
 *
 * @typedef {object} ToolResult a result of a tool call, as text
 * @property {TextContent[]} content
 * @property {boolean} [isError]
 *
 * @typedef {object} InputRequired a result of a tool call that requires input (protocol revision 2026-07-28)
 * @property {'input_required'} resultType
 * @property {{ [key: string]: never }} [inputRequests] an elicitation/create in URL mode. The type is `never`, because
 *     the SDK's own type requires an elicitationId, which this protocol revision does not have
 * @property {string} [requestState]
 *
 * @typedef {object} Accepted
 * @property {'accept'} action
 * @property {string} elicitationId
 * @property {string} returnUrl the redirect URI of the authorization request
 * @property {string} reason empty
 * @property {Record<string, unknown> | undefined} result
 * @property {true} [late] the payment was proved after the end of the elicitation
 * @property {string} [reference] the provider's reference of the payment
 * @property {string} [codeVerifier]
 * @property {string} [nonce]
 * @property {undefined} [toolResult]
 */

/**
 * @template {ToolResult | InputRequired} R
 * @typedef {object} NotAccepted
 * @property {'decline' | 'cancel' | 'pending'} action `pending`: it is open, and the next call with the same options
 *     goes on with it
 * @property {string} elicitationId
 * @property {string} returnUrl
 * @property {string} reason
 * @property {Record<string, unknown> | undefined} [result]
 * @property {import('../types.js').OpenStatus} [from] the status that the end has cut off
 * @property {R} toolResult the result to return from the call. It says what happened, or what to do next
 */

/**
 * @typedef {Accepted | NotAccepted<ToolResult>} ElicitResult
 * @typedef {Accepted | NotAccepted<ToolResult | InputRequired>} MultiRoundResult
 */

/**
 * @typedef {Omit<BaseElicitOptions, 'kind' | 'targetUrl' | 'pkce' | 'expected' | 'recheck'> & import('../accounts/types.js').AccountFields
 *     } AccountOptions
 *
 * @typedef {import('../accounts/types.js').Connected & ConnectedFields} ConnectedAccount
 * @typedef {object} ConnectedFields
 * @property {'accept'} action
 * @property {string} reason empty
 * @property {string} elicitationId
 * @property {undefined} [toolResult]
 *
 * @typedef {object} NotConnectedAccount what came back was no access
 * @property {'cancel'} action
 * @property {string} reason
 * @property {string} detail a code, for the server's own log
 * @property {string} elicitationId
 * @property {string} returnUrl
 * @property {ToolResult} toolResult
 *
 * @typedef {ConnectedAccount | NotConnectedAccount | NotAccepted<ToolResult>} AccountResult
 * @typedef {ConnectedAccount | NotConnectedAccount | NotAccepted<ToolResult | InputRequired>} MultiRoundAccountResult
 */

/**
 * The tool call that an adapter runs in.
 *
 * @typedef {object} Call
 * @property {AbortSignal | undefined} signal aborts when the client cancels the call or closes its connection
 * @property {((progress: number, message: string) => Promise<unknown>) | undefined} progress sends progress, if the client wants it
 * @property {(reason: unknown) => boolean} [isGone] whether the signal's reason, or an error, means that the
 *     client has closed its session or connection
 */

export {};
