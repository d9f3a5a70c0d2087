export { UrlMode } from './urlmode.js';
export { UrlModeApiError } from './api.js';
export {
	ClaimLostError, ClaimRefundedError, ElicitationClientGoneError, ElicitationExistsError, ElicitationLimitError, ElicitationMismatchError,
	ElicitationNotFoundError, ElicitationOpenError, ElicitationReferenceError, ElicitationSealError, ElicitationSubscribedError,
	ElicitationTimeoutError, RequestStateError, UrlModeBusyError, UrlModeClosedError, UrlModeError, UrlModeUnavailableError,
} from '../core/errors.js';

/** @typedef {import('./urlmode.js').HttpOptions} HttpOptions */
