/** The base of the errors of this package. */
export class UrlModeError extends Error {
	/**
	 * @param {string} code
	 * @param {string} message
	 */
	constructor(code, message) {
		super(message);
		this.name = new.target.name;
		/** Does not change between versions. The message may. */
		this.code = code;
	}
}
