"""Generated from lib/contract by `make contract`: change it there."""

from __future__ import annotations

# Characters of the name of a provider.
PROVIDER_MAX = 64
# Characters of the name of a tenant.
TENANT_MAX = 64
# Bytes of a subject.
SUBJECT_MAX = 512
# Bytes of a session.
SESSION_MAX = 512
# Bytes of a resume key.
RESUME_KEY_MAX = 512
# Bytes of an item, which a payment or signature is for.
ITEM_MAX = 512
# Bytes of the id of an account.
ACCOUNT_MAX = 512
# Bytes of the name of an MCP server.
NAME_MAX = 200
# Bytes of the id of an MCP client.
CLIENT_ID_MAX = 2_048
# Bytes of a target URL.
TARGET_URL_MAX = 8_192
# Characters of a reason.
REASON_MAX = 64
# Bytes of the reference of a payment.
REFERENCE_MAX = 800
# Bytes of a sealed result.
RESULT_MAX = 65_536
# Bytes of what a call returned, sealed: 16 MiB, its name and the seal.
FULFILLED_MAX = 16_777_280
# Bytes of the sealed tokens of an account.
TOKENS_MAX = 65_536
# The largest whole number that numbers of JSON hold exactly everywhere (2^53 - 1), and so the largest amount.
SAFE_INTEGER = 9_007_199_254_740_991
# Subjects who may decide.
APPROVERS_MAX = 16
# Bytes of a link in a form.
LINK_MAX = 2_048
# Digits of a number in a form: a double holds them.
DIGITS_MAX = 15
# Characters of the name of a field of a form.
FIELD_NAME_MAX = 32
# Bytes of a secret in a keys file, at least.
SECRET_MIN = 32
# Bytes of a secret in a keys file, at most.
SECRET_MAX = 256
# Bytes of a keys file, or of its content in an option.
KEYS_FILE_MAX = 131_072
# Bytes of the path of a keys file.
PATH_MAX = 4_096
# How often it is looked whether a keys file has changed, while it is used.
KEYS_CHECK_S = 1
# How long a link can be opened.
TTL_S = 300
# The longest time that a link can be opened, and the longest wait: a year.
TTL_MAX_S = 31_536_000
# The longest time limit that an option of a call takes: a day.
CALL_MAX_S = 86_400
# The longest grace of a description: so long after the expiry, the user and the provider may come back.
GRACE_MAX_S = 31_536_000
# How often `create` looks again, because another call has claimed the elicitation that it found.
RESUME_ATTEMPTS = 3
# The first pause while another call creates for the same owner.
BUSY_MIN_S = 0.002
# The longest of these pauses.
BUSY_MAX_S = 0.1
# How long a session ticket is valid.
TICKET_S = 300
# The longest that a session ticket can be valid.
TICKET_MAX_S = 3_600
# How long a wait lasts.
TIMEOUT_S = 300
# How long the end of a wait waits for the database to end its row.
ABANDON_S = 2
# Rows that one statement reads for the waits.
READ_BATCH_MAX = 1_000
# How often rows are read although nothing says so.
ROUTINE_S = 30
# How long after a read that failed the next one begins.
READ_RETRY_S = 1
# The first pause between two reads, where notifications do not arrive.
POLL_MIN_S = 0.25
# The longest of these pauses.
POLL_MAX_S = 5
# How much longer each of these pauses is than the one before.
POLL_GROWTH = 1.5
# The shortest delay of the timer for all deadlines, because each time everything is looked at.
ALARM_MIN_S = 0.05
# Connections of an instance, besides the one that listens.
POOL_MAX = 4
# Calls that may be in progress. Further ones are refused.
CALLS_MAX = 10_000
# How long a statement may take. PostgreSQL ends it somewhat earlier (statement_timeout), so that it is not
# carried out after its call has failed.
QUERY_S = 30
# How long a commit may be unanswered, before its connection is closed and the other hosts are asked which of
# them leads. It is never cancelled: PostgreSQL would commit what waits for a standby without it.
COMMIT_UNANSWERED_S = 10
# How long it may take to connect to PostgreSQL.
CONNECT_S = 10
# The same for one of several hosts: one that is dead must not delay the others for long.
CONNECT_OF_SEVERAL_S = 3
# The first pause before a lost listening connection is opened again.
BACKOFF_MIN_S = 0.1
# The longest of these pauses.
BACKOFF_MAX_S = 5
# The longest of these pauses where there are several hosts, because one may be promoted at any moment.
BACKOFF_OF_SEVERAL_MAX_S = 0.5
# How long a statement on the listening connection may take.
LISTEN_QUERY_S = 10
# How often the listening connection is asked whether it is alive. With a quarter more, and `listen_query_ms` of
# a statement that was sent just before, one that died in silence is noticed in 15 seconds.
LISTEN_CHECK_S = 4
# How long the answer may take to the question whether a connection is alive.
PING_S = 5
# How long after its last answer a connection counts as alive: it is not asked before the next statement.
ALIVE_S = 0.5
# After how much silence TCP asks the other end of a connection whether it is alive, and how long it waits
# before it asks again.
KEEPALIVE_S = 5
# How many of these questions may have no answer.
KEEPALIVE_COUNT = 2
# How long what was sent may stay without TCP's acknowledgement, where the driver can set it.
UNACKED_S = 15
# How long a notification may take that tests whether notifications arrive.
PROBE_S = 3
# How long `close` waits for what is under way.
CLOSE_S = 1
# Elements of one statement. Each may take a lock, and PostgreSQL counts on 64 in a transaction
# (max_locks_per_transaction).
BATCH_MAX = 32
# Statements of a batch that are under way: PostgreSQL has one while this process is at the other.
BATCHES_AT_ONCE = 2
# How long an element waits for others before it is refused.
BATCH_WAIT_S = 15
# How long the lease of a claim lasts. It is renewed while the call works.
CLAIM_LEASE_S = 30
# The shortest lease of a claim.
CLAIM_LEASE_MIN_S = 1
# The longest lease of a claim.
CLAIM_LEASE_MAX_S = 3_600
# How long the lease of a claim lasts while the client asks its user what the body has asked for.
CLAIM_HOLD_S = 300
# How often a lease is renewed while it lasts.
CLAIM_RENEWALS = 3
# How long a renewal that failed waits for the next one, and how often a call looks that waits for another one.
CLAIM_RETRY_S = 0.5
# How long a call waits for the confirmation of a claim that is under way: the next call of the same process,
# and in Go the answer.
CLAIM_CONFIRM_S = 1
# How often a call looks again, if the outcome that it was to claim is not there any more.
CLAIM_ATTEMPTS = 3
# Characters of the name of a consumer of the ledger.
CONSUMER_MAX = 64
# How long the lease lasts with which an instance reads the ledger for a consumer. It is renewed as often as
# that of a claim.
LEDGER_LEASE_S = 30
# Entries of the ledger that one statement reads.
LEDGER_PAGE_MAX = 100
# How long nobody else begins a recheck. A function that takes longer has failed.
RECHECK_LEASE_S = 60
# How old the last answer of a recheck may be when a claim begins.
RECHECK_AFTER_S = 60
# The longest that this can be.
RECHECK_AFTER_MAX_S = 86_400
# How often an instance asks providers about events for which nobody waits.
RECHECK_EVERY_S = 60
# How many payments, and how many refunds, a recheck can tell of.
ENTRIES_MAX = 100
# How many payments, and how many refunds, can be compared at once.
LISTED_MAX = 100_000
# How long the check of a typed value may take.
VERIFY_S = 30
# The shortest time for the check of a value.
VERIFY_MIN_S = 1
# The longest time for the check of a value.
VERIFY_MAX_S = 120
# How long a result is kept after it was read.
KEEP_RESULTS_S = 600
# The longest that it can be kept. After this time, the database purges every result.
KEEP_RESULTS_MAX_S = 86_400
# How long the result of an unclaimed payment is kept.
KEEP_UNCLAIMED_S = 2_592_000
# The shortest that it can be kept: the database purges none that is younger.
KEEP_UNCLAIMED_MIN_S = 604_800
# The longest that it can be kept: ten years.
KEEP_UNCLAIMED_MAX_S = 315_360_000
# How long rows are kept that are over.
RETENTION_S = 7_776_000
# The shortest that they can be kept.
RETENTION_MIN_S = 604_800
# The longest that they can be kept: a hundred years.
RETENTION_MAX_S = 3_153_600_000
# How often an instance purges the results that are due.
PURGE_RESULTS_EVERY_S = 60
# How often an instance purges the rows that are over.
PURGE_ROWS_EVERY_S = 3_600
# Rows that one statement purges or marks as read.
PURGE_BATCH_MAX = 1_000
# How often `migrate` tries to get the locks of its transactions.
MIGRATION_TRIES = 20
# Characters of the name of a deployment.
DEPLOYMENT_MAX = 16
# How long each step of `check` may take.
CHECK_S = 10
# How much the clocks may differ before `check` warns.
CHECK_CLOCK_S = 2
# How long rows are collected before one statement marks them as read.
MARK_DELAY_S = 0.1
# Rows that are kept to be marked while PostgreSQL is unavailable. The rest are purged a day after completion.
UNMARKED_MAX = 10_000
# Reports that are remembered, so that each is made once. Beyond that the oldest one is dropped.
REPORTED_MAX = 10_000
# Elicitations of which it is remembered which status was reported, at least; at most twice as many: those that
# changed last.
REMEMBERED_MIN = 5_000
# Notifications about payments that wait to be read. After that, the last ones are listed.
REPORTS_PENDING_MAX = 1_000
# How far back they are listed then.
REPORTS_MISSED_S = 3_600
# How long before its end an access token is refreshed in the background.
VALID_FOR_S = 60
# An access token with less time left is refreshed before a call is given it: it might end on its way.
VALID_LEAST_S = 5
# A token that comes from a refresh and is refused so soon is not refreshed again: the account has to be
# connected again.
REFUSED_NEW_S = 60
# The longest that a call may ask for.
VALID_FOR_MAX_S = 86_400
# How often a call looks that waits for another instance to refresh or exchange.
ACCOUNT_LOOK_S = 0.2
# How long a request to a provider about accounts may take.
ACCOUNT_REQUEST_S = 30
# Bytes of the answer of a provider: far more than tokens, keys and metadata have.
ACCOUNT_ANSWER_MAX = 1_048_576
# Bytes of the header of this answer, as in Node, which reads no more.
ACCOUNT_HEADER_MAX = 16_384
# Characters of an error that a provider names.
ACCOUNT_CODE_MAX = 64
# Characters of a host that is a variable of a description.
ACCOUNT_HOST_MAX = 253
# Bytes of a parameter of an authorization request.
ACCOUNT_PARAMETER_MAX = 4_096
# Names of members that a description gives a token.
ACCOUNT_NAMES_MAX = 8
# How long after a failure it is asked once more whose account it is.
ACCOUNT_AGAIN_S = 1
# Seconds of the longest lifetime of a token: a provider that says more does not know it.
TOKEN_LIFETIME_MAX_S = 3_153_600_000
# How long a signed client assertion is valid: long enough for clocks that differ.
ASSERTION_S = 300
# How long the metadata of a provider are used.
METADATA_S = 3_600
# Providers whose metadata are kept.
METADATA_MAX = 256
# How much the clock of a provider may differ.
CLOCK_SKEW_S = 30
# How long the exchange of a code may take: three requests to a provider, and what the database takes.
EXCHANGE_S = 95
# How long only one instance refreshes the token of an account: longer than a request may take, with room for
# the commits.
REFRESH_LEASE_S = 60
# How long it stays the only one after it has sent the token: for the limit of the request, and for as long as
# new tokens are kept in memory.
REFRESH_SENT_S = 330
# The longest time for which a provider is said to take a refresh token again.
REUSE_MAX_S = 86_400
# How long a refresh waits for the listening session, which tells the others that this instance is there.
HOLD_WAIT_S = 10
# How much longer a request may take whose limit has passed while the process stood still: what came meanwhile
# is read first.
THAW_S = 2
# So much later than it should be, a timer fires in a process that stood still.
FROZEN_S = 0.1
# The longest pause that a provider can ask for with Retry-After: an hour.
RETRY_AFTER_MAX_S = 3_600
# After so much of the lease, what is left of it is too little for a request.
REFRESH_LATE_S = 20
# How long tokens that came are kept in memory while they cannot be stored.
COMMIT_S = 300
# The first pause between two attempts to store them.
COMMIT_RETRY_MIN_S = 0.1
# The longest of these pauses.
COMMIT_RETRY_MAX_S = 5
# How long a call waits before it asks its client to call again. Most clients end a call after 60 seconds,
# whatever progress they see.
ROUND_S = 45
# How often a client is asked to call again without an outcome.
ROUNDS_MAX = 8
# Bytes of the sealed call of a task, and of each of its answers.
TASK_CALL_MAX = 262_144
# How long an instance has a task for itself whose tool it runs. It is renewed while the tool works.
TASK_LEASE_S = 30
# How long `tasks/get` waits for a tool that is run.
TASK_WAIT_S = 2
# How often a client is asked to look at its task.
TASK_POLL_S = 2
# How often a task that a client listens to is looked at, although its elicitation has not moved. Twice as
# often, the stream says that it is alive.
TASK_LOOK_S = 30
# Clients that may listen to tasks at a time. Others ask.
TASK_LISTENS_MAX = 1_024
# How many of them may be one user's.
TASK_OWNER_LISTENS_MAX = 32
# Tasks to which a client listens by one request.
TASK_IDS_MAX = 32
# Bytes of the `requestState` of a body that asks its user for something itself.
BODY_STATE_MAX = 8_192
# The code of JSON-RPC with which the SDKs end a request whose connection is closed.
RPC_CONNECTION_CLOSED = -32000
# The code of JSON-RPC of parameters that are not valid.
RPC_INVALID_PARAMS = -32602
# The code of JSON-RPC of what has failed inside.
RPC_INTERNAL_ERROR = -32603
# The code of MCP of a request whose header names something else.
RPC_HEADER_MISMATCH = -32020
# The code of MCP of a request whose client does not declare what it requires.
RPC_CAPABILITY_MISSING = -32021
# How often a call that waits reports progress to its client.
HEARTBEAT_S = 15
# How long after the completion the response of a client is still waited for.
RESPONSE_S = 1
# Elicitations of a session of which it is known whether the client was told of their end.
NOTICES_MAX = 1_000
