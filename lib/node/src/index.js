export { UrlMode } from './urlmode.js';
export {
	ElicitationExistsError, ElicitationNotFoundError, ElicitationSealError, ElicitationTimeoutError, KeysFileError,
	UrlModeClosedError, UrlModeError,
} from './errors.js';

/**
 * @typedef {import('./urlmode.js').Action} Action
 * @typedef {import('./urlmode.js').Answer} Answer
 * @typedef {import('./urlmode.js').CreateOptions} CreateOptions
 * @typedef {import('./urlmode.js').Elicitation} Elicitation
 * @typedef {import('./urlmode.js').Expected} Expected
 * @typedef {import('./urlmode.js').Kind} Kind
 * @typedef {import('./urlmode.js').Outcome} Outcome
 * @typedef {import('./urlmode.js').Owner} Owner
 * @typedef {import('./urlmode.js').Progress} Progress
 * @typedef {import('./urlmode.js').Recheck} Recheck
 * @typedef {import('./urlmode.js').UrlModeOptions} UrlModeOptions
 * @typedef {import('./urlmode.js').WaitOptions} WaitOptions
 * @typedef {import('./urlmode.js').Way} Way
 */
