export { Vault } from './vault/vault.js';

/**
 * @typedef {import('./vault/types.js').AccessToken} AccessToken
 * @typedef {import('./vault/types.js').AccountKey} AccountKey
 * @typedef {import('./vault/types.js').ListedAccount} ListedAccount
 * @typedef {import('./vault/types.js').TokenOptions} TokenOptions
 * @typedef {import('./vault/types.js').UnclaimedReference} UnclaimedReference
 * @typedef {import('./vault/types.js').VaultEvents} VaultEvents
 * @typedef {import('./vault/types.js').VaultOptions} VaultOptions
 */
