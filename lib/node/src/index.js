export { UrlMode } from './core/urlmode.js';
export {
	AccountNotConnectedError, AccountReconnectError, AccountSealError, AccountSizeError, AccountUnavailableError, ClaimLostError,
	ClaimRefundedError, ElicitationClientGoneError, ElicitationExistsError, ElicitationLimitError, ElicitationMismatchError, ElicitationNotFoundError, ElicitationSubscribedError,
	ElicitationOpenError, ElicitationReferenceError, ElicitationSealError, ElicitationTimeoutError, KeysFileError,
	ProviderUnavailableError, RequestStateError, TokenRefusedError, UnclaimedPaymentsError, UrlModeBusyError, UrlModeClosedError, UrlModeError, UrlModeUnavailableError,
} from './core/errors.js';

/**
 * @typedef {import('./core/types.js').Action} Action
 * @typedef {import('./core/types.js').Answer} Answer
 * @typedef {import('./core/types.js').ApprovalOptions} ApprovalOptions
 * @typedef {import('./core/types.js').BeginClaimOptions} BeginClaimOptions
 * @typedef {import('./core/types.js').BegunClaim} BegunClaim
 * @typedef {import('./core/types.js').Claim} Claim
 * @typedef {import('./core/types.js').ClaimEnd} ClaimEnd
 * @typedef {import('./core/types.js').CallbackUrls} CallbackUrls
 * @typedef {import('./core/types.js').ClientFacts} ClientFacts
 * @typedef {import('./core/types.js').CompletedEvent} CompletedEvent
 * @typedef {import('./core/types.js').CreatedEvent} CreatedEvent
 * @typedef {import('./core/types.js').CreateOptions} CreateOptions
 * @typedef {import('./core/types.js').Elicitation} Elicitation
 * @typedef {import('./core/types.js').FormElicitation} FormElicitation
 * @typedef {import('./core/types.js').FulfilledClaim} FulfilledClaim
 * @typedef {import('./core/types.js').InputOptions} InputOptions
 * @typedef {import('./core/types.js').Kind} Kind
 * @typedef {import('./core/types.js').LateEvent} LateEvent
 * @typedef {import('./core/types.js').OpenStatus} OpenStatus
 * @typedef {import('./core/types.js').OthersApproval} OthersApproval
 * @typedef {import('./core/types.js').OthersApprovalOptions} OthersApprovalOptions
 * @typedef {import('./core/types.js').Outcome} Outcome
 * @typedef {import('./core/types.js').Owner} Owner
 * @typedef {import('./core/types.js').Pool} Pool
 * @typedef {import('./core/types.js').Progress} Progress
 * @typedef {import('./core/types.js').ProgressEvent} ProgressEvent
 * @typedef {import('./core/types.js').PurgeKind} PurgeKind
 * @typedef {import('./core/types.js').PurgeOptions} PurgeOptions
 * @typedef {import('./core/types.js').Recheck} Recheck
 * @typedef {import('./core/types.js').RecheckFunction} RecheckFunction
 * @typedef {import('./core/types.js').Target} Target
 * @typedef {import('./core/types.js').TargetArguments} TargetArguments
 * @typedef {import('./core/types.js').Ticket} Ticket
 * @typedef {import('./core/types.js').TicketOptions} TicketOptions
 * @typedef {import('./core/types.js').UrlModeEvents} UrlModeEvents
 * @typedef {import('./core/types.js').UrlModeOptions} UrlModeOptions
 * @typedef {import('./core/types.js').WaitOptions} WaitOptions
 *
 * @typedef {import('./core/money-types.js').Entitlement} Entitlement
 * @typedef {import('./core/money-types.js').Entries} Entries
 * @typedef {import('./core/money-types.js').Expected} Expected
 * @typedef {import('./core/money-types.js').LedgerEntry} LedgerEntry
 * @typedef {import('./core/money-types.js').LedgerOptions} LedgerOptions
 * @typedef {import('./core/money-types.js').LedgerType} LedgerType
 * @typedef {import('./core/money-types.js').PaidOptions} PaidOptions
 * @typedef {import('./core/money-types.js').PaymentEntry} PaymentEntry
 * @typedef {import('./core/money-types.js').ReconcileOptions} ReconcileOptions
 * @typedef {import('./core/money-types.js').Reconciliation} Reconciliation
 * @typedef {import('./core/money-types.js').Refund} Refund
 * @typedef {import('./core/money-types.js').RefundEntry} RefundEntry
 * @typedef {import('./core/money-types.js').UnclaimedPayment} UnclaimedPayment
 * @typedef {import('./core/money-types.js').UndeliveredClaim} UndeliveredClaim
 *
 * @typedef {import('./core/form-types.js').ApprovalForm} ApprovalForm
 * @typedef {import('./core/form-types.js').Field} Field
 * @typedef {import('./core/form-types.js').InputForm} InputForm
 * @typedef {import('./core/form-types.js').Problem} Problem
 * @typedef {import('./core/form-types.js').Values} Values
 * @typedef {import('./core/form-types.js').Verify} Verify
 * @typedef {import('./core/form-types.js').VerifyFunction} VerifyFunction
 * @typedef {import('./core/form-types.js').Words} Words
 */
