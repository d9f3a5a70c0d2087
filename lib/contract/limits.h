/* Generated from lib/contract by `make contract`: change it there. */
/* SPDX-License-Identifier: MIT */
/* clang-format off */
#ifndef UM_CONTRACT_LIMITS_H
#define UM_CONTRACT_LIMITS_H

/* Characters of the name of a provider. */
#define UM_PROVIDER_MAX 64
/* Bytes of a subject. */
#define UM_SUBJECT_MAX 512
/* Bytes of a sealed result. */
#define UM_RESULT_MAX 65536
/* Bytes of a sealed outcome in a notification. Behind a larger one, the row is read. */
#define UM_NOTIFIED_MAX 2600
/* Bytes of a secret in a keys file, at least. */
#define UM_SECRET_MIN 32
/* Bytes of a secret in a keys file, at most. */
#define UM_SECRET_MAX 256
/* Bytes of a delivery to a webhook. */
#define UM_DELIVERY_BODY_MAX 4194304
/* The longest grace of a description: so long after the expiry, the user and the provider may come back. */
#define UM_GRACE_MAX_S 31536000
/* After how much silence TCP asks the other end of a connection whether it is alive, and how long it waits before it asks again. */
#define UM_KEEPALIVE_S 5
/* How many of these questions may have no answer. */
#define UM_KEEPALIVE_COUNT 2
/* How long what was sent may stay without TCP's acknowledgement, where the driver can set it. */
#define UM_UNACKED_MS 15000

#endif
