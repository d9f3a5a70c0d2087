// Generated from lib/contract by `make contract`: change it there.

export const TEXTS = {
	checkDatabaseAdvice: 'correct URLMODE_DATABASE_URL, or start PostgreSQL',
	/** @param {string} login */
	checkLoginAdvice: (login) => `connect as ${login}, or as a member of it`,
	checkWalkAdvice: 'the log of PostgreSQL says why; urlmode check on a callback host finds the cause',
	checkCallbackAdvice: 'correct URLMODE_BASE_URL, or start the callback programs and nginx',
	/**
	 * @param {number} kid
	 * @param {number} count
	 */
	checkKeys: (kid, count) => `key ${kid} seals; of ${count} that open`,
	checkStandbyAdvice: 'this is a standby: connect to the primary',
	/** @param {string} seconds */
	checkClock: (seconds) => `PostgreSQL's clock is ${seconds} seconds ahead of this host's`,
	checkNoSchema: 'there is no schema urlmode',
	/** @param {string} names */
	checkChanged: (names) => `not as it was applied: ${names}`,
	checkChangedAdvice: 'urlmode migrate says the way out',
	/** @param {string} role */
	checkRole: (role) => `${role} does not have the settings of urlmode_server`,
	checkNotHeard: 'the end of an elicitation was written, and its notification does not come',
	checkHeard: 'an elicitation is created and ended, and its end is heard',
	/**
	 * @param {string} url
	 * @param {number} status
	 */
	checkDonePage: (url, status) => `${url}/done answers ${status}, not as urlmode does`,
	checkNginxAdvice: 'compare nginx with nginx/README.md',
	checkSameKeys: 'the callback programs have the key that seals here',
	checkOtherKeys: 'the callback programs do not open what is sealed here',
	checkOtherKeysAdvice: 'copy their keys file',
	/** @param {string} provider */
	checkNoProvider: (provider) => `the callback programs have no provider ${provider}`,
	checkNoProviderAdvice: 'compare with their configuration',
	checkOtherAnswer: 'the callback programs answer otherwise than expected',
	triesNumber: '--tries needs a number from 1 to 9999',
	deploymentName: 'a deployment has a name of 1 to 16 of a-z and 0-9, which begins with a letter',
	revokeNeedsDeployment: '--revoke-others needs --deployment, whose logins stay',
	/**
	 * @param {string} file
	 * @param {number} tried
	 * @param {number} tries
	 */
	migrationWaited: (file, tried, tries) => `${file} has waited too long for a lock, and has changed nothing (try ${tried} of ${tries})`,
	migrationGaveUp: 'gave up. Try again when these transactions have ended; pg_terminate_backend(PROCESS) ends one',
	/** @param {string} file */
	migrationChanged: (file) => `${file} is not as it was applied, and migrate would refuse`,
	/** @param {string} file */
	migrationMissing: (file) => `${file} would be applied`,
	/** @param {number} version */
	functionsOlder: (version) => `functions of version ${version} would be applied`,
	/**
	 * @param {number} version
	 * @param {number} own
	 */
	functionsNewer: (version, own) => `the functions are newer, of version ${version}, and would not be replaced by version ${own}`,
	/**
	 * @param {string} framework
	 * @param {string} others
	 */
	noExample: (framework, others) => `there is no example for ${framework}, but for ${others}`,
	paidExample: 'SDK 2.x: a report that is sold once, credits, and a subscription',
	fileStays: 'exists, and stays as it is',
};
