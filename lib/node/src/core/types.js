// The public types of elicitations; those of money are in money-types.js. Nothing here runs.

/**
 * @typedef {import('./contract-words.js').Kind} Kind
 * @typedef {import('./contract-words.js').Action} Action
 * @typedef {import('./contract-errors.js').KnownReason | (string & {})} Reason why an elicitation has ended: one of these, or a code of the provider's
 *     description, or of `complete`, `cancel` or `abandon`
 * @typedef {import('./contract-words.js').OpenStatus} OpenStatus
 * @typedef {import('./contract-words.js').Progress} Progress
 *
 * @typedef {object} UrlModeOptions
 * @property {string | undefined} [databaseUrl] postgresql://…, with the role urlmode_server
 * @property {Pool | undefined} [pool] a `pg.Pool` of the role urlmode_server, instead of databaseUrl. `close` leaves it open. One
 *     more connection, which listens, is made with its options
 * @property {string | undefined} [keysFile] path of the keys file: that of the callback programs, or one with the same content. It
 *     is read again when it changes
 * @property {string | undefined} [keys] the content of a keys file, instead of keysFile
 * @property {string} baseUrl scheme, host and port of the callback programs
 * @property {string | undefined} [name] the name of this server on the confirm page, at most 200 bytes; the host of baseUrl by
 *     default
 * @property {string | undefined} [tenant] one of several MCP servers that share a database, at most 64 of a-z, 0-9, _ and -; empty by
 *     default. Nothing of another tenant is seen
 * @property {boolean | undefined} [listen] false: waits poll, for a process that is frozen between calls. With true, the default,
 *     they poll only if notifications do not arrive
 * @property {number | undefined} [keepResults] milliseconds that a result stays in its row after a wait has read it, 600 000 by
 *     default, at most a day. A day after completion it is purged in any case. The result of a payment or signature
 *     stays until it is claimed, and this long after that
 * @property {number | undefined} [keepUnclaimed] milliseconds that the result of a payment or signature stays if no call claims
 *     it, 30 days by default. Reference, amount and currency of a payment stay
 * @property {number | false} [retention] milliseconds that a row is kept when it is over: 90 days by default, 7 at
 *     least. false: this process deletes no rows
 * @property {Readonly<Record<string, RecheckFunction | undefined>> | undefined} [rechecks] by the names of providers: asks the provider
 *     for waits and claims that have no `recheck` of their own, and about events for which nobody waits
 * @property {Readonly<Record<string, string>> | undefined} [descriptions] the shipped description of each provider whose name is another
 *     one: `{ acme: 'stripe' }`. The function for `targetUrl` is given `amount` by it
 * @property {readonly ClientFacts[] | undefined} [clients] facts about clients, which take precedence over the table of this package. For the adapters
 *
 * @typedef {object} ClientFacts facts about an MCP client that it does not declare
 * @property {string} name that it sends as clientInfo
 * @property {{ from?: string | undefined, before?: string | undefined } | undefined} [versions] of which versions it is known; all by default
 * @property {boolean | undefined} [url] whether it can send its user to a URL, where it declares something else
 * @property {'request' | 'error' | 'text' | undefined} [ask] the way in which it shows a page to its user, before the option `ask` of a call:
 *     `request`, a request or an answer that requires input; `error`, the error -32042 alone; `text`, none but the link as text
 * @property {number | undefined} [round] milliseconds that a call of it may wait, instead of 45 000
 * @property {number | undefined} [rounds] how often it takes an answer with a state and no request, and calls again (protocol
 *     revision 2026-07-28); never by default, at most 8
 *
 * @typedef {object} Pool the part of a `pg.Pool` that is used
 * @property {(text: string, values: unknown[]) => Promise<{ rows: Record<string, unknown>[] }>} query
 * @property {object} options
 *
 * @typedef {import('./contract-words.js').PurgeKind} PurgeKind
 *
 * @typedef {object} PurgeOptions
 * @property {number} [olderThan] milliseconds that it must have been over: `retention` by default, or 90 days; 7 days
 *     at least
 * @property {PurgeKind} [kind] everything by default
 *
 * @typedef {object} TicketOptions
 * @property {string} subject the user of the web session, 1 to 512 bytes
 * @property {number | undefined} [ttl] milliseconds, 300 000 by default, at most an hour
 *
 * @typedef {object} Ticket a cookie
 * @property {string} name
 * @property {string} value
 * @property {string} header the value of a Set-Cookie header
 *
 * @typedef {object} Owner the user and session that an elicitation belongs to
 * @property {string} subject the user, according to the authorization of the MCP server, 1 to 512 bytes
 * @property {string | undefined} [session] the MCP session, if completions must not cross sessions, at most 512 bytes; empty by
 *     default
 *
 * @typedef {object} CallbackUrls the URLs that a target URL may contain
 * @property {string} elicitationId
 * @property {string} returnUrl where the provider sends the browser: the redirect URI or the success URL
 * @property {string | undefined} cancelUrl where the provider sends the browser of a user who does not pay; undefined
 *     for kind oauth
 * @property {string | undefined} webhookUrl where a provider that signs nothing sends its events: only who was given
 *     this URL can ask for a recheck. Valid for a year after the expiry; undefined for kind oauth
 *
 * @typedef {CallbackUrls & { amount?: number | string | undefined }} TargetArguments with the price as the provider writes it: a
 *     whole number in its own units, or decimal text; undefined if it is `any`, or no description of the provider's name is shipped
 *
 * @typedef {OAuthOptions | PaymentOptions | SignatureOptions} CreateOptions for a page of a provider
 * @typedef {Owner & CreateFields & TargetFields & OAuthFields} OAuthOptions
 * @typedef {Owner & CreateFields & TargetFields & PaymentFields & ItemFields} PaymentOptions
 * @typedef {Owner & CreateFields & TargetFields & SignatureFields & ItemFields} SignatureOptions
 *
 * @typedef {CreateOptions | InputOptions | ApprovalOptions | OthersApprovalOptions} AnyCreateOptions
 * @typedef {Owner & CreateFields & NoTarget & InputFields} InputOptions
 * @typedef {Owner & CreateFields & NoTarget & ApprovalFields & StarterFields} ApprovalOptions
 * @typedef {Owner & CreateFields & NoTarget & ApprovalFields & OthersFields} OthersApprovalOptions
 * @typedef {{ targetUrl?: undefined, expected?: undefined, item?: undefined, subscription?: undefined, pkce?: undefined }} NoTarget
 *
 * @typedef {object} InputFields the user types something on a page of the callback programs
 * @property {'input'} kind a form of our own
 * @property {import('./form-types.js').InputForm} form what the page asks, with its fields
 * @property {import('./form-types.js').Words | undefined} [submitLabel] what the button says that sends the form, at most 40 characters, such as
 *     `Connect`. By default it says `Send`, in the language of the page
 * @property {number | undefined} [verifyTimeout] milliseconds, 1 000 to 120 000: the values are an outcome only when the function `verify` of a
 *     wait has found no problem, in this time from the submission on. Without it there is no verification
 *
 * @typedef {object} ApprovalFields somebody says yes or no there
 * @property {'approval'} kind a decision
 * @property {import('./form-types.js').ApprovalForm} form what the page asks, and whether it takes a comment
 * @property {boolean | undefined} [stepUp] true: whoever decides signs in once more for it. It requires `user_check` `openid`; otherwise the page
 *     refuses everybody with `step_up_not_set_up`. The outcome has `signedInAt`
 *
 * @typedef {object} StarterFields
 * @property {'starter' | undefined} [approver] the subject decides, which is so by default
 * @property {false | undefined} [fourEyes] true only where others decide
 *
 * @typedef {object} OthersFields
 * @property {'others' | readonly string[]} approver anyone but the subject whom the sign-in of the callback programs knows; or these 1 to 16
 *     subjects. By default the subject decides
 * @property {boolean | undefined} [fourEyes] true: the subject is none of them, in no spelling of the name. The page refuses everybody with
 *     `four_eyes_not_set_up` where the provider's entry in the configuration of the callback programs has no `four_eyes`
 *
 * @typedef {object} SignatureFields
 * @property {'signature'} kind a document is signed
 * @property {undefined} [expected]
 * @property {undefined} [subscription]
 * @property {undefined} [pkce]
 *
 * @typedef {object} OAuthFields
 * @property {'oauth'} kind an account at a provider
 * @property {boolean | undefined} [pkce] adds an S256 challenge (RFC 7636), and a nonce if the scope contains `openid`
 *     and the URL has none. The outcome contains both
 * @property {undefined} [expected]
 * @property {undefined} [item]
 * @property {undefined} [subscription]
 *
 * @typedef {object} ItemFields
 * @property {string} item what the user gets, in the words of the server, 1 to 512 bytes: `report:42`, `credits:1000`
 *
 * @typedef {object} PaymentFields
 * @property {'payment'} kind a price is paid
 * @property {import('./money-types.js').Expected | 'any'} expected the amount to be paid, or `any` if every amount is accepted
 * @property {boolean | undefined} [subscription] true: the payment must be the first one of a subscription, with `expected` as its first price. It
 *     opens an entitlement for the `item`, and is claimed by it
 * @property {undefined} [pkce]
 *
 * @typedef {object} CreateFields
 * @property {string} provider its name in the configuration of the callback programs
 * @property {number | undefined} [ttl] milliseconds until it expires, 300 000 by default
 * @property {string | undefined} [id] a UUID that is not in use; a random one by default
 * @property {boolean | undefined} [exclusive] cancels the other open elicitations of this subject in this session, with reason
 *     `superseded`, except payments and signatures that a user has opened
 * @property {string | undefined} [resumeKey] the purpose of the elicitation, 1 to 512 bytes. If the owner already has one with this
 *     key, asking for the same, that is open, or whose outcome or late payment no call has claimed, `create` returns that one and writes
 *     nothing
 * @property {object | undefined} [about] what else is asked for, such as the client and the scopes of an account: plain JSON.
 *     With provider, kind and `expected` it must be the same for a call to go on with an earlier elicitation
 * @property {string | undefined} [clientId] the MCP client whose call this is, as the server's authorization names it, 1 to
 *     2 048 bytes. It is recorded for the operator. The adapters take it from the call, where the framework tells it
 * @property {boolean | undefined} [sameClient] true: an elicitation of another `clientId` is not resumed. False by default, because a
 *     payment or an account is the user's, and many clients register anew for each installation
 * @property {string | undefined} [traceparent] the trace of the call (W3C Trace Context, version 00). It is kept with the row, and shown to
 *     the operator. The adapters take it from the call, where the framework tells it
 * @property {AbortSignal | undefined} [signal] takes the call back, with its reason, as long as its statement was not sent. What was sent ends as
 *     it ends
 * @property {boolean | undefined} [canRecheck] false if the waits have no `recheck` function: then a payment that has ended, and of
 *     which only a recheck could say that it was paid, is not resumed. True by default
 *
 * @typedef {object} TargetFields
 * @property {string | URL | Target | ((urls: TargetArguments) => string | URL | Target | Promise<string | URL | Target>)} targetUrl where
 *     /connect sends the browser, without `state`; or a function that returns it and is called before the row is written
 *
 * @typedef {object} Target the address at which the user pays, and the id of the checkout
 * @property {string | URL} url
 * @property {string} checkout the provider's id of the checkout (of a Stripe session, `cs_…`): only a payment of this one counts
 *
 * @typedef {CallbackUrls & ElicitationFields & Link} Elicitation
 * @typedef {object} ElicitationFields
 * @property {Date} expiresAt
 * @property {boolean} resumed whether it existed before, see `resumeKey`
 *
 * @typedef {{ elicitationId: string, returnUrl?: undefined, cancelUrl?: undefined, webhookUrl?: undefined } & ElicitationFields} FormFields
 * @typedef {FormFields & Link} FormElicitation
 * @typedef {FormFields & ApprovalLink} OthersApproval
 * @typedef {Elicitation | FormElicitation | OthersApproval} AnyElicitation
 *
 * @typedef {object} Link
 * @property {string} url the URL to elicit
 * @property {undefined} [approvalUrl]
 *
 * @typedef {object} ApprovalLink
 * @property {undefined} [url]
 * @property {string} approvalUrl for those who decide. It proves nothing: who they are is what their sign-in says
 *
 * @typedef {object} Recheck describes the event that requires a recheck
 * @property {string} elicitationId
 * @property {string} provider
 * @property {string | undefined} type the type of the last such event, as the provider names it
 * @property {string | undefined} reference the provider's own reference in the last such event, for its API. The
 *     sender of the event chose it
 * @property {string[]} references all of them, the last one last
 * @property {import('./money-types.js').Expected | 'any' | undefined} expected the amount to be paid
 * @property {string} [checkout] the provider's id of the checkout that `targetUrl` has returned
 * @property {AbortSignal} signal aborts after a minute, when nobody awaits the answer any more, and with the signal of the claim
 *
 * @typedef {object} Answer
 * @property {Action} action `accept`: it came through; `decline`: the user does not want it; `cancel`: it ended without a decision
 * @property {string | undefined} [reason] a code of at most 64 characters of a-z, 0-9 and _; empty by default
 * @property {object | undefined} [result] an object of at most 65 506 bytes as JSON
 * @property {number | undefined} [amount] the amount that was paid, in minor units; required to accept a payment
 * @property {string | undefined} [currency] ISO 4217; required to accept a payment
 * @property {string | undefined} [reference] the provider's reference of the payment; required to accept a payment
 *
 * @typedef {import('./money-types.js').Entries | Answer | undefined | void} RecheckAnswer an Answer is one outcome, and of a payment one that is exactly paid
 * @typedef {(request: Recheck) => Promise<RecheckAnswer> | RecheckAnswer} RecheckFunction asks the provider for
 *     what a webhook did not prove. If it returns nothing, the wait continues. Without an answer within a minute it has failed
 *
 * @typedef {Owner & WaitFields} WaitOptions
 * @typedef {object} WaitFields
 * @property {number | undefined} [timeout] milliseconds, 300 000 by default. 0 checks once, Infinity waits until it is completed
 * @property {AbortSignal | undefined} [signal] ends the wait with its reason. The elicitation stays open
 * @property {((progress: Progress) => unknown) | undefined} [onProgress] called at most once for each status, and once for each attempt
 *     that fails. If it throws, the wait ends
 * @property {RecheckFunction | undefined} [recheck] if it throws and the elicitation is open, the wait ends
 * @property {import('./form-types.js').VerifyFunction | undefined} [verify] if it throws, the page opens again, and the wait ends
 * @property {boolean | undefined} [abandon] ends the elicitation with the wait, if nobody has opened it: a timeout, an abort and
 *     `close` cancel it with reason `timeout`, `aborted` or `closed`
 *
 * @typedef {object} End how an elicitation has ended
 * @property {Action} action
 * @property {Reason} reason empty after a plain accept
 * @property {true} [late] the elicitation had ended otherwise when the payment was proved
 * @property {OpenStatus} [from] after `cancel` of an elicitation that a user had opened: the status that it has interrupted
 *
 * @typedef {End & OutcomeFields} Outcome
 * @typedef {object} OutcomeFields
 * @property {string} elicitationId
 * @property {Record<string, unknown> | undefined} result
 * @property {string} [reference] after a payment: the provider's reference, with which `claim` takes this payment
 * @property {number} [amount] how much was paid, in minor units. Of what was paid there are `reference`, `amount` and `currency`
 * @property {string} [currency]
 * @property {number} [tax] how much of it is tax, if the provider's event has said it
 * @property {import('./money-types.js').Expected | 'any'} [expected] of a payment: the price that was asked
 * @property {true} [refunded] the payment has gone back; no call can claim it any more
 * @property {number} [refundedAmount] how much of the payment went back, in minor units. With `cancel` and `held`: no call can
 *     claim it until the operator decides, and nobody should be asked to pay again
 * @property {string} [codeVerifier] after an accept, if `pkce` was true
 * @property {string} [nonce] after an accept, if `pkce` added one
 * @property {string} [approver] after an approval, or its refusal: who has decided, as their sign-in says
 * @property {string} [comment] what they have written
 * @property {Date} [decidedAt]
 * @property {Date} [signedInAt] with `stepUp`: when the approver has signed in for it
 * @property {string} [signedInBy] how, in the words of the OpenID provider: its `amr`, separated by spaces, or its `acr`
 */

/**
 * @typedef {object} AskFirst before a claim begins
 * @property {RecheckFunction | undefined} [recheck] asks the provider first, if an event has ever asked for a recheck. If it throws, nothing
 *     is claimed. By default that of `rechecks` for the provider
 * @property {number | undefined} [recheckAfter] milliseconds, 60 000 by default: how old its last answer may be
 *
 * @typedef {Owner & AskFirst & ClaimFields} ClaimOptions
 * @typedef {object} ClaimFields
 * @property {Action | undefined} [action] that of the outcome, accept by default. A refusal claims no payment
 * @property {string | undefined} [reference] the payment to claim, also one that does not match; by default the oldest one that matches
 * @property {boolean | undefined} [held] claim it also if a part of it went back, false by default
 *
 * @typedef {Owner & AskFirst & BeginClaimFields} BeginClaimOptions
 * @typedef {object} BeginClaimFields
 * @property {string | undefined} [reference] the payment to claim: that of the outcome. By default the oldest that matches
 * @property {number | undefined} [lease] milliseconds, 30 000 by default, in which no other call can begin after this process has
 *     died. The lease is renewed while the claim is open
 * @property {number | undefined} [timeout] milliseconds to wait while another call holds the lease, 0 by default
 * @property {AbortSignal | undefined} [signal] ends this wait, and that for a recheck, with its reason
 * @property {number | undefined} [fence] of a claim of this elicitation that was held (`hold`): goes on with it, once
 * @property {string | undefined} [claimId] a UUID that names this claim. Who begins again with the same one has the same claim
 * @property {boolean | undefined} [anyPayment] also a payment that does not match or is held, with its `reference`: to deliver or refund what
 *     `unclaimed` or `undelivered` lists
 *
 * @typedef {import('./contract-words.js').ClaimEnd} ClaimEnd
 *
 * @typedef {BegunClaim | FulfilledClaim | { state: 'leased', until: Date } | { state: 'taken' } | { state: 'changed' }} Claim
 *     `leased`: another call does the work, and can still finish it; if it dies, the next can begin at `until`. `taken`: another
 *     call has claimed it, or the payment was refunded. `changed`: the outcome is no longer this accept
 *
 * @typedef {object} BegunClaim this call does the work
 * @property {'begun'} state
 * @property {string | undefined} reference of the payment
 * @property {number | undefined} fence greater than that of each call before; undefined for an account
 * @property {AbortSignal} signal aborts with ClaimLostError when the lease has ended, because PostgreSQL did not renew it, and with
 *     ClaimRefundedError when all that was paid went back: the work can stop, or go on
 * @property {(result: unknown) => Promise<boolean>} fulfil the work is done. Of an account: it is connected, and the page after the
 *     user's return says so. Otherwise keeps what the call returns for the next one, until
 *     `confirm`. False: it cannot be kept, because it is no JSON or has more than 16 MiB. Then the lease is renewed
 *     until `confirm`, or until `release`, which has the next call do the work again. Rejects with ClaimLostError if
 *     another call has begun since
 * @property {() => Promise<boolean>} confirm the answer was written, so no later call is given it. Can be repeated. False:
 *     another call has begun, or has ended it otherwise
 * @property {(ms: number) => Promise<void>} hold keeps the lease for so long (1 000 to 3 600 000) without renewals, for the next round of
 *     the call: `beginClaim` goes on with its `fence`, on any instance. Not of an account
 * @property {(reason?: string) => Promise<boolean>} release the work was not done: the next call can begin at once. Of an account: it
 *     is not connected, and the page after the user's return says so; `reason` is `exchange_failed` by default. False: the claim
 *     has ended, or the work is done
 * @property {(how: ClaimEnd, refund?: string) => Promise<void>} end both ends at once, for who has delivered or refunded what `unclaimed`
 *     lists; `refund` is the provider's reference of the refund. Rejects with ClaimLostError if another call has begun since
 *
 * @typedef {object} FulfilledClaim another call has done the work, and its answer was not written
 * @property {'fulfilled'} state
 * @property {string | undefined} reference
 * @property {number | undefined} fence
 * @property {unknown} result what that call has returned
 * @property {() => Promise<boolean>} confirm
 * @property {() => Promise<boolean>} release this answer has failed as well: the next call does the work again, for the same payment
 * @property {(how: ClaimEnd, refund?: string) => Promise<void>} end
 */

/**
 * The events of a UrlMode, for audit and analytics. An instance emits its own
 * actions and the changes that it sees while it waits, each once. Events contain the
 * subject, but no URL, token, result or verifier.
 *
 * @typedef {{ subject: string, session: string, elicitationId: string, provider: string }} EventFields
 * @typedef {EventFields & { kind: Kind, expiresAt: Date }} CreatedEvent
 * @typedef {EventFields & { status: Progress }} ProgressEvent
 * @typedef {EventFields & End & { status: 'completed' }} CompletedEvent
 * @typedef {import('./money-types.js').ProvenPayment} LateEvent
 *
 * @typedef {object} UrlModeEvents
 * @property {[event: CreatedEvent]} created
 * @property {[event: ProgressEvent]} opened
 * @property {[event: ProgressEvent]} processing
 * @property {[event: CompletedEvent]} completed
 * @property {[event: import('./money-types.js').Refund]} refunded money went back, or came again; `refunds()` lists it as well
 * @property {[event: LateEvent]} late a payment was proved after the end of its elicitation, whichever instance created it
 */

export {};
