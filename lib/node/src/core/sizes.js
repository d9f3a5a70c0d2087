// How large what is sealed can be.

import { FULFILLED_MAX, RESULT_MAX } from './contract-limits.js';
import { NONCE_BYTES, TAG_BYTES } from './contract-seals.js';

/** Version, id of the key, and nonce. */
export const HEADER_BYTES = 2 + NONCE_BYTES;
/** How many bytes encryption adds. */
export const OVERHEAD = HEADER_BYTES + TAG_BYTES;

/** The largest result as JSON text, in bytes: the limit of the column less what sealing adds. */
export const RESULT_JSON_MAX = RESULT_MAX - OVERHEAD;
/** The same of what a call has returned. */
export const FULFILLED_JSON_MAX = FULFILLED_MAX - OVERHEAD;
