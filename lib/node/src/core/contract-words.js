// Generated from lib/contract by `make contract`: change it there.

/**
 * @typedef {'oauth' | 'payment' | 'signature' | 'input' | 'approval'} Kind what the user does in the browser. `input`
 * and `approval` are on pages of the callback programs.
 */

/** @type {readonly Kind[]} */
export const KINDS = ['oauth', 'payment', 'signature', 'input', 'approval'];

/** @typedef {'input' | 'approval'} FormKind a kind with a page of the callback programs */

/** @type {readonly FormKind[]} */
export const FORM_KINDS = ['input', 'approval'];

/** @typedef {'accept' | 'decline' | 'cancel'} Action one of the three actions of the protocol */

/** @type {readonly Action[]} */
export const ACTIONS = ['accept', 'decline', 'cancel'];

/** @typedef {'decline' | 'cancel'} EndAction an action without an outcome */

/** @type {readonly EndAction[]} */
export const END_ACTIONS = ['decline', 'cancel'];

/**
 * @typedef {'completed' | 'already' | 'opened' | 'processing'} AbandonOutcome what `abandon` has done, or the status in
 * which the elicitation stays
 */

/**
 * @typedef {'pending' | 'opened' | 'processing'} OpenStatus the status of an elicitation that is not completed. They
 * are in their order.
 */

/** @type {readonly OpenStatus[]} */
export const OPEN_STATUSES = ['pending', 'opened', 'processing'];

/**
 * @typedef {'opened' | 'processing' | 'attempt_failed'} Progress what a wait hears of. `attempt_failed`: an attempt to
 * pay has failed, or what was typed was not accepted, and the user can try again.
 */

/** @type {readonly string[]} each is how a wait has ended, for the metrics */
export const WAIT_ENDS = ['accept', 'decline', 'cancel', 'timeout', 'aborted', 'closed', 'error'];

/**
 * @typedef {'oauth' | 'payment' | 'signature' | 'input' | 'approval' | 'result' | 'stored'} PurgeKind what a purge
 * deletes. `result`: the results that are due. `stored`: expired values that adapters have stored.
 */

/** @type {readonly PurgeKind[]} */
export const PURGE_KINDS = ['oauth', 'payment', 'signature', 'input', 'approval', 'result', 'stored'];

/**
 * @typedef {'paid' | 'processing' | 'failed' | 'cancelled'} EntryStatus the status of a payment or refund at its
 * provider
 */

/** @type {readonly EntryStatus[]} */
export const ENTRY_STATUSES = ['paid', 'processing', 'failed', 'cancelled'];

/**
 * @typedef {'trialing' | 'active' | 'cancelled' | 'past_due' | 'ended'} EntitlementStatus what a subscription is. The
 * first three may be used. One that is cancelled is not renewed.
 */

/**
 * @typedef {'paid' | 'mismatched' | 'late' | 'refunded' | 'refund_reversed' | 'disputed' | 'dispute_won' |
 * 'dispute_lost' | 'held' | 'released' | 'voided' | 'claimed' | 'delivered'} LedgerType what became of money
 */

/** @typedef {'delivered' | 'refunded'} ClaimEnd how the claim of a payment ends that `unclaimed` lists */

/**
 * @typedef {'exact' | 'at-least' | 'checkout'} Match how the amount that is paid must match. `exact`, which is the
 * default; `at-least`, with a tax on top or a tip; `checkout`: whatever the checkout totals that the target has named,
 * also 0.
 */

/** @type {readonly Match[]} */
export const MATCHES = ['exact', 'at-least', 'checkout'];

/**
 * @type {readonly string[]} each is a class of SQLSTATEs with which the server refuses what it would refuse again: a
 * privilege or a migration is missing, or a limit is reached
 */
export const REFUSAL_CLASSES = ['42', '3F', '54'];

/**
 * @type {readonly string[]} each is how a SQLSTATE begins with which the server refuses a statement for the sake of one
 * of its elements, or of another transaction: data, constraints, RAISE, deadlocks, locks that take too long. Nothing of
 * the statement has happened then.
 */
export const ELEMENT_CLASSES = ['22', '23', 'P0', '40', '55P03', '57014'];

/**
 * @type {readonly string[]} each is a class of SQLSTATEs with which a server answers LISTEN that does not support it
 */
export const UNLISTENABLE_CLASSES = ['0A', '42'];

/** @type {readonly string[]} each is a class of SQLSTATEs of a value that is larger than a row takes */
export const UNSTORABLE_CLASSES = ['22', '23', '54'];

/**
 * @type {readonly string[]} each is a class of SQLSTATEs that speak of the statement or of its data, and would be said
 * again: data, constraints, syntax and rights, a missing schema
 */
export const LASTING_CLASSES = ['22', '23', '42', '3F'];
