/* Generated from lib/contract by `make contract`: change it there. */
/* SPDX-License-Identifier: MIT */
/* clang-format off */
#ifndef UM_CONTRACT_STATEMENTS_H
#define UM_CONTRACT_STATEMENTS_H

/* The channel on which every change of a row is notified, as {"id":…,"status":…}. */
#define UM_SQL_CHANNEL "urlmode"
/* Which process of PostgreSQL answers. A pooler says another one than the connection has. */
#define UM_SQL_BACKEND_PID "SELECT pg_backend_pid() AS pid"

#endif
