export { UrlMode } from './urlmode.js';
export {
	ElicitationClientGoneError, ElicitationExistsError, ElicitationMismatchError, ElicitationNotFoundError,
	ElicitationReferenceError, ElicitationSealError, ElicitationTimeoutError, KeysFileError, ProviderUnavailableError, RequestStateError,
	UrlModeClosedError, UrlModeError,
} from './errors.js';

/**
 * @typedef {import('./types.js').Action} Action
 * @typedef {import('./types.js').Answer} Answer
 * @typedef {import('./types.js').CompletedEvent} CompletedEvent
 * @typedef {import('./types.js').CreatedEvent} CreatedEvent
 * @typedef {import('./types.js').CreateOptions} CreateOptions
 * @typedef {import('./types.js').Elicitation} Elicitation
 * @typedef {import('./types.js').Expected} Expected
 * @typedef {import('./types.js').Kind} Kind
 * @typedef {import('./types.js').LateEvent} LateEvent
 * @typedef {import('./types.js').OpenStatus} OpenStatus
 * @typedef {import('./types.js').Outcome} Outcome
 * @typedef {import('./types.js').Owner} Owner
 * @typedef {import('./types.js').Progress} Progress
 * @typedef {import('./types.js').ProgressEvent} ProgressEvent
 * @typedef {import('./types.js').PurgeKind} PurgeKind
 * @typedef {import('./types.js').PurgeOptions} PurgeOptions
 * @typedef {import('./types.js').Recheck} Recheck
 * @typedef {import('./types.js').RecheckFunction} RecheckFunction
 * @typedef {import('./types.js').Ticket} Ticket
 * @typedef {import('./types.js').TicketOptions} TicketOptions
 * @typedef {import('./types.js').UnclaimedPayment} UnclaimedPayment
 * @typedef {import('./types.js').UrlModeEvents} UrlModeEvents
 * @typedef {import('./types.js').UrlModeOptions} UrlModeOptions
 * @typedef {import('./types.js').WaitOptions} WaitOptions
 * @typedef {import('./types.js').Way} Way
 */
