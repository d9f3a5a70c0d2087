// The types of the vault. Nothing here runs.

/**
 * @typedef {object} VaultOptions
 * @property {string | undefined} [keysFile] path of the vault's own keys file, which no callback host holds
 * @property {string | undefined} [keys] the content of a keys file, instead of keysFile
 * @property {Record<string, Omit<import('../accounts/types.js').ProviderOptions, 'provider'>>} providers what accounts are connected
 *     with, by the name of the provider: as in `withAccount`
 *
 * @typedef {object} AccountKey
 * @property {string} subject the user, according to the authorization of the MCP server
 * @property {string} provider its name in the configuration
 * @property {string | undefined} [account] the provider's id of the account; by default the one that was connected last
 *
 * @typedef {Pick<import('../accounts/types.js').Connected, 'tokens' | 'account' | 'scopes'>
 *     & Partial<Pick<import('../accounts/types.js').Connected, 'requested' | 'variables'>>
 *     & { elicitationId?: string | undefined }} ToBeStored what `withAccount` gives its body
 * @typedef {{ subject: string, session?: string | undefined, provider: string }} ElicitationOwner
 *
 * @typedef {AccountKey & { validFor?: number | undefined, refused?: string | undefined, signal?: AbortSignal | undefined }} TokenOptions
 *     `validFor`: for how many milliseconds the token must still be valid, at most half the time for which the provider makes it valid; a
 *     token that is valid is given at once without it. `refused`: an access token that the provider's API has refused. If it is the
 *     stored one, it is refreshed, once
 *
 * @typedef {object} AccessToken what the body of `useAccount` is given, and `accessToken` returns
 * @property {string} accessToken for this server only: never send it to the MCP client
 * @property {string} tokenType
 * @property {string} account
 * @property {string[]} scopes that were granted, as the provider says it
 * @property {string[]} requestedScopes that the user was asked for
 * @property {Date | undefined} expiresAt undefined if the provider does not say it
 *
 * @typedef {object} ListedAccount
 * @property {string} provider
 * @property {string} account
 * @property {'connected' | 'reconnect'} state
 * @property {string} reason why it must be connected again; empty while it is connected
 * @property {string[]} scopes that were granted, as the provider says it
 * @property {string[]} requestedScopes that the user was asked for
 * @property {Date} connectedAt
 * @property {Date} refreshedAt
 * @property {Date | undefined} expiresAt of the access token
 *
 * @typedef {{ subject: string, provider: string, account: string }} AccountEvent
 * @typedef {object} VaultEvents none contains a token
 * @property {[event: AccountEvent & { scopes: string[] }]} connected
 * @property {[event: AccountEvent]} refreshed
 * @property {[event: AccountEvent & { reason: string }]} reconnect
 * @property {[event: AccountEvent & { detail: string }]} failed a refresh has failed, and is tried again
 * @property {[event: AccountEvent & { revoked: boolean }]} disconnected also of tokens that came for it afterwards
 * @property {[event: AccountEvent & { reason: string }]} unopened its tokens cannot be sealed anew
 * @property {[event: AccountEvent & { detail: string, revoked: boolean }]} not_stored tokens cannot be stored. They were
 *     revoked, unless the provider cannot do that or the account has other tokens, which it would revoke with them
 *
 * @typedef {object} UnclaimedReference a payment that no call has claimed
 * @property {string} elicitationId
 * @property {string} provider
 * @property {string} reference
 * @property {number} amount in minor units
 * @property {string} currency
 */

export {};
