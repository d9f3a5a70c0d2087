// The types of accounts that are connected. Nothing here runs.

/**
 * @typedef {object} Client this server, as it is registered at the provider
 * @property {string} id
 * @property {string | undefined} [secret] without it the client is a public one, which needs PKCE
 *
 * @typedef {object} AccountFields
 * @property {string | undefined} [description] the name of a description of lib/providers, or the path of a file of your own, with a
 *     slash; `provider` by default
 * @property {Client} client
 * @property {string[] | undefined} [scopes] none by default
 * @property {string[] | undefined} [requiredScopes] those without which the account is of no use: if the provider does not grant all of
 *     them, the reason is `scope_missing`
 * @property {Record<string, string> | undefined} [variables] what {name} in the description stands for, such as the tenant or the shop
 * @property {Record<string, string> | undefined} [parameters] further parameters of the authorization request, over those of the
 *     description
 *
 * @typedef {AccountFields & { provider: string }} ProviderOptions
 *
 * @typedef {object} Tokens the answer of the token endpoint, with all of its members
 * @property {string} access_token
 * @property {string} token_type in lower case
 * @property {number} [expires_in] seconds
 * @property {string} [refresh_token]
 * @property {string} [scope]
 * @property {string} [id_token] only if it was verified
 * @property {unknown} [member] whatever else the provider sends
 *
 * @typedef {object} Account whose account it is, as the provider says it
 * @property {string} id
 * @property {string} [name] for people
 *
 * @typedef {object} Connected
 * @property {Tokens} tokens for this server only: never send them to the MCP client
 * @property {Account | undefined} account undefined if the provider did not say it
 * @property {string[]} scopes those that were granted
 * @property {Record<string, unknown> | undefined} claims of the id token, if there is one
 *
 * @typedef {'issuer_missing' | 'issuer_mismatch' | 'exchange_refused' | 'exchange_failed' | 'scope_missing'} Refusal
 *
 * @typedef {object} NotConnected
 * @property {Refusal} reason
 * @property {string} detail a code of the provider or of openid-client, or names of scopes. It contains no secret
 */

/**
 * @typedef {object} OAuthDescription the `oauth` part of a description, see lib/providers/ACCOUNTS.md
 * @property {string | undefined} [issuer]
 * @property {boolean} [authorization_response_iss_parameter_supported]
 * @property {string | undefined} [authorization_endpoint]
 * @property {string | undefined} [token_endpoint]
 * @property {string | undefined} [revocation_endpoint]
 * @property {'S256' | 'none'} pkce
 * @property {'client_secret_basic' | 'client_secret_post' | 'none'} token_endpoint_auth_method
 * @property {{ parameter?: string, separator?: string }} [scope]
 * @property {Record<string, string>} [parameters]
 * @property {Record<string, string>} [token_parameters]
 * @property {'query' | 'form_post'} [response_mode]
 * @property {Record<string, Variable>} [variables]
 * @property {{ member?: string, token_type?: 'bearer' }} [token_response]
 * @property {AccountSource | undefined} [account]
 *
 * @typedef {{ as: 'label' | 'labels' | 'url', default?: string, notes?: string }} Variable
 *
 * @typedef {object} AccountSource
 * @property {'token_response' | 'id_token' | 'userinfo'} [from]
 * @property {string | undefined} [endpoint]
 * @property {Record<string, string>} [headers]
 * @property {object} [body]
 * @property {string} id
 * @property {string} [name]
 */

export {};
