// Generated from lib/contract by `make contract`: change it there.

export const TEXTS = {
	/** @param {string} why */
	unavailable: (why) => `PostgreSQL does not answer: ${why}`,
	unavailableNotSent: 'there is no connection to it. Nothing was changed',
	unavailableNotAnswered: 'it is not known whether this call was carried out',
	/**
	 * @param {string} id
	 * @param {string} when
	 */
	timedOut: (id, when) => `elicitation ${id} was not completed ${when}`,
	/** @param {string} id */
	openStill: (id) => `elicitation ${id} is not completed yet`,
	/** @param {string} what */
	requestState: (what) => `The requestState ${what}. Call the tool again without requestState and inputResponses: that goes on with what the user has begun, or asks again.`,
	requestStateExpired: 'has expired',
	requestStateForeign: 'does not belong to this call',
	stateExpired: 'the state token has expired',
	stateNotValid: 'the state token is not valid',
	tokenRefused: 'the provider\'s API has refused the access token',
	/**
	 * @param {string} what
	 * @param {string} instead
	 */
	deprecated: (what, instead) => `${what} is deprecated, and goes with the next major version; ${instead}`,
	/** @param {number} count */
	unclaimedPayments: (count) => `${count} payments of this user are unclaimed: claim or refund them first`,
	/** @param {string} choices */
	mustBeOneOf: (choices) => `must be one of ${choices}`,
	mustBeObject: 'must be an object',
	mustNotBeEmpty: 'must not be empty',
	/**
	 * @param {number} least
	 * @param {number} most
	 */
	mustHaveCharacters: (least, most) => `must have ${least} to ${most} characters`,
	/** @param {number} most */
	mustHaveBytesAtMost: (most) => `must have at most ${most} bytes`,
	/**
	 * @param {number} least
	 * @param {number} most
	 */
	mustHaveElements: (least, most) => `must have ${least} to ${most} elements`,
	mustNotOccurTwice: 'must not occur twice',
	/** @param {string} names */
	allowedHere: (names) => `is not allowed here. Allowed are ${names}`,
	mustBeChoice: 'must be one of the choices',
	maxBelowMin: 'must not be less than min',
	/** @param {number} most */
	usualMaxBelowMin: (most) => `must not be less than min: it is ${most}`,
	mustBeInRange: 'must be from min to max',
	/**
	 * @param {number} least
	 * @param {number} most
	 */
	mustHaveLength: (least, most) => `must have ${least} to ${most} characters, as the field says`,
	/** @param {string} format */
	mustHaveFormat: (format) => `must have the format ${format}`,
	notForLines: 'is not allowed for several lines',
	mustBeTrimmed: 'must not begin or end with a space',
	mustBeFieldName: 'must begin with a letter and have at most 32 characters of a-z, 0-9 and _',
	mustBeEmail: 'must be an email address',
	mustBeUrl: 'must be a URL with https or http',
	mustBeLink: 'must be a URL with https, without a user name, of at most 2048 bytes',
	mustBeShort: 'must be a number of at most 15 digits',
	hasControls: 'must not have control characters',
	hasDirections: 'must not have characters that change the direction of text',
	mustBeUnicode: 'must be valid Unicode text',
	/**
	 * @param {number} most
	 * @param {number} size
	 */
	formTooLarge: (most, size) => `form must have at most ${most} bytes as JSON, and has ${size}`,
	approverTwice: 'approver must not have a subject twice',
	/**
	 * @param {number} least
	 * @param {number} most
	 */
	mustHaveBytes: (least, most) => `must have ${least} to ${most} bytes in UTF-8`,
	mustBeText: 'must be valid Unicode text without NUL',
	mustBeBool: 'must be true or false',
	mustBeFunction: 'must be a function',
	mustBeUrlmode: 'urlmode must be a UrlMode',
	providerName: 'provider must be a name from the configuration: at most 64 characters of a-z, 0-9, _ and -',
	tenantName: 'tenant must be at most 64 characters of a-z, 0-9, _ and -',
	consumerName: 'consumer must be 1 to 64 characters of a-z, 0-9, _ and -',
	reasonCode: 'reason must be a code of at most 64 characters of a-z, 0-9 and _',
	descriptionName: 'must be the name of a shipped description, such as stripe',
	clientName: 'the name of a client',
	mustBeMinorUnits: 'must be a whole number of minor units (cents)',
	mustBeCurrency: 'must be a currency of ISO 4217, such as EUR. Others, such as USDC, have no minor unit there to compare in',
	expectedNotAllowed: 'expected is only allowed for kind payment',
	checkoutNotAllowed: 'checkout is only allowed for kind payment',
	subscriptionNotAllowed: 'subscription is only allowed for kind payment',
	subscriptionWithoutPrice: 'subscription requires its first price: expected cannot be any',
	itemNotAllowed: 'item is only allowed for kinds payment and signature',
	itemRequired: 'item is required for kinds payment and signature: what the user gets, such as report:42',
	pkceNotAllowed: 'pkce is only allowed for kind oauth',
	/**
	 * @param {string} provider
	 * @param {string} kind
	 */
	notOfKind: (provider, kind) => `provider ${provider} cannot be of kind ${kind}: its description has no events for it. An entry with another description needs another name`,
	/** @param {string} provider */
	noCheckoutInEvents: (provider) => `expected.match cannot be checkout: the events of ${provider} do not name the checkout that was paid`,
	/**
	 * @param {number} step
	 * @param {string} provider
	 * @param {string} currency
	 */
	amountStep: (step, provider, currency) => `expected.amount must be a multiple of ${step}: ${provider} cannot charge a smaller part of ${currency}`,
	/** @param {string} provider */
	amountTooLarge: (provider) => `expected.amount is more than ${provider} can charge`,
	resultNotJson: 'result must be an object that can be written as JSON',
	/** @param {number} most */
	resultTooLarge: (most) => `result must have at most ${most} bytes as JSON`,
	paymentWithoutPrice: 'to accept a payment, amount (in minor units), currency and reference are required: what was paid, according to the provider',
	undecided: 'an approval is accepted by its approver alone, on its page',
	traceparentForm: 'traceparent must be one of W3C Trace Context, version 00',
	mustBeAbsolute: 'must be an absolute URL',
	mustBeHttps: 'must be https, or http on 127.0.0.1, localhost or [::1]',
	hasUserName: 'must not contain a user name or password',
	baseUrlParts: 'baseUrl must consist of scheme, host and port only, without path, query or fragment',
	targetUrlFragment: 'targetUrl must not have a fragment',
	targetUrlState: 'targetUrl must not have a state: /connect adds it',
	targetUrlChallenge: 'targetUrl must not have a code_challenge: pkce adds it',
	targetUrlTooLong: 'targetUrl must have at most 8192 bytes',
	aboutTooDeep: 'about is nested too deeply',
	aboutSurrogate: 'a text of about has half a surrogate pair',
	poolOrUrl: 'pool and databaseUrl cannot be used together',
	keysOrFile: 'keys and keysFile cannot be used together',
	keyLine: 'the line must be `<kid> <base64 of the key>`',
	keyKid: 'the kid must be a number from 0 to 255',
	keyTooLong: 'the key must be base64 of at most 256 bytes',
	keyTooShort: 'the key must have at least 32 bytes',
	/** @param {number} kid */
	kidTwice: (kid) => `kid ${kid} is used twice`,
	noKeyInFile: 'the file contains no key',
	notAFile: 'this is not a regular file',
	fileNotPrivate: 'other users may read or write it; run chmod o= on it',
	/** @param {string} error */
	keysStay: (error) => `${error}; the keys stay as they were`,
	/** @param {number} kid */
	noSuchKey: (kid) => `the keys file has no key ${kid}`,
	/** @param {number} kid */
	noSuchVaultKey: (kid) => `the vault's keys file has no key ${kid}`,
	notAJsonObject: 'it is not a JSON object',
	/**
	 * @param {string} cookie
	 * @param {string} ticket
	 * @param {number} seconds
	 */
	ticketCookie: (cookie, ticket, seconds) => `${cookie}=${ticket}; Path=/; Max-Age=${seconds}; Secure; HttpOnly; SameSite=Lax`,
	commitsUnanswered: 'commits are not answered',
	listenerLost: 'the listening connection is lost',
	noNotifications: 'notifications do not arrive, probably because of a pooler in transaction mode; PostgreSQL is polled',
	/** @param {string} cause */
	polling: (cause) => `${cause} at increasing intervals, so waits are resolved a little later`,
	callsInProgress: '10000 calls are in progress',
	/** @param {number} seconds */
	waitedForOthers: (seconds) => `the call has waited ${seconds} s for others`,
	ownerIsBusy: 'other calls of this owner create elicitations all the time',
	waitsMetric: 'Calls that wait for an outcome.',
	oldestWaitMetric: 'For how long the oldest of them has waited; 0: there is none.',
	waitsEndedMetric: 'Waits that have ended, by the action of the outcome, or by why there is none.',
	notificationsMetric: 'Whether notifications of PostgreSQL arrive; 0: rows are polled, or nobody waits.',
	connectionsLostMetric: 'Listening connections that were lost or not made, each followed by another attempt.',
	refundOfOtherEnd: 'only a claim that ends as refunded has the reference of a refund',
	accountClaimIsFinal: 'the claim of an account is final',
	accountIsConnected: 'an account is connected: it is neither delivered nor refunded',
	entryIsForeign: 'does not name this elicitation or its checkout',
	entryIsTaken: 'has paid for another elicitation',
	/**
	 * @param {string} id
	 * @param {string} reference
	 * @param {string} why
	 */
	recheckNotRecorded: (id, reference, why) => `recheck of elicitation ${id} did not record ${reference}, which ${why}`,
	/**
	 * @param {string} id
	 * @param {string} provider
	 * @param {string} error
	 */
	recheckFailed: (id, provider, error) => `recheck of elicitation ${id} at ${provider} has failed: ${error}`,
	/**
	 * @param {string} id
	 * @param {number} seconds
	 */
	recheckOverdue: (id, seconds) => `recheck of elicitation ${id} has not answered within ${seconds} s`,
	/** @param {string} id */
	verifyOverdue: (id) => `verify of elicitation ${id} took longer than its time limit`,
	claimedOtherwise: 'a subscription was not claimed by its entitlement',
	/**
	 * @param {string} provider
	 * @param {string} reason
	 * @param {string} detail
	 * @param {string} id
	 */
	noAccount: (provider, reason, detail, id) => `no account was connected at ${provider}: ${reason} (${detail}), elicitation ${id}`,
	/**
	 * @param {string} provider
	 * @param {string} error
	 */
	noIdentity: (provider, error) => `${provider} did not say whose account was connected (${error})`,
	connectedMeanwhile: 'the account is connected',
	secretBesideKey: 'client.secret must not be given: clients of this provider have a key',
	privateKeyNotAllowed: 'client.privateKey must not be given: clients of this provider have none',
	privateKeyForm: 'client.privateKey must be a private key as PEM, of RSA or of a curve of NIST',
	secretRequired: 'client.secret is required: this provider has no PKCE',
	secretNotAllowed: 'client.secret must not be given: clients of this provider have none',
	variableUnknown: 'is not one of this description',
	httpsWithoutQuery: 'an https URL without query and fragment',
	mustBeScopes: 'must be a list of scopes, without spaces and commas in them',
	accessTokenRequired: 'tokens must have an access_token',
	vaultKeysAreShared: 'the vault must have keys of its own, because the callback hosts, which face the internet, have the others',
	refusedIsAToken: 'refused must be an access token',
	taskUnkept: 'The result of the tool cannot be kept: call the tool without a task',
	taskOwner: 'the owner of handleTasks must be the one of the elicitation',
	taskResponse: 'The response is too large',
	taskNotFound: 'Task not found',
	taskName: 'The header Mcp-Name and the taskId differ',
	taskCapability: 'Missing required client capability',
};
