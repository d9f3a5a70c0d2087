// The rows of the schema urlmode, as the waiting side writes and reads them. Types only:
// nothing here runs.

/**
 * A row as the waiting side sees it.
 *
 * @typedef {object} Row
 * @property {string} id
 * @property {string} provider
 * @property {import('./types.js').Kind} kind
 * @property {'pending' | 'opened' | 'processing' | 'completed'} status
 * @property {import('./types.js').Action | null} action
 * @property {string} reason
 * @property {boolean} late whether a payment was proved after the end, which makes the action accept
 * @property {string | null} payment_reference of the payment that is the outcome
 * @property {string} refunded how much of it went back, in minor units
 * @property {boolean} held whether it was paid, and the operator must decide, because a part of it may have gone back
 * @property {import('./types.js').OpenStatus | null} completed_from the status that a cancellation by an MCP server has interrupted
 * @property {Buffer | null} result sealed
 * @property {Buffer | null} verifier sealed
 * @property {string} closes_in_ms by PostgreSQL's clock; negative if it may be expired
 * @property {number} failed_attempts how many attempts to pay have failed, or how many problems `verify` has found
 * @property {number} rechecks how many events have required a recheck
 * @property {number} rechecked how many of them were answered
 * @property {string | null} recheck_in_ms for how long nobody may begin a recheck; null or negative: now
 *
 * @typedef {object} NewRow
 * @property {string} id
 * @property {string} provider
 * @property {import('./types.js').Kind} kind
 * @property {string} subject
 * @property {string} session
 * @property {Buffer} binding
 * @property {string} requester
 * @property {string | null} targetUrl null for a form
 * @property {import('./types.js').Expected | 'any' | null} expected
 * @property {Buffer | null} verifier sealed
 * @property {number} ttl milliseconds
 * @property {boolean} exclusive
 * @property {string | null} resumeKey
 * @property {boolean} canRecheck see `CreateOptions`
 * @property {Buffer} request digest of the request
 * @property {string | null} checkout the provider's id of the checkout
 * @property {string | null} clientId of the MCP client
 * @property {number} linkKid of the key that mints its link
 * @property {Buffer | null} form sealed
 * @property {string[] | null} approvers who may decide. null: the subject; empty: anyone else
 * @property {number | null} verifyMs the time limit of `verify`, if there is one
 * @property {string | null} traceparent the trace of the call
 *
 * @typedef {{ binding: Buffer, resumeKey: string, canRecheck: boolean, request: Buffer }} ResumeKey
 *
 * @typedef {object} Resumed
 * @property {string} id
 * @property {string} provider
 * @property {import('./types.js').Kind} kind
 * @property {number} expires Unix seconds with a fraction
 * @property {number} ttl milliseconds; negative if it has expired
 * @property {number | null} linkKid of the key that has minted its link
 *
 * @typedef {object} Completion
 * @property {string} id
 * @property {Buffer} binding
 * @property {import('./types.js').Action} action
 * @property {string} reason
 * @property {Buffer | null} result sealed
 * @property {number | null} amount
 * @property {string | null} currency
 * @property {string | null} reference
 *
 * @typedef {object} RecheckRow
 * @property {number} lease for the end of this recheck
 * @property {number} rechecks
 * @property {string | null} event_type
 * @property {string[]} references in the events that ask for a recheck, the last one last
 * @property {import('./types.js').Expected | 'any' | null} expected
 *
 * @typedef {object} CheckRow what a user has submitted
 * @property {number} lease for the end of this check
 * @property {Buffer} result sealed
 * @property {string} left_ms until the time limit
 *
 * @typedef {object} UnclaimedRow
 * @property {string} elicitation
 * @property {string} provider_name
 * @property {string} reference
 * @property {string} amount
 * @property {string} currency
 * @property {boolean} matches
 * @property {boolean} late
 * @property {Date} proven_at
 * @property {string} refunded
 * @property {boolean} held
 * @property {string} subject
 * @property {string} session
 * @property {Buffer} binding
 * @property {string | null} resume_key
 * @property {Buffer | null} result sealed
 *
 * @typedef {object} RefundRow
 * @property {string} elicitation
 * @property {string} provider_name
 * @property {string} reference
 * @property {string | null} amount
 * @property {string | null} currency
 * @property {string | null} reversed
 * @property {Date} received_at
 * @property {Date} changed_at
 * @property {string | null} payment
 * @property {string | null} paid
 * @property {string | null} refunded
 * @property {boolean | null} held
 * @property {boolean} claimed
 * @property {string | null} subject
 * @property {string | null} session
 * @property {string | null} resume_key
 *
 * @typedef {'created' | 'resumed' | 'busy' | 'full'} CreateOutcome
 *
 * @typedef {'completed' | 'already' | 'opened' | 'processing'} AbandonOutcome
 *
 * @typedef {Pick<Row, 'id'> & { binding: Buffer }} RowKey identifies a row
 *
 * @typedef {RowKey & { action: 'decline' | 'cancel', reason: string }} Abandoned
 */

export {};
