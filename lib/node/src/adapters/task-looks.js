// What is known of a task by whoever looks at it for a client that listens. See task-notifications.js.

import { CallContext } from '#call-context';

/**
 * @typedef {object} Look
 * @property {string | undefined} [elicitationId] that the task waits for; undefined: that has ended
 * @property {import('../core/types.js').Owner} [owner]
 * @property {string} [status] of the elicitation
 * @property {boolean} [isBusy] whether the tool of the task is run
 * @property {() => Promise<void>} [confirm] where it has a result that was never read: when the client has got it
 */

/** @type {CallContext<Look>} */
export const looks = new CallContext();
