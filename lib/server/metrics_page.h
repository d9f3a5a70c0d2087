/* SPDX-License-Identifier: MIT */
/*
 * The metrics as text, in Prometheus' format 0.0.4. This table is their only
 * list; nginx/CONFIGURATION.md documents it.
 */
#ifndef UM_METRICS_PAGE_H
#define UM_METRICS_PAGE_H

#include <stdint.h>

#include "core/str.h"
#include "postgres/op.h"
#include "server/metrics.h"

/* name without urlmode_, type, labels, help */
#define UM_METRICS(X)                                                          \
	X(requests_total, counter, "program, status",                          \
		"Requests that were answered, by HTTP status.")                \
	X(request_duration_seconds, histogram, "program, le",                  \
		"From the whole request to its answer.")                       \
	X(transaction_duration_seconds, histogram, "program, le",              \
		"From sending a transaction to the database to its commit.")   \
	X(refusals_total, counter, "program, reason",                          \
		"Requests that were refused, by reason code.")                 \
	X(events_total, counter, "provider, outcome",                          \
		"Events of providers that were recorded, by what they did.")   \
	X(unreadable_deliveries_total, counter, "provider",                    \
		"Deliveries with a right signature whose content was "         \
		"refused.")                                                    \
	X(batches_total, counter, "program",                                   \
		"Transactions that were committed.")                           \
	X(operations_total, counter, "program",                                \
		"Operations in those transactions.")                           \
	X(processes, gauge, "program", "Processes that live.")                 \
	X(program_up, gauge, "program",                                        \
		"Whether a program that has run answers.")                     \
	X(requests_in_progress, gauge, "program",                              \
		"Requests that are not answered, nearly all of which wait "    \
		"for the database.")                                           \
	X(queue_operations, gauge, "program",                                  \
		"Operations that are not yet sent to the database.")           \
	X(database_connections, gauge, "program",                              \
		"Processes with a connection to the database.")                \
	X(database_connection_age_seconds, gauge, "program",                   \
		"Age of the youngest of these connections.")                   \
	X(keys_refused, gauge, "program",                                      \
		"Processes whose keys file was refused when it was read "      \
		"last; they go on with older keys.")                           \
	X(configuration_refused, gauge, "",                                    \
		"Whether the configuration, or a description, has changed "    \
		"and would be refused now.")                                   \
	X(configuration_outdated, gauge, "program",                            \
		"Processes that run with another configuration than the one "  \
		"on disk, which has changed since they started.")              \
	X(certificate_expiry_timestamp_seconds, gauge, "provider",             \
		"When the certificate for a provider's signatures expires, "   \
		"Unix time.")                                                  \
	X(tls_certificate_expiry_timestamp_seconds, gauge, "",                 \
		"When the certificate that browsers are shown expires, as "    \
		"the last urlmode check --record has seen it, Unix time.")     \
	X(issuer_keys_age_seconds, gauge, "",                                  \
		"For how long the keys of the OpenID provider have been "      \
		"here.")                                                       \
	X(database_up, gauge, "", "Whether the database has answered now.")    \
	X(commit_age_seconds, gauge, "",                                       \
		"For how long this host has committed nothing.")               \
	X(check_findings, gauge, "severity",                                   \
		"What the last urlmode check --record has found.")             \
	X(check_timestamp_seconds, gauge, "", "When that was, Unix time.")     \
	X(database_clock_difference_seconds, gauge, "",                        \
		"The database's clock minus that of this host.")               \
	X(notification_queue_usage_ratio, gauge, "",                           \
		"Part of the database's queue of notifications that is in "    \
		"use; it fills while a listener does not read.")               \
	X(unclaimed_payments, gauge, "",                                       \
		"Proven payments that no call has claimed.")                   \
	X(oldest_unclaimed_payment_age_seconds, gauge, "",                     \
		"For how long the oldest of them has been proved; 0: there "   \
		"is none.")                                                    \
	X(undelivered_claims, gauge, "",                                       \
		"Calls that have done their work, and whose answer nobody "    \
		"knows to be written.")                                        \
	X(oldest_undelivered_claim_age_seconds, gauge, "",                     \
		"For how long the oldest of them has been done; 0: there is "  \
		"none.")                                                       \
	X(failing_accounts, gauge, "",                                         \
		"Connected accounts whose refreshes have failed three times "  \
		"in a row or more, within the last hour.")                     \
	X(build_info, gauge, "version", "1; the version of the programs.")     \
	X(metrics_shared, gauge, "",                                           \
		"Whether these are of all programs, and not of one process.")

/*
 * Appends the text. `asked` is the operation MEASURE, carried out or
 * not; `wall_ms` is the Unix time of its answer, `now` is monotonic.
 */
void um_metrics_write(const struct um_metrics *metrics,
	const struct um_op *asked, int64_t wall_ms, int64_t now,
	struct um_buf *out);

#endif
