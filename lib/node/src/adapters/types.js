// The types that all adapters share. Nothing here runs.

/**
 * @typedef {import('../core/types.js').CreateOptions & ElicitFields & RecheckFields} ElicitOptions
 * @typedef {import('../core/types.js').AnyCreateOptions & ElicitFields & RecheckFields & VerifyFields & LinkFields} AnyElicitOptions
 *
 * @typedef {Pick<import('../core/urlmode.js').UrlMode, 'create' | 'waitForCompletion' | 'abandon' | 'claim' | 'beginClaim' | 'entitlements'>} UrlModeLike
 *
 * @typedef {object} ElicitFields
 * @property {UrlModeLike} urlmode of `urlmode`, or of `urlmode/http`
 * @property {string} message shown to the user beside the link: who asks, and for what
 * @property {'request' | 'error'} [ask] `error`: a client of 2025-11-25 gets the error -32042 instead of a request, where the
 *     framework can send it. Its user opens the page, and the client calls again
 * @property {boolean | undefined} [typed] whether the tool has an output schema: an answer in place of the body, such as the link, is then an
 *     error result without structuredContent. By default this is found out in urlmode/sdk, urlmode/sdk2 and urlmode/frontmcp. `false`
 *     says that the schema allows the member `elicitation`
 * @property {number | undefined} [roundTimeout] milliseconds that one call waits, 45 000 by default, which is less than the 60
 *     seconds after which most clients end it. An elicitation that is open by then stays open, and the next call continues with it
 * @property {AbortSignal | undefined} [signal] ends the call, as its cancellation by the client does
 * @property {number | undefined} [progressEvery] milliseconds between two progress notifications while the status does not change, 15 000 by
 *     default
 *
 * @typedef {object} RecheckFields
 * @property {import('../core/types.js').RecheckFunction | undefined} [recheck] as for waitForCompletion
 *
 * @typedef {object} VerifyFields
 * @property {import('../core/form-types.js').VerifyFunction | undefined} [verify] verifies the values of the form before they are accepted. A problem that
 *     it returns is shown at its field, and the user can try again
 *
 * @typedef {object} LinkFields
 * @property {((asked: AskedApprovers) => unknown) | undefined} [sendLink] sends the link to those who decide. It is called once, when the
 *     elicitation was created. If it throws, the elicitation is cancelled, and the call rejects
 *
 * @typedef {object} AskedApprovers
 * @property {string} elicitationId
 * @property {string} approvalUrl
 * @property {Date} expiresAt
 *
 * @typedef {Omit<import('../core/types.js').InputOptions, 'kind' | keyof import('../core/types.js').NoTarget> & ElicitFields & VerifyFields} InputOptions
 * @typedef {Omit<import('../core/types.js').ApprovalOptions, 'kind' | keyof import('../core/types.js').NoTarget> & ElicitFields & { sendLink?: undefined }
 *     | Omit<import('../core/types.js').OthersApprovalOptions, 'kind' | keyof import('../core/types.js').NoTarget> & ElicitFields & LinkFields} ApprovalOptions
 *
 * @typedef {object} Claimed
 * @property {string} elicitationId
 * @property {AbortSignal} signal aborts when the lease of this call has ended, after which another call may do the same
 * @property {number | undefined} fence greater than that of each call before
 *
 * @typedef {Claimed & { values: import('../core/form-types.js').Values }} Input what the body of `collectInput` is given
 * @typedef {Claimed & { approver: string, comment?: string, decidedAt: Date, signedInAt?: Date, signedInBy?: string }} Approval what the body of `askApproval` is given
 *
 * @typedef {object} TextContent
 * @property {'text'} type
 * @property {string} text
 *
 * @typedef {object} ToolResult a result of a tool call, as text
 * @property {TextContent[]} content
 * @property {boolean} [isError]
 * @property {{ [key: string]: unknown }} [structuredContent] of a call that ends before its elicitation: `{ elicitation }`
 *
 * @typedef {{ content: TextContent[], isError: true }} ErrorResult the same for a tool with an output schema
 *
 * @typedef {object} InputRequired a result of a tool call that requires input (protocol revision 2026-07-28)
 * @property {'input_required'} resultType
 * @property {{ [key: string]: never }} [inputRequests] an elicitation/create in URL mode. The type is `never`, because
 *     the SDK's own type requires an elicitationId, which this protocol revision does not have
 * @property {string} [requestState]
 *
 * @typedef {object} Accepted what the body of `withElicitation` is given
 * @property {'accept'} action
 * @property {string} elicitationId
 * @property {string} returnUrl the redirect URI of the authorization request
 * @property {Record<string, unknown> | undefined} result
 * @property {true} [late] the payment was proved after the end of the elicitation
 * @property {string} [reference] the provider's reference of the payment
 * @property {number} [amount] how much was paid, in minor units
 * @property {string} [currency]
 * @property {number} [tax] how much of it is tax, if the provider's event has said it
 * @property {import('../core/money-types.js').Expected | 'any'} [expected] the price that was asked
 * @property {string} [codeVerifier]
 * @property {string} [nonce]
 * @property {AbortSignal} signal aborts when the lease of this call has ended, after which another call may do the same
 * @property {number | undefined} fence greater than that of each call before, of a payment or signature
 * @property {string} [requestState] its own, in the next round of a body that has returned a result which requires input
 * @property {{ [key: string]: unknown } | undefined} [inputResponses] what the client has answered to that
 *
 * @typedef {object} Paid what is always there of a payment
 * @property {string} reference
 * @property {number} fence
 *
 * @typedef {Omit<import('../core/types.js').OAuthOptions & ElicitFields, 'kind' | 'targetUrl' | 'pkce'>
 *     & import('../accounts/types.js').AccountFields} AccountOptions
 *
 * @typedef {Omit<import('../core/types.js').PaymentOptions, 'kind' | 'item' | 'subscription' | 'id'> & ElicitFields & RecheckFields & RequirePaidFields} RequirePaidOptions
 *     `expected` is the first price of the subscription
 * @typedef {object} RequirePaidFields
 * @property {string} item what the user may use, in the words of the server
 * @property {((entitlement: import('../core/money-types.js').Entitlement) => string | URL | undefined | Promise<string | URL | undefined>) | undefined} [manageUrl]
 *     returns the page where the user manages the subscription, such as a session of Stripe's customer portal. Who is past due or has paused is sent there
 * @typedef {import('../core/money-types.js').Entitlement & { manageUrl: () => Promise<string | undefined> }} Entitlement what the body of `requirePaid` is
 *     given. `manageUrl` asks for the page where this user changes or cancels the subscription
 *
 * @typedef {Omit<AccountOptions, 'urlmode' | 'description' | 'client'> & UseAccountFields} UseAccountOptions
 * @typedef {object} UseAccountFields
 * @property {import('../vault/vault.js').Vault} vault which says the provider's description and client, and the scopes where this call does not
 * @property {string | undefined} [account] the provider's id of the account; by default the one that was connected last
 * @property {number | undefined} [validFor] for how many milliseconds the token must be valid, see `vault.accessToken`
 *
 * @typedef {import('../accounts/types.js').Connected & { elicitationId: string }} Account what the body of `withAccount` is given
 */

/**
 * What the body is given for an elicitation of this kind.
 *
 * @template {import('../core/types.js').Kind} K
 * @typedef {Accepted & (K extends 'payment' ? Paid : K extends 'signature' ? Pick<Paid, 'fence'> : {})} AcceptedOf
 */

/**
 * What an adapter returns in place of the result of the body. Where that is one of a prompt or a resource, it throws what would be
 * the result of a tool, if its framework says what the request is for.
 *
 * @template {boolean | undefined} T the option `typed`
 * @template More what it can be for other tools
 * @template R the result of the body
 * @typedef {InputRequired extends More ? [Extract<R, { messages: unknown[] } | { contents: unknown[] }>] extends [never] ? OfTool<T, More>
 *     : InputRequired : OfTool<T, More>} Instead
 */

/**
 * @template {boolean | undefined} T
 * @template More
 * @typedef {T extends true ? ErrorResult | Extract<More, InputRequired> : More} OfTool
 */

/**
 * A tool call, as each framework describes it.
 *
 * @typedef {object} Call
 * @property {ClientLike} client
 * @property {string | undefined} [clientId] of the MCP client, according to the authorization of the call
 * @property {string | undefined} [traceparent] the trace of the call
 * @property {boolean} [typed] whether the framework says, or has to be taken to say, that the tool has an output schema
 * @property {AbortSignal | undefined} signal aborts when the client cancels the call or ends its session
 * @property {AbortSignal} [requestSignal] aborts also after `release`, where `signal` does not: the framework does not answer the call
 * @property {() => void} [release] called when the call has ended: removes what follows the session's end
 * @property {((progress: number, message: string) => Promise<unknown>) | undefined} progress sends progress, if the client wants it
 * @property {string | undefined} [method] of the request, where the framework tells it
 * @property {object | undefined} [beside] what a result that requires input must have for the framework, which makes another one of it otherwise
 * @property {(reason: unknown) => boolean} [isGone] whether the signal's reason, or an error, means that the
 *     client has closed its session or connection
 * @property {import('./answer.js').TransportLike | undefined} [transport] of the session
 * @property {string | number} [requestId]
 * @property {RequestFunction} [request] sends the client a request, in protocol revision 2025-11-25
 * @property {(error: unknown) => boolean} [isForFramework] whether the framework must see an error of `request`
 * @property {(elicitations: UrlRequest[], message: string) => Error} [required] makes the error -32042
 * @property {(elicitationId: string) => Promise<unknown>} [complete] tells the client that the elicitation is completed, while
 *     the call lasts
 * @property {Session} [session] for a client that can be told after the call
 * @property {Retry | undefined} [retry] what the client has sent with the call, in protocol revision 2026-07-28
 * @property {TaskRound | undefined} [task] of a call that its client can hold as a task, or of a run of its tool
 *
 * @typedef {{ name?: string | undefined, version?: string | undefined, capabilities?: unknown }} ClientLike
 * @typedef {{ mode: 'url', elicitationId: string, url: string, message: string }} UrlRequest
 * @typedef {(params: UrlRequest, options: { signal: AbortSignal, timeout: number }) =>
 *     Promise<{ action: import('../core/types.js').Action }>} RequestFunction
 *
 * @typedef {object} Session the used part of the SDKs' Server, the same object for all calls of a session
 * @property {import('./answer.js').TransportLike | undefined} [transport]
 * @property {(() => void) | undefined} [onclose]
 *
 * @typedef {object} TaskRound
 * @property {{ elicitationId: string, kind: import('../core/types.js').Kind, text: string } | undefined} [awaited] what the call waits for from now on
 * @property {boolean} [isUndone] whether a run has failed before the body, so that the next one tries again
 * @property {import('./answer.js').Answer | undefined} [answer] of a run, which answers no call: it is written when the task has it
 *
 * @typedef {object} Retry
 * @property {unknown} state the requestState that the client has sent
 * @property {unknown} answer its response to our request
 * @property {{ [key: string]: unknown } | undefined} [answers] all its responses
 * @property {unknown} [sent] the requestState of the whole call, where `state` is that of a body
 */

/**
 * How the asking in one call has ended.
 *
 * @typedef {object} Completed
 * @property {import('../core/types.js').Outcome} outcome
 * @property {{ elicitationId: string, returnUrl?: string | undefined }} elicitation
 * @property {boolean} [isEarlier] it was completed before this call began, and this call was not begun for it
 * @property {import('../core/internals.js').LeftRound | undefined} [left] by the body of an earlier round, which has asked for something itself
 * @typedef {object} Ended there is no outcome for this call
 * @property {undefined} [outcome]
 * @property {'pending' | 'cancel'} action
 * @property {string} reason
 * @property {ToolResult | InputRequired} toolResult
 */

export {};
