// Where there is no Node.js, no account can be connected: its client authentication and the descriptions of providers are
// Node's, and the vault has a database.

/** @returns {Promise<never>} */
export async function runWithAccount() {
	throw new TypeError('withAccount and useAccount need Node.js. withElicitation with kind oauth and pkce returns the code that your server exchanges');
}

export const runUseAccount = runWithAccount;
