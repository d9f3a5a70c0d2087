// Accounts, in Node.js.

export { runWithAccount } from './connect-account.js';
export { runUseAccount } from './use-account.js';
