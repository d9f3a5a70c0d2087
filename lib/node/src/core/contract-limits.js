// Generated from lib/contract by `make contract`: change it there.

/** Characters of the name of a provider. */
export const PROVIDER_MAX = 64;
/** Characters of the name of a tenant. */
export const TENANT_MAX = 64;
/** Bytes of a subject. */
export const SUBJECT_MAX = 512;
/** Bytes of a session. */
export const SESSION_MAX = 512;
/** Bytes of a resume key. */
export const RESUME_KEY_MAX = 512;
/** Bytes of an item, which a payment or signature is for. */
export const ITEM_MAX = 512;
/** Bytes of the id of an account. */
export const ACCOUNT_MAX = 512;
/** Bytes of the name of an MCP server. */
export const NAME_MAX = 200;
/** Bytes of the id of an MCP client. */
export const CLIENT_ID_MAX = 2_048;
/** Bytes of a target URL. */
export const TARGET_URL_MAX = 8_192;
/** Characters of a reason. */
export const REASON_MAX = 64;
/** Bytes of the reference of a payment. */
export const REFERENCE_MAX = 800;
/** Bytes of a sealed result. */
export const RESULT_MAX = 65_536;
/** Bytes of what a call returned, sealed: 16 MiB, its name and the seal. */
export const FULFILLED_MAX = 16_777_280;
/** Bytes of the sealed tokens of an account. */
export const TOKENS_MAX = 65_536;
/** Bytes of the sealed response of an MCP client. */
export const CLIENT_RESPONSE_MAX = 262_144;
/** Subjects who may decide. */
export const APPROVERS_MAX = 16;
/** Bytes of a link in a form. */
export const LINK_MAX = 2_048;
/** Digits of a number in a form: a double holds them. */
export const DIGITS_MAX = 15;
/** Characters of the name of a field of a form. */
export const FIELD_NAME_MAX = 32;
/** Bytes of a secret in a keys file, at least. */
export const SECRET_MIN = 32;
/** Bytes of a secret in a keys file, at most. */
export const SECRET_MAX = 256;
/** Bytes of a keys file, or of its content in an option. */
export const KEYS_FILE_MAX = 131_072;
/** Bytes of the path of a keys file. */
export const PATH_MAX = 4_096;
/** How often it is looked whether a keys file has changed, while it is used. */
export const KEYS_CHECK_MS = 1_000;
/** How long a link can be opened. */
export const TTL_MS = 300_000;
/** The longest time that a link can be opened, and the longest wait: a year. */
export const TTL_MAX_MS = 31_536_000_000;
/** The longest time limit that an option of a call takes: a day. */
export const CALL_MAX_MS = 86_400_000;
/** The longest grace of a description: so long after the expiry, the user and the provider may come back. */
export const GRACE_MAX_MS = 31_536_000_000;
/** How often `create` looks again, because another call has claimed the elicitation that it found. */
export const RESUME_ATTEMPTS = 3;
/** The first pause while another call creates for the same owner. */
export const BUSY_MIN_MS = 2;
/** The longest of these pauses. */
export const BUSY_MAX_MS = 100;
/** How long a session ticket is valid. */
export const TICKET_MS = 300_000;
/** The longest that a session ticket can be valid. */
export const TICKET_MAX_MS = 3_600_000;
/** How long a wait lasts. */
export const TIMEOUT_MS = 300_000;
/** How long the end of a wait waits for the database to end its row. */
export const ABANDON_MS = 2_000;
/** Rows that one statement reads for the waits. */
export const READ_BATCH_MAX = 1_000;
/** How often rows are read although nothing says so. */
export const ROUTINE_MS = 30_000;
/** How long after a read that failed the next one begins. */
export const READ_RETRY_MS = 1_000;
/** The first pause between two reads, where notifications do not arrive. */
export const POLL_MIN_MS = 250;
/** The longest of these pauses. */
export const POLL_MAX_MS = 5_000;
/** How much longer each of these pauses is than the one before. */
export const POLL_GROWTH = 1.5;
/** The shortest delay of the timer for all deadlines, because each time everything is looked at. */
export const ALARM_MIN_MS = 50;
/** Connections of an instance, besides the one that listens. */
export const POOL_MAX = 4;
/** Calls that may be in progress. Further ones are refused. */
export const CALLS_MAX = 10_000;
/**
 * How long a statement may take. PostgreSQL ends it somewhat earlier (statement_timeout), so that it is not carried out
 * after its call has failed.
 */
export const QUERY_MS = 30_000;
/**
 * How long a commit may be unanswered, before its connection is closed and the other hosts are asked which of them
 * leads. It is never cancelled: PostgreSQL would commit what waits for a standby without it.
 */
export const COMMIT_UNANSWERED_MS = 10_000;
/** How long it may take to connect to PostgreSQL. */
export const CONNECT_MS = 10_000;
/** The same for one of several hosts: one that is dead must not delay the others for long. */
export const CONNECT_OF_SEVERAL_MS = 3_000;
/** The first pause before a lost listening connection is opened again. */
export const BACKOFF_MIN_MS = 100;
/** The longest of these pauses. */
export const BACKOFF_MAX_MS = 5_000;
/** The longest of these pauses where there are several hosts, because one may be promoted at any moment. */
export const BACKOFF_OF_SEVERAL_MAX_MS = 500;
/** How long a statement on the listening connection may take. */
export const LISTEN_QUERY_MS = 10_000;
/**
 * How often the listening connection is asked whether it is alive. With a quarter more, and `listen_query_ms` of a
 * statement that was sent just before, one that died in silence is noticed in 15 seconds.
 */
export const LISTEN_CHECK_MS = 4_000;
/** How long the answer may take to the question whether a connection is alive. */
export const PING_MS = 5_000;
/** How long after its last answer a connection counts as alive: it is not asked before the next statement. */
export const ALIVE_MS = 500;
/**
 * After how much silence TCP asks the other end of a connection whether it is alive, and how long it waits before it
 * asks again.
 */
export const KEEPALIVE_MS = 5_000;
/** How long a notification may take that tests whether notifications arrive. */
export const PROBE_MS = 3_000;
/** How long `close` waits for what is under way. */
export const CLOSE_MS = 1_000;
/** How long a listening connection may take to close. */
export const DISCONNECT_MS = 1_000;
/**
 * Elements of one statement. Each may take a lock, and PostgreSQL counts on 64 in a transaction
 * (max_locks_per_transaction).
 */
export const BATCH_MAX = 32;
/** Statements of a batch that are under way: PostgreSQL has one while this process is at the other. */
export const BATCHES_AT_ONCE = 2;
/** How long an element waits for others before it is refused. */
export const BATCH_WAIT_MS = 15_000;
/** How long the lease of a claim lasts. It is renewed while the call works. */
export const CLAIM_LEASE_MS = 30_000;
/** The shortest lease of a claim. */
export const CLAIM_LEASE_MIN_MS = 1_000;
/** The longest lease of a claim. */
export const CLAIM_LEASE_MAX_MS = 3_600_000;
/** How long the lease of a claim lasts while the client asks its user what the body has asked for. */
export const CLAIM_HOLD_MS = 300_000;
/** How often a lease is renewed while it lasts. */
export const CLAIM_RENEWALS = 3;
/** How long a renewal that failed waits for the next one, and how often a call looks that waits for another one. */
export const CLAIM_RETRY_MS = 500;
/**
 * How long a call waits for the confirmation of a claim that is under way: the next call of the same process, and in Go
 * the answer.
 */
export const CLAIM_CONFIRM_MS = 1_000;
/** How often a call looks again, if the outcome that it was to claim is not there any more. */
export const CLAIM_ATTEMPTS = 3;
/** Characters of the name of a consumer of the ledger. */
export const CONSUMER_MAX = 64;
/**
 * How long the lease lasts with which an instance reads the ledger for a consumer. It is renewed as often as that of a
 * claim.
 */
export const LEDGER_LEASE_MS = 30_000;
/** Entries of the ledger that one statement reads. */
export const LEDGER_PAGE_MAX = 100;
/** How long nobody else begins a recheck. A function that takes longer has failed. */
export const RECHECK_LEASE_MS = 60_000;
/** How old the last answer of a recheck may be when a claim begins. */
export const RECHECK_AFTER_MS = 60_000;
/** The longest that this can be. */
export const RECHECK_AFTER_MAX_MS = 86_400_000;
/** How often an instance asks providers about events for which nobody waits. */
export const RECHECK_EVERY_MS = 60_000;
/** How many payments, and how many refunds, a recheck can tell of. */
export const ENTRIES_MAX = 100;
/** How many payments, and how many refunds, can be compared at once. */
export const LISTED_MAX = 100_000;
/** How long the check of a typed value may take. */
export const VERIFY_MS = 30_000;
/** The shortest time for the check of a value. */
export const VERIFY_MIN_MS = 1_000;
/** The longest time for the check of a value. */
export const VERIFY_MAX_MS = 120_000;
/** How long a result is kept after it was read. */
export const KEEP_RESULTS_MS = 600_000;
/** The longest that it can be kept. After this time, the database purges every result. */
export const KEEP_RESULTS_MAX_MS = 86_400_000;
/** How long the result of an unclaimed payment is kept. */
export const KEEP_UNCLAIMED_MS = 2_592_000_000;
/** The shortest that it can be kept: the database purges none that is younger. */
export const KEEP_UNCLAIMED_MIN_MS = 604_800_000;
/** The longest that it can be kept: ten years. */
export const KEEP_UNCLAIMED_MAX_MS = 315_360_000_000;
/** How long rows are kept that are over. */
export const RETENTION_MS = 7_776_000_000;
/** The shortest that they can be kept. */
export const RETENTION_MIN_MS = 604_800_000;
/** The longest that they can be kept: a hundred years. */
export const RETENTION_MAX_MS = 3_153_600_000_000;
/** How often an instance purges the results that are due. */
export const PURGE_RESULTS_EVERY_MS = 60_000;
/** How often an instance purges the rows that are over. */
export const PURGE_ROWS_EVERY_MS = 3_600_000;
/** Rows that one statement purges or marks as read. */
export const PURGE_BATCH_MAX = 1_000;
/** How often `migrate` tries to get the locks of its transactions. */
export const MIGRATION_TRIES = 20;
/** Characters of the name of a deployment. */
export const DEPLOYMENT_MAX = 16;
/** How long each step of `check` may take. */
export const CHECK_MS = 10_000;
/** How much the clocks may differ before `check` warns. */
export const CHECK_CLOCK_MS = 2_000;
/** How long rows are collected before one statement marks them as read. */
export const MARK_DELAY_MS = 100;
/** Rows that are kept to be marked while PostgreSQL is unavailable. The rest are purged a day after completion. */
export const UNMARKED_MAX = 10_000;
/** Reports that are remembered, so that each is made once. Beyond that the oldest one is dropped. */
export const REPORTED_MAX = 10_000;
/**
 * Elicitations of which it is remembered which status was reported, at least; at most twice as many: those that changed
 * last.
 */
export const REMEMBERED_MIN = 5_000;
/** Notifications about payments that wait to be read. After that, the last ones are listed. */
export const REPORTS_PENDING_MAX = 1_000;
/** How far back they are listed then. */
export const REPORTS_MISSED_MS = 3_600_000;
/** How long before its end an access token is refreshed in the background. */
export const VALID_FOR_MS = 60_000;
/** An access token with less time left is refreshed before a call is given it: it might end on its way. */
export const VALID_LEAST_MS = 5_000;
/**
 * A token that comes from a refresh and is refused so soon is not refreshed again: the account has to be connected
 * again.
 */
export const REFUSED_NEW_MS = 60_000;
/** The longest that a call may ask for. */
export const VALID_FOR_MAX_MS = 86_400_000;
/** How often a call looks that waits for another instance to refresh or exchange. */
export const ACCOUNT_LOOK_MS = 200;
/** How long a request to a provider about accounts may take. */
export const ACCOUNT_REQUEST_MS = 30_000;
/** Bytes of the answer of a provider: far more than tokens, keys and metadata have. */
export const ACCOUNT_ANSWER_MAX = 1_048_576;
/** Characters of an error that a provider names. */
export const ACCOUNT_CODE_MAX = 64;
/** Characters of a host that is a variable of a description. */
export const ACCOUNT_HOST_MAX = 253;
/** Names of members that a description gives a token. */
export const ACCOUNT_NAMES_MAX = 8;
/** How long after a failure it is asked once more whose account it is. */
export const ACCOUNT_AGAIN_MS = 1_000;
/** Seconds of the longest lifetime of a token: a provider that says more does not know it. */
export const TOKEN_LIFETIME_MAX_S = 3_153_600_000;
/** How long a signed client assertion is valid: long enough for clocks that differ. */
export const ASSERTION_MS = 300_000;
/** How long the metadata of a provider are used. */
export const METADATA_MS = 3_600_000;
/** Providers whose metadata are kept. */
export const METADATA_MAX = 256;
/** How long the exchange of a code may take: three requests to a provider, and what the database takes. */
export const EXCHANGE_MS = 95_000;
/**
 * How long only one instance refreshes the token of an account: longer than a request may take, with room for the
 * commits.
 */
export const REFRESH_LEASE_MS = 60_000;
/**
 * How long it stays the only one after it has sent the token: for the limit of the request, and for as long as new
 * tokens are kept in memory.
 */
export const REFRESH_SENT_MS = 330_000;
/** The longest time for which a provider is said to take a refresh token again. */
export const REUSE_MAX_MS = 86_400_000;
/** How long a refresh waits for the listening session, which tells the others that this instance is there. */
export const HOLD_WAIT_MS = 10_000;
/**
 * How much longer a request may take whose limit has passed while the process stood still: what came meanwhile is read
 * first.
 */
export const THAW_MS = 2_000;
/** So much later than it should be, a timer fires in a process that stood still. */
export const FROZEN_MS = 100;
/** The longest pause that a provider can ask for with Retry-After: an hour. */
export const RETRY_AFTER_MAX_MS = 3_600_000;
/** After so much of the lease, what is left of it is too little for a request. */
export const REFRESH_LATE_MS = 20_000;
/** How long tokens that came are kept in memory while they cannot be stored. */
export const COMMIT_MS = 300_000;
/** The first pause between two attempts to store them. */
export const COMMIT_RETRY_MIN_MS = 100;
/** The longest of these pauses. */
export const COMMIT_RETRY_MAX_MS = 5_000;
/**
 * How long a call waits before it asks its client to call again. Most clients end a call after 60 seconds, whatever
 * progress they see.
 */
export const ROUND_MS = 45_000;
/** How often a client is asked to call again without an outcome. */
export const ROUNDS_MAX = 8;
/** Bytes of the sealed call of a task, and of each of its answers. */
export const TASK_CALL_MAX = 262_144;
/** How long an instance has a task for itself whose tool it runs. It is renewed while the tool works. */
export const TASK_LEASE_MS = 30_000;
/** How long `tasks/get` waits for a tool that is run. */
export const TASK_WAIT_MS = 2_000;
/** How often a client is asked to look at its task. */
export const TASK_POLL_MS = 2_000;
/**
 * How often a task that a client listens to is looked at, although its elicitation has not moved. Twice as often, the
 * stream says that it is alive.
 */
export const TASK_LOOK_MS = 30_000;
/** Clients that may listen to tasks at a time. Others ask. */
export const TASK_LISTENS_MAX = 1_024;
/** How many of them may be one user's. */
export const TASK_OWNER_LISTENS_MAX = 32;
/** Tasks to which a client listens by one request. */
export const TASK_IDS_MAX = 32;
/** Bytes of such a request. A longer one is answered by the SDK alone. */
export const LISTEN_REQUEST_MAX = 65_536;
/** Bytes of the `requestState` of a body that asks its user for something itself. */
export const BODY_STATE_MAX = 8_192;
/** The code of JSON-RPC with which the SDKs end a request whose connection is closed. */
export const RPC_CONNECTION_CLOSED = -32000;
/** The code of JSON-RPC of parameters that are not valid. */
export const RPC_INVALID_PARAMS = -32602;
/** The code of JSON-RPC of what has failed inside. */
export const RPC_INTERNAL_ERROR = -32603;
/** The code of MCP of a request whose header names something else. */
export const RPC_HEADER_MISMATCH = -32020;
/** The code of MCP of a request whose client does not declare what it requires. */
export const RPC_CAPABILITY_MISSING = -32021;
/** How often a call that waits reports progress to its client. */
export const HEARTBEAT_MS = 15_000;
/** How long after the completion the response of a client is still waited for. */
export const RESPONSE_MS = 1_000;
/** Elicitations of a session of which it is known whether the client was told of their end. */
export const NOTICES_MAX = 1_000;
