// The public types of money: prices, payments and refunds, entries and their reconciliation, the ledger, entitlements.
// Nothing here runs.

/**
 * @typedef {object} Price
 * @property {number} amount in the minor units of ISO 4217, for every provider
 * @property {string} currency ISO 4217
 *
 * @typedef {import('./contract-words.js').Match} Match how the amount that is paid must match: `exact`, which is the default; `at-least`,
 *     with a tax on top or a tip; `checkout`: whatever the checkout totals that `targetUrl` has named, also 0
 * @typedef {Price & { match?: Match | undefined } | { amount?: undefined, currency?: undefined, match: 'checkout' }} Expected the amount
 *     and currency that must be paid
 *
 * @typedef {object} Entitlement what a user may use because of a subscription
 * @property {string} item
 * @property {import('./contract-words.js').EntitlementStatus} status the first three may be used. `cancelled`: it is not renewed.
 *     `past_due`: a renewal was not paid. `ended`: it is over, or paused, or what was paid last has gone back
 * @property {boolean} entitled whether it may be used
 * @property {boolean} paused it has ended until it is resumed
 * @property {Date | undefined} until the end of what was paid; undefined if the provider has not said it yet
 * @property {string} provider
 * @property {string | undefined} account the provider's account that the subscription is at
 * @property {string | undefined} subscription the provider's id of it; undefined if no event has named it yet
 * @property {string | undefined} elicitationId with which it was opened
 * @property {Date} openedAt
 *
 * @typedef {import('./contract-words.js').EntryStatus} EntryStatus
 *
 * @typedef {object} EntryNames of what an entry is, from the provider's own record. A payment that has neither is not recorded
 * @property {string | null | undefined} [elicitationId]
 * @property {string | null | undefined} [checkout] the provider's id of the checkout
 *
 * @typedef {EntryNames & PaymentEntryFields} PaymentEntry
 * @typedef {object} PaymentEntryFields
 * @property {string} reference the provider's reference of the payment
 * @property {number} amount in minor units
 * @property {string} currency ISO 4217
 * @property {EntryStatus} status
 *
 * @typedef {EntryNames & RefundEntryFields} RefundEntry a refund or a dispute
 * @typedef {object} RefundEntryFields
 * @property {string} reference the provider's reference of the refund
 * @property {string} payment that of its payment
 * @property {number} amount in minor units
 * @property {string | undefined} [currency] that of the payment by default
 * @property {EntryStatus} status paid: it went back; processing: it is going back, which counts as much; failed and cancelled: it has come again
 *
 * @typedef {object} Entries what the provider has of an elicitation
 * @property {PaymentEntry[] | undefined} [payments] at most 100
 * @property {RefundEntry[] | undefined} [refunds] at most 100
 *
 * @typedef {object} ReconcileOptions
 * @property {string} provider its name in the configuration
 * @property {Date} since what was proved here then or later must be in the list
 * @property {Date | undefined} [until] and before that; now by default
 * @property {(asked: { provider: string, since: Date, until: Date }) => Promise<Entries> | Entries} listPayments what the provider has,
 *     perhaps of a longer time: at most 100 000 payments and as many refunds
 *
 * @typedef {object} Reconciliation
 * @property {Difference[]} missingHere the provider has it, for an elicitation of this database
 * @property {Difference[]} missingThere it is here, and not in the list
 * @property {Difference[]} differs amount, currency, or the elicitation that it is for
 *
 * @typedef {object} Difference
 * @property {'payment' | 'refund'} kind
 * @property {string} reference of the payment or of the refund
 * @property {string} payment the reference of the payment
 * @property {string} elicitationId
 * @property {Expected} [here] what is here, in minor units
 * @property {Expected} [there] what the provider has
 *
 * @typedef {object} ProvenPayment a payment that a provider has proved
 * @property {string} subject
 * @property {string} session
 * @property {string} elicitationId
 * @property {string} provider
 * @property {string} reference
 * @property {number} amount in minor units
 * @property {string} currency
 * @property {boolean} matches whether that was expected. If not, no call is offered it: refund it
 *
 * @typedef {ProvenPayment & UnclaimedFields} UnclaimedPayment
 * @typedef {object} UnclaimedFields
 * @property {string | undefined} item what it is for; undefined: the server did not say it
 * @property {string | undefined} resumeKey
 * @property {boolean} late whether the elicitation had ended before
 * @property {Date} provenAt
 * @property {number} refunded how much of it went back, in minor units
 * @property {boolean} held whether no call is offered it until the operator decides
 * @property {Record<string, unknown> | undefined} result undefined if there is none, if it was purged, or if no key opens it
 *
 * @typedef {object} UndeliveredClaim a claim that was fulfilled and never confirmed
 * @property {string} elicitationId
 * @property {string} provider
 * @property {import('./contract-words.js').Kind} kind
 * @property {string} subject
 * @property {string} session
 * @property {string | undefined} item what it is for; undefined: the server did not say it
 * @property {string | undefined} resumeKey
 * @property {string | undefined} reference of the payment; undefined where it is none
 * @property {number | undefined} amount in minor units
 * @property {string | undefined} currency
 * @property {Date} fulfilledAt
 * @property {Date | undefined} givenAt when another call was last given the result
 * @property {boolean} hasResult whether the next call is given the result. Otherwise it does the work again
 * @property {number} refunded how much of it went back, in minor units
 * @property {boolean} held
 *
 * @typedef {object} Refund a refund, a dispute or a cancelled authorisation
 * @property {string} elicitationId
 * @property {string} provider
 * @property {string | undefined} subject undefined where the elicitation was purged; so are session and resumeKey
 * @property {string | undefined} session
 * @property {string | undefined} item what it was for; undefined: the server did not say it
 * @property {string | undefined} resumeKey
 * @property {string} reference the provider's, of the refund; that of the payment where the provider tells the total that went back
 * @property {number | undefined} amount in minor units; undefined: all of a payment that is not known
 * @property {string | undefined} currency
 * @property {number | undefined} reversed how much of it came again: the refund failed, or the dispute was won
 * @property {Date} receivedAt
 * @property {Date} changedAt
 * @property {RefundedPayment | undefined} payment undefined: the provider did not say of which payment. Then those of each
 *     elicitation that its events have named are held, and the refund is listed for each
 *
 * @typedef {object} RefundedPayment
 * @property {string} reference
 * @property {number} amount
 * @property {number} refunded how much of it has gone back, in all
 * @property {boolean} held
 * @property {boolean} claimed whether a call has claimed it
 *
 * @typedef {import('./contract-words.js').LedgerType} LedgerType
 *
 * @typedef {object} LedgerOptions
 * @property {string} consumer 1 to 64 lower-case letters, digits, underscores and hyphens: the database keeps how far it has read
 * @property {AbortSignal | undefined} [signal] the loop ends with its reason
 *
 * @typedef {object} LedgerEntry
 * @property {number} number its place in the order. After a failover that has lost commits, numbers are given again
 * @property {LedgerType} type what happened
 * @property {Date} enteredAt when it was written
 * @property {'payment' | 'refund' | 'dispute' | 'cancellation'} kind what `reference` names
 * @property {string} provider
 * @property {string | undefined} elicitationId undefined: it may be of several
 * @property {string | undefined} subject undefined: the user was forgotten
 * @property {string | undefined} item undefined: the elicitation has none
 * @property {string | undefined} reference the provider's, of the refund or dispute; otherwise that of the payment
 * @property {string | undefined} payment the provider's reference of the payment; undefined: it is not known
 * @property {string | undefined} checkout the provider's id of the checkout; a payment that was proved by that alone had it as its reference
 * @property {number | undefined} amount in minor units: of the payment; of a refund or dispute what it took, or what came again of it, in total
 * @property {string | undefined} currency
 * @property {number | undefined} refunded how much of the payment has gone back by then, of all refunds together; undefined: it is not known
 * @property {string | undefined} status what the provider calls the state of the refund or dispute
 * @property {Date | undefined} occurredAt when it happened, as the provider says
 * @property {Date | undefined} evidenceDueAt until when the provider takes evidence in a dispute
 *
 * @typedef {object} PaidOptions
 * @property {string} subject the user
 * @property {string} item what was sold
 * @property {Date | undefined} [since] only what was proved then or later
 * @property {boolean | undefined} [delivered] true: only what a call has claimed and delivered, so that the next call claims what
 *     no call has. False by default
 */

export {};
