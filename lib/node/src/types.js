// What callers see. Types alone: nothing here runs.

/**
 * @typedef {'oauth' | 'payment' | 'signature'} Kind
 * @typedef {'accept' | 'decline' | 'cancel'} Action the protocol's own three
 * @typedef {'opened' | 'processing'} Progress
 *
 * @typedef {object} UrlModeOptions
 * @property {string} databaseUrl postgresql://…, as the role urlmode_server
 * @property {string} keysFile path of the keys file, the callback programs' own or the same content; read again when
 *     it changes
 * @property {string} baseUrl where the callback programs are reached: scheme, host and port
 * @property {string} [name] who asks, as the confirm page says it; the host of baseUrl by default. At most 200 bytes
 * @property {boolean} [listen] false: waits poll, for a process that is frozen between calls; true by default, and then
 *     they poll only where LISTEN turns out not to be had
 * @property {number} [keepResults] milliseconds that a result stays in its row after a wait has read it, 600 000 by
 *     default, at most a day; a day after completion it is dropped in any case
 *
 * @typedef {object} TicketOptions
 * @property {string} subject who the web session says the user is; 1 to 512 bytes
 * @property {number} [ttl] milliseconds, 300 000 by default, at most an hour
 *
 * @typedef {object} Ticket a cookie
 * @property {string} name
 * @property {string} value
 * @property {string} header the value of a Set-Cookie header
 *
 * @typedef {object} Owner who the elicitation belongs to
 * @property {string} subject who the MCP server's own authorization says the user is; 1 to 512 bytes
 * @property {string} [session] the MCP session where it matters, at most 512 bytes; empty by default
 *
 * @typedef {object} Expected what a payment must match
 * @property {number} amount in minor units
 * @property {string} currency ISO 4217
 *
 * @typedef {object} Way what a target URL may be made of
 * @property {string} elicitationId
 * @property {string} returnUrl where the provider sends the browser: the redirect URI, the success URL
 * @property {string | undefined} cancelUrl where it does without paying; none for kind oauth
 *
 * @typedef {Owner & CreateOnly} CreateOptions
 * @typedef {object} CreateOnly
 * @property {string} provider its name in the callback programs' configuration
 * @property {Kind} kind
 * @property {string | URL | ((way: Way) => string | URL | Promise<string | URL>)} targetUrl where /connect sends the
 *     browser, or a function that makes it, called before the row is written; without `state`
 * @property {number} [ttl] milliseconds from now until it expires, 300 000 by default
 * @property {string} [id] a UUID that is not taken; a random one by default
 * @property {Expected} [expected] for kind payment
 * @property {boolean} [pkce] for kind oauth: adds an S256 challenge (RFC 7636), and a nonce when the scope has `openid`
 *     and the URL has none; the outcome brings both back
 * @property {boolean} [exclusive] completes what else this subject has open in this session, with cancel, `superseded`
 * @property {string} [resumeKey] what it is for, 1 to 512 bytes: where the owner has one for the same already, open or
 *     with an outcome that no call has claimed, that one is answered and nothing written
 *
 * @typedef {Way & ElicitationOnly} Elicitation
 * @typedef {object} ElicitationOnly
 * @property {string} url what to elicit with
 * @property {Date} expiresAt
 * @property {boolean} resumed whether it was there before, see `resumeKey`
 *
 * @typedef {object} Recheck what the recheck function is told of the event that wants it
 * @property {string} elicitationId
 * @property {string} provider
 * @property {string | undefined} type the provider's type of the event
 * @property {string | undefined} reference the provider's own reference, for its API
 *
 * @typedef {object} Answer
 * @property {Action} action
 * @property {string} [reason] a short code: a-z, 0-9 and _, at most 64; empty by default
 * @property {object} [result] what JSON can carry, at most 65 506 bytes of it
 *
 * @typedef {(question: Recheck) => Promise<Answer | undefined | void> | Answer | undefined | void} RecheckFunction asks
 *     the provider for an outcome that a notice could not prove; nothing: the wait goes on
 *
 * @typedef {Owner & WaitOnly} WaitOptions
 * @typedef {object} WaitOnly
 * @property {number} [timeout] milliseconds, 300 000 by default; 0 looks once, Infinity waits as long as it is open
 * @property {AbortSignal} [signal] ends the wait with its reason; the elicitation goes on
 * @property {(status: Progress) => unknown} [onProgress] each status at most once; what it throws ends the wait
 * @property {RecheckFunction} [recheck] what it throws ends the wait
 * @property {boolean} [abandon] the elicitation ends with the wait: a timeout, an abort and `close` complete it with
 *     cancel and `timeout`, `aborted` or `closed`, unless its provider is at it (processing)
 *
 * @typedef {object} Outcome
 * @property {string} elicitationId
 * @property {Action} action
 * @property {string} reason empty on a plain accept
 * @property {Record<string, unknown> | undefined} result
 * @property {string} [codeVerifier] on accept, where `pkce` was true
 * @property {string} [nonce] on accept, where `pkce` added one
 */

/**
 * What `on` is told, for audit and analytics: by an instance, of what it does
 * itself and of what it sees while it waits, once each. No URL, token, result
 * or verifier is in it; the subject is.
 *
 * @typedef {Required<Owner> & { elicitationId: string, provider: string }} About
 * @typedef {About & { kind: Kind, expiresAt: Date }} CreatedEvent
 * @typedef {About & { status: Progress }} ProgressEvent
 * @typedef {About & { status: 'completed', action: Action, reason: string }} CompletedEvent
 *
 * @typedef {object} UrlModeEvents
 * @property {[event: CreatedEvent]} created
 * @property {[event: ProgressEvent]} opened
 * @property {[event: ProgressEvent]} processing
 * @property {[event: CompletedEvent]} completed
 */

export {};
