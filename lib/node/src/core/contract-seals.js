// Generated from lib/contract by `make contract`: change it there.

/** @typedef {'urlmode link v1' | 'urlmode state v1' | 'urlmode ticket v1' | 'urlmode result v1' | 'urlmode result v2' | 'urlmode outcome v1' | 'urlmode outcome v2' | 'urlmode fulfilled v1' | 'urlmode round v1' | 'urlmode task v1' | 'urlmode verifier v1' | 'urlmode form v1' | 'urlmode problem v1' | 'urlmode account v1' | 'urlmode client response v1'} Use */

export const NONCE_BYTES = 12;
export const TAG_BYTES = 16;
export const DIGEST_BYTES = 16;
export const LINK_MAC_BYTES = 14;
export const TICKET_COOKIE = '__Host-urlmode-ticket';
export const LINK_INFO = 'urlmode link v1';
export const STATE_INFO = 'urlmode state v1';
export const TICKET_INFO = 'urlmode ticket v1';
export const RESULT_INFO = 'urlmode result v1';
export const EVENT_RESULT_INFO = 'urlmode result v2';
export const OUTCOME_INFO = 'urlmode outcome v1';
export const EVENT_OUTCOME_INFO = 'urlmode outcome v2';
export const FULFILLED_INFO = 'urlmode fulfilled v1';
export const ROUND_INFO = 'urlmode round v1';
export const TASK_INFO = 'urlmode task v1';
export const VERIFIER_INFO = 'urlmode verifier v1';
export const FORM_INFO = 'urlmode form v1';
export const PROBLEM_INFO = 'urlmode problem v1';
export const ACCOUNT_INFO = 'urlmode account v1';
export const CLIENT_RESPONSE_INFO = 'urlmode client response v1';
export const BINDING_LABEL = 'urlmode binding v1';
export const BROWSER_LABEL = 'urlmode browser v1';
export const REQUEST_LABEL = 'urlmode request v1';
export const CLIENT_LABEL = 'urlmode client v1';
export const TENANT_BINDING_LABEL = 'urlmode binding v2';
