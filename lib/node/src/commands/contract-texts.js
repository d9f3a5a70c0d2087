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
	/** @param {string} sdk */
	paidExample: (sdk) => `${sdk}: a report that is sold once, credits, and a subscription`,
	/** @param {string} writes */
	exampleWritten: (writes) => `${writes} the example server of a framework into a folder, this one by default:`,
	exampleList: 'Without FRAMEWORK it lists them:',
	fileStays: 'exists, and stays as it is',
};

export const CHECK_HELP = `usage: urlmode check [--provider NAME] [--json]

Looks at what an MCP server needs: the database, its schema and the role, the
clock, the keys file, and whether the callback programs answer at the base URL
and have the same keys. With the login of the server it creates an elicitation
of its own, ends it, hears of that, and deletes it. URLMODE_DATABASE_URL,
URLMODE_KEYS_FILE and URLMODE_BASE_URL are those of the server. Says of each
what it found and what to do.

  --provider NAME  a provider of the callback programs' configuration, for a
                   link that they open; by default the one that they have for
                   this
  --json           one JSON object, with the status and an array of findings

Status: 0 nothing is wrong, 1 warnings, 2 errors.
`;

export const MIGRATE_HELP = `usage: urlmode migrate [--frameworks] [--deployment NAME] [--revoke-others]
                       [--tries N] [--dry-run]

Applies the migrations of the package, in order and each once, to the database
that URLMODE_ADMIN_DATABASE_URL names; its user must be able to create roles and
a schema. Each migration is one transaction. Then replaces the functions, in one
transaction; newer functions than those of the package are an error, and so is a
migration that is not as it was applied.

A transaction waits half a second for a lock, because reads and writes of the
table wait behind it. Then it gives way, names the processes that hold the lock,
and tries again, 20 times or N. Two runs at the same time wait for each other.
Stops at the first other error. What was applied before it stays, also when the
lock did not become free.

  --frameworks       also the schema urlmode_frameworks, which FrontMCP and
                     mcp-lite need; later runs know that it is there
  --deployment NAME  the logins are urlmode_NAME_cgi and so on; for the name
                     default urlmode_cgi. A database that has other ones gets
                     these beside them
  --revoke-others    these logins alone can use this database from now on
  --tries N          how often a transaction waits for its locks
  --dry-run          say what would be applied, and change nothing; the status
                     is 1 if migrate would refuse
`;
