// The types of accounts that are connected. Nothing here runs.

/**
 * @typedef {object} Client this server, as it is registered at the provider
 * @property {string} id
 * @property {string | undefined} [secret] without it and a key the client is a public one, which needs PKCE
 * @property {string | undefined} [privateKey] as PEM, for a provider whose clients sign their requests
 * @property {string | undefined} [keyId] the provider's id of this key
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
 * @typedef {AccountFields & { provider: string, reuseWithin?: number | 'never' | undefined }} ProviderOptions `reuseWithin`: for how many
 *     seconds after its use the provider takes a refresh token again, where the description does not say it or the client is set up otherwise
 *
 * @typedef {object} Tokens the answer of the token endpoint, with all of its members
 * @property {string} access_token
 * @property {string} token_type in lower case
 * @property {number} [expires_in] seconds
 * @property {string} [refresh_token] the access token itself, if that is what renews it
 * @property {string} [scope]
 * @property {string} [id_token] only if it was verified
 * @property {Record<string, string>} [urlmode_variables] those of the description, of stored tokens
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
 * @property {string[]} requested those that were asked for
 * @property {Record<string, unknown> | undefined} claims of the id token, if there is one
 * @property {Record<string, string>} returned further parameters of the return, such as QuickBooks' realmId. They came by the browser:
 *     its user can change them
 * @property {Record<string, string>} variables those of the description that this account was connected with
 *
 * @typedef {'issuer_missing' | 'issuer_mismatch' | 'exchange_refused' | 'exchange_failed' | 'scope_missing'} Refusal
 *
 * @typedef {object} NotConnected
 * @property {Refusal} reason
 * @property {string} detail a code of the provider or of openid-client, the HTTP status, what came instead of an error; or names of scopes. It
 *     contains no secret
 */

/**
 * @typedef {object} OAuthDescription the `oauth` part of a description, see lib/providers/ACCOUNTS.md
 * @property {string | undefined} [issuer]
 * @property {boolean} [authorization_response_iss_parameter_supported]
 * @property {string | undefined} [authorization_endpoint]
 * @property {string | undefined} [token_endpoint]
 * @property {string | undefined} [revocation_endpoint]
 * @property {string | undefined} [refresh_endpoint] where it is not the token endpoint
 * @property {boolean} [refresh_token_stays_good] also after its use
 * @property {number | 'never'} [reuse_within] for how many seconds after its use a refresh token is taken again
 * @property {'S256' | 'none'} pkce
 * @property {'client_secret_basic' | 'client_secret_post' | 'private_key_jwt' | 'none'} token_endpoint_auth_method
 * @property {{ issuer: string, audience: string } | undefined} [signed_secret] the client secret is a token that is signed for each request
 * @property {Record<string, string>} [parameter_names] the provider's name of a parameter, by the standard's
 * @property {'form' | 'json'} [token_request] how the parameters of a token request are sent
 * @property {{ parameter?: string, separator?: string }} [scope]
 * @property {Record<string, string>} [parameters]
 * @property {Record<string, string>} [token_parameters]
 * @property {'query' | 'form_post'} [response_mode]
 * @property {Record<string, Variable>} [variables]
 * @property {object} [authorization_response] the provider's own words, for the callback programs
 * @property {import('./token-response.js').Rules} [token_response]
 * @property {{ access?: string, refresh?: string, rotation?: string, source?: string }} [lifetimes] for people
 * @property {{ exchange: Lengthening, renewal?: Lengthening | undefined } | undefined} [long_lived]
 * @property {AccountSource | undefined} [account]
 *
 * @typedef {{ as: 'label' | 'labels' | 'url', default?: string, among?: string[], return_parameter?: string, notes?: string }} Variable
 *
 * @typedef {object} Lengthening a request that is answered with a long-lived token
 * @property {'GET' | 'POST'} [method]
 * @property {string} endpoint
 * @property {Record<string, string>} parameters
 *
 * @typedef {object} AccountSource
 * @property {'token_response' | 'id_token' | 'userinfo' | 'return'} [from]
 * @property {string | undefined} [endpoint]
 * @property {Record<string, string>} [headers]
 * @property {object} [body]
 * @property {string} id
 * @property {string} [name]
 */

export {};
