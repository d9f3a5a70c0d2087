export { UrlMode } from './urlmode.js';
export {
	AccountNotConnectedError, AccountReconnectError, AccountSealError, AccountSizeError, AccountUnavailableError, ClaimLostError,
	ElicitationClientGoneError, ElicitationExistsError, ElicitationLimitError, ElicitationMismatchError, ElicitationNotFoundError,
	ElicitationOpenError, ElicitationReferenceError, ElicitationSealError, ElicitationTimeoutError, KeysFileError,
	ProviderUnavailableError, RequestStateError, UnclaimedPaymentsError, UrlModeBusyError, UrlModeClosedError, UrlModeError,
} from './errors.js';

/**
 * @typedef {import('./types.js').Action} Action
 * @typedef {import('./types.js').Answer} Answer
 * @typedef {import('./types.js').ApprovalOptions} ApprovalOptions
 * @typedef {import('./types.js').BeginClaimOptions} BeginClaimOptions
 * @typedef {import('./types.js').BegunClaim} BegunClaim
 * @typedef {import('./types.js').Claim} Claim
 * @typedef {import('./types.js').CallbackUrls} CallbackUrls
 * @typedef {import('./types.js').ClientFacts} ClientFacts
 * @typedef {import('./types.js').CompletedEvent} CompletedEvent
 * @typedef {import('./types.js').CreatedEvent} CreatedEvent
 * @typedef {import('./types.js').CreateOptions} CreateOptions
 * @typedef {import('./types.js').Elicitation} Elicitation
 * @typedef {import('./types.js').Expected} Expected
 * @typedef {import('./types.js').FormElicitation} FormElicitation
 * @typedef {import('./types.js').FulfilledClaim} FulfilledClaim
 * @typedef {import('./types.js').InputOptions} InputOptions
 * @typedef {import('./types.js').Kind} Kind
 * @typedef {import('./types.js').LateEvent} LateEvent
 * @typedef {import('./types.js').OpenStatus} OpenStatus
 * @typedef {import('./types.js').OthersApproval} OthersApproval
 * @typedef {import('./types.js').OthersApprovalOptions} OthersApprovalOptions
 * @typedef {import('./types.js').Outcome} Outcome
 * @typedef {import('./types.js').Owner} Owner
 * @typedef {import('./types.js').Pool} Pool
 * @typedef {import('./types.js').Progress} Progress
 * @typedef {import('./types.js').ProgressEvent} ProgressEvent
 * @typedef {import('./types.js').PurgeKind} PurgeKind
 * @typedef {import('./types.js').PurgeOptions} PurgeOptions
 * @typedef {import('./types.js').Recheck} Recheck
 * @typedef {import('./types.js').RecheckFunction} RecheckFunction
 * @typedef {import('./types.js').Refund} Refund
 * @typedef {import('./types.js').Ticket} Ticket
 * @typedef {import('./types.js').TicketOptions} TicketOptions
 * @typedef {import('./types.js').UnclaimedPayment} UnclaimedPayment
 * @typedef {import('./types.js').UrlModeEvents} UrlModeEvents
 * @typedef {import('./types.js').UrlModeOptions} UrlModeOptions
 * @typedef {import('./types.js').WaitOptions} WaitOptions
 *
 * @typedef {import('./form/types.js').ApprovalForm} ApprovalForm
 * @typedef {import('./form/types.js').Field} Field
 * @typedef {import('./form/types.js').InputForm} InputForm
 * @typedef {import('./form/types.js').Problem} Problem
 * @typedef {import('./form/types.js').Values} Values
 * @typedef {import('./form/types.js').Verify} Verify
 * @typedef {import('./form/types.js').VerifyFunction} VerifyFunction
 * @typedef {import('./form/types.js').Words} Words
 */
