// Why a call has ended: its client is gone.

export class ClientGone extends Error {
	constructor() {
		super('the client has closed its connection');
	}
}

/**
 * Whether a signal of `watchAnswer` has aborted with this reason.
 *
 * @param {unknown} reason
 */
export function isClientGone(reason) {
	return reason instanceof ClientGone;
}
