/* SPDX-License-Identifier: MIT */
/*
 * From a return to the wait that it ends: a program's queue and its batches
 * (lib/postgres/queue.c, store.c), PostgreSQL's transactions, the notifications,
 * and waits (lib/node/src/core/waits.js), while connections break, transactions
 * fail, PostgreSQL crashes and somebody else sends notifications.
 *
 * What must hold is asserted where it could break:
 *
 *   - what was answered is durable (answer);
 *   - of two returns for one row, the one that came first counts (judge);
 *   - a wait ends with the outcome of its row, and only its owner's does (waiter);
 *   - every return is answered, and every wait ends: otherwise SPIN reports an
 *     invalid end state, since all faults together are few.
 *
 * completion.test.mjs has SPIN look at every order of events, with the faults that
 * the macros allow, and checks that each MISTAKE is found.
 */
#define ROWS 2
#define RETURNS 3 /* two for row 0, which disagree, and one for row 1 */
#define NOTHING 255

#ifndef MISTAKE
#define MISTAKE 0
#endif
#ifndef RECONNECTS /* of the program: its connection breaks, or it gives up */
#define RECONNECTS 0
#endif
#ifndef CRASHES /* of PostgreSQL */
#define CRASHES 0
#endif
#ifndef FAILURES /* transactions that are rolled back */
#define FAILURES 0
#endif
#ifndef EXPIRIES /* returns that are answered "try again" before they are done */
#define EXPIRIES 0
#endif
#ifndef LOSSES /* of the connection of the wait */
#define LOSSES 0
#endif
#ifndef SILENCES /* notifications that the wait does not get, and nobody says so */
#define SILENCES 0
#endif
#ifndef FORGERIES /* notifications that somebody else sends */
#define FORGERIES 0
#endif
#ifndef MINE /* 0: the wait is for a row of another subject or session */
#define MINE 1
#endif

#define ACK_BEFORE_COMMIT 1
#define NOTIFY_BEFORE_COMMIT 2
#define ANNOUNCE_ALL 3
#define SAME_ROW_IN_BOTH_BATCHES 4
#define PUT_BACK_LAST 5
#define READ_BEFORE_LISTEN 6
#define DEAF_WHILE_READING 7
#define NO_READ_AFTER_RECONNECT 8
#define TRUST_ANYTHING 9
#define TRUST_ANY_SEAL 10
#define TRUST_WITHOUT_OWNER 11 /* neither the read nor the seal asks whose it is */
#define NO_ROUTINE_READ 12
#define NO_RETRY 13
#define FAILED_IS_COMMITTED 14
#define COMPLETE_TWICE 15

mtype = { none, accept, decline };
mtype = { committed, rolled_back };

/* The row of a return, and what it would make of it. */
#define row_of(op) ((op) == 2 -> 1 : 0)
#define value_of(op) ((op) == 1 -> decline : accept)

mtype row[ROWS] = none; /* what is durable */

/* --- The program ---------------------------------------------------------- */

/* The first RETURNS places; NOTHING: handed back before it was done. */
typedef batch {
	byte op[RETURNS];
	byte count;
}
batch queue;
batch under_way[2]; /* the oldest first */
byte batches;
bit isolated[RETURNS];
bit answered[RETURNS];
byte arrivals[RETURNS]; /* the order in which they came, from 1 */
byte arrived;
bit gave_up[RETURNS]; /* was answered "try again" once */

/* One backend for each connection of the program. */
#define BACKENDS (1 + RECONNECTS + CRASHES)
byte connection;
bit is_open[BACKENDS];
byte born[BACKENDS] = NOTHING; /* in which epoch of PostgreSQL */
chan sent[BACKENDS] = [2] of { byte, byte, byte };
chan replies[BACKENDS] = [2] of { mtype };
byte crashes_left = CRASHES;
byte failures_left = FAILURES;
byte locked[ROWS] = NOTHING; /* by which backend's transaction */
byte epoch; /* of PostgreSQL: one more after each crash */

/* --- Notifications -------------------------------------------------------- */

#define NOTIFICATIONS (2 * ROWS + FORGERIES)
/* The wait's connection; and what is on its way: of which row, and the seal that
 * it carries: of which row, and what it says. */
bit connected, listening;
chan notified = [NOTIFICATIONS] of { byte, byte, mtype };
bit announced[ROWS];

inline notify(r, sealed_for, says)
{
	if
	:: listening -> assert(nfull(notified)); notified!r, sealed_for, says
	:: else
	fi
}

inline push_first(o)
{
	i = queue.count;
	do
	:: i > 0 -> queue.op[i] = queue.op[i - 1]; i--
	:: else -> break
	od;
	queue.op[0] = o;
	queue.count++;
	i = 0
}

inline push_last(o)
{
	queue.op[queue.count] = o;
	queue.count++
}

inline take_first(o)
{
	o = queue.op[0];
	i = 1;
	do
	:: i < queue.count -> queue.op[i - 1] = queue.op[i]; i++
	:: else -> break
	od;
	queue.count--;
	queue.op[queue.count] = 0;
	i = 0
}

#define holds(b, r) \
	((under_way[b].count > 0 && under_way[b].op[0] != NOTHING && row_of(under_way[b].op[0]) == r) \
	|| (under_way[b].count > 1 && under_way[b].op[1] != NOTHING && row_of(under_way[b].op[1]) == r) \
	|| (under_way[b].count > 2 && under_way[b].op[2] != NOTHING && row_of(under_way[b].op[2]) == r))
#define is_row_under_way(r) \
	(MISTAKE != SAME_ROW_IN_BOTH_BATCHES \
	&& ((batches > 0 && holds(0, r)) || (batches > 1 && holds(1, r))))

inline put_back_one(o)
{
	if
	:: MISTAKE == PUT_BACK_LAST -> push_last(o)
	:: else -> push_first(o)
	fi
}

inline put_back(b, isolate)
{
	n = under_way[b].count;
	do
	:: n > 0 ->
		n--;
		o = under_way[b].op[n];
		if
		:: o == NOTHING
		:: o != NOTHING && isolate -> isolated[o] = 1; put_back_one(o)
		:: o != NOTHING && !isolate -> put_back_one(o)
		fi;
		under_way[b].op[n] = 0
	:: else -> break
	od;
	under_way[b].count = 0;
	n = 0; o = 0
}

inline remove_oldest()
{
	under_way[0].op[0] = under_way[1].op[0];
	under_way[0].op[1] = under_way[1].op[1];
	under_way[0].op[2] = under_way[1].op[2];
	under_way[0].count = under_way[1].count;
	under_way[1].op[0] = 0; under_way[1].op[1] = 0; under_way[1].op[2] = 0;
	under_way[1].count = 0;
	batches--
}

#define may_start \
	(is_open[connection] && batches < 2 && queue.count > 0 \
	&& !is_row_under_way(row_of(queue.op[0])))

inline start_batch()
{
	n = 0;
	do
	:: queue.count > 0 && (n == 0 || !isolated[queue.op[0]]) && !is_row_under_way(row_of(queue.op[0])) ->
		take_first(o);
		batchlet[n] = o;
		n++;
		if
		:: isolated[o] -> break
		:: else
		fi
	:: else -> break
	od;
	under_way[batches].op[0] = batchlet[0];
	under_way[batches].op[1] = batchlet[1];
	under_way[batches].op[2] = batchlet[2];
	under_way[batches].count = n;
	batches++;
	sent[connection]!(n > 0 -> batchlet[0] : NOTHING), (n > 1 -> batchlet[1] : NOTHING),
		(n > 2 -> batchlet[2] : NOTHING);
	batchlet[0] = 0; batchlet[1] = 0; batchlet[2] = 0;
	n = 0; o = 0
}

/* Says "done" or "already done", which the same page does. */
inline answer(o)
{
	answered[o] = 1;
	assert(row[row_of(o)] != none)
}

inline lose_connection()
{
	is_open[connection] = 0;
	do
	:: len(replies[connection]) > 0 -> replies[connection]?_
	:: else -> break
	od;
	if
	:: MISTAKE == NO_RETRY ->
		under_way[0].count = 0; under_way[1].count = 0
	:: else ->
		do
		:: batches > 0 -> batches--; put_back(batches, false)
		:: else -> break
		od
	fi;
	batches = 0
}

inline arrive(o)
{
	arrived++;
	arrivals[o] = arrived;
	isolated[o] = 0;
	push_last(o);
	o = 0
}

active proctype program()
{
	byte i, n, o;
	byte batchlet[RETURNS];
	byte reconnects_left = RECONNECTS;
	byte expiries_left = EXPIRIES;

	atomic { is_open[0] = 1; born[0] = epoch }
end:
	do
	/* A return comes, in any order; the second time, if it was told so. */
	:: atomic { arrivals[0] == 0 -> o = 0; arrive(o) }
	:: atomic { arrivals[1] == 0 -> o = 1; arrive(o) }
	:: atomic { arrivals[2] == 0 -> o = 2; arrive(o) }

	:: atomic { may_start && born[connection] == epoch -> start_batch() }

	:: atomic { replies[connection]?committed ->
		n = 0;
		do
		:: n < under_way[0].count ->
			o = under_way[0].op[n];
			under_way[0].op[n] = 0;
			if
			:: o != NOTHING -> answer(o)
			:: else
			fi;
			n++
		:: else -> break
		od;
		n = 0; o = 0;
		remove_oldest()
	}
	:: atomic { replies[connection]?rolled_back ->
		if
		:: MISTAKE == FAILED_IS_COMMITTED ->
			o = under_way[0].op[0]; answer(o); o = 0
		:: else
		fi;
		/* By what failed: all of it again, or each by itself. */
		if
		:: true -> put_back(0, false)
		:: under_way[0].count > 1 -> put_back(0, true)
		fi;
		remove_oldest()
	}

	/* The connection breaks, or no answer came in time. */
	:: atomic { reconnects_left > 0 && is_open[connection] && born[connection] == epoch ->
		reconnects_left--;
		lose_connection()
	}
	:: atomic { is_open[connection] && born[connection] != epoch -> lose_connection() }
	:: atomic { !is_open[connection] -> connection++; is_open[connection] = 1; born[connection] = epoch }

	/* It waited too long: the browser is told to try again, and does. */
	:: atomic { expiries_left > 0 && batches > 0 && under_way[0].op[0] != NOTHING ->
		expiries_left--;
		o = under_way[0].op[0];
		under_way[0].op[0] = NOTHING;
		gave_up[o] = 1;
		arrivals[o] = 0;
		o = 0
	}
	od
}

/* --- PostgreSQL ----------------------------------------------------------- */

#define free_for(o) \
	(o == NOTHING || locked[row_of(o)] == NOTHING || locked[row_of(o)] == _pid)

inline lock_row(o)
{
	if
	:: o != NOTHING -> locked[row_of(o)] = _pid
	:: else
	fi
}

inline unlock_rows()
{
	if :: locked[0] == _pid -> locked[0] = NOTHING :: else fi;
	if :: locked[1] == _pid -> locked[1] = NOTHING :: else fi
}

inline tell(o)
{
	announced[row_of(o)] = 1;
	notify(row_of(o), row_of(o), value_of(o))
}

/* Of two returns for one row in a batch, the first counts. */
inline complete(o, applies)
{
	if
	:: o != NOTHING && (row[row_of(o)] == none || MISTAKE == COMPLETE_TWICE) ->
		if
		:: applies -> row[row_of(o)] = value_of(o)
		:: else
		fi;
		tell(o)
	:: o != NOTHING && row[row_of(o)] != none && MISTAKE == ANNOUNCE_ALL -> tell(o)
	:: else
	fi
}

#define is_alive (born[me] == epoch)

proctype backend(byte me)
{
	byte a, b, c;

end:
	do
	:: sent[me]?a, b, c ->
		/* The row locks of the whole batch, in one order. */
		atomic { free_for(a) && free_for(b) && free_for(c) ->
			lock_row(a); lock_row(b); lock_row(c)
		}
		if
		:: atomic { MISTAKE == ACK_BEFORE_COMMIT && is_alive -> replies[me]!committed }
		:: atomic { MISTAKE == NOTIFY_BEFORE_COMMIT && is_alive ->
			complete(a, false) }
		:: MISTAKE != ACK_BEFORE_COMMIT && MISTAKE != NOTIFY_BEFORE_COMMIT
		fi;
		if
		/* A crash takes the transaction, and the backend, with it. */
		:: atomic { !is_alive -> unlock_rows(); goto gone }
		:: atomic { is_alive && failures_left > 0 ->
			failures_left--;
			unlock_rows()
		}
			if
			:: atomic { is_alive && is_open[me] -> replies[me]!rolled_back }
			:: !is_open[me] || !is_alive
			fi
		/* The commit: durable, visible and notified at once. */
		:: atomic { is_alive ->
			complete(a, true); complete(b, true); complete(c, true);
			unlock_rows()
		}
			if
			:: atomic { is_alive && is_open[me] && MISTAKE != ACK_BEFORE_COMMIT ->
				replies[me]!committed }
			:: !is_open[me] || !is_alive || MISTAKE == ACK_BEFORE_COMMIT
			fi
		fi;
		atomic { a = 0; b = 0; c = 0 }
	/* What it has not read when the program is gone, it never does. */
	:: !is_open[me] && connection > me -> goto gone
	od;
gone:
	skip
}

inline lose_wait()
{
	listening = 0;
	connected = 0;
	do
	:: nempty(notified) -> notified?_, _, _
	:: empty(notified) -> break
	od
}

active proctype crash()
{
end:
	do
	:: atomic { crashes_left > 0 -> crashes_left--; epoch++; lose_wait() }
	od
}

/* --- A wait for row 0 ----------------------------------------------------- */

#define may_trust (has_read || MISTAKE == TRUST_WITHOUT_OWNER)
#define opens \
	(sealed_for == 0 && (MINE || MISTAKE == TRUST_WITHOUT_OWNER) \
	|| sealed_for != NOTHING && MISTAKE == TRUST_ANY_SEAL \
	|| MISTAKE == TRUST_ANYTHING)

active proctype waiter()
{
	mtype seen, says, outcome = none;
	byte about, sealed_for;
	bit due, has_read;
	byte losses_left = LOSSES;
	byte silences_left = SILENCES;
	bit routine;

connect:
	atomic {
		connected = 1;
		due = (MISTAKE != NO_READ_AFTER_RECONNECT || !has_read);
		if
		:: MISTAKE != READ_BEFORE_LISTEN -> listening = 1
		:: else
		fi
	}
	do
	/* A read: PostgreSQL looks at the row, and the answer comes later. */
	:: atomic { due && connected -> due = 0; seen = row[0] }
		if
		:: atomic { connected && MISTAKE == DEAF_WHILE_READING && nempty(notified) ->
			notified?_, _, _ }
		:: MISTAKE != DEAF_WHILE_READING || !connected || empty(notified)
		fi;
		if
		:: atomic { connected && !MINE -> goto refused }
		:: atomic { connected && MINE && seen != none -> outcome = seen; goto over }
		:: atomic { connected && MINE && seen == none ->
			has_read = 1; listening = 1; seen = none }
		:: !connected
		fi

	:: atomic { notified?about, sealed_for, says ->
		if
		:: about != 0
		:: (about == 0 && may_trust && opens) ->
			outcome = says;
			goto over
		:: else -> due = 1
		fi;
		about = 0; sealed_for = 0; says = none
	}

	/* A notification that never arrives; and the read that makes up for it. */
	:: atomic { silences_left > 0 && nempty(notified) ->
		silences_left--;
		notified?_, _, _;
		routine = 1
	}
	:: atomic { routine && connected && !due && MISTAKE != NO_ROUTINE_READ -> routine = 0; due = 1 }

	:: atomic { losses_left > 0 && connected -> losses_left--; lose_wait() }
	:: atomic { !connected -> goto connect }
	od;
refused:
	assert(!MINE);
	goto gone;
over:
	assert(MINE);
	assert(outcome == row[0]);
gone:
	atomic { lose_wait() }
}

/*
 * Somebody who may connect to the database: repeats what was announced, for this
 * or another row, or makes something up, which no key seals.
 */
active proctype stranger()
{
	byte left = FORGERIES;
	byte r;

end:
	do
	:: atomic { left > 0 ->
		left--;
		if :: r = 0 :: r = 1 fi;
		if
		:: announced[0] -> notify(r, 0, row[0])
		:: announced[1] -> notify(r, 1, row[1])
		:: true -> notify(r, NOTHING, accept)
		:: true -> notify(r, NOTHING, decline)
		fi;
		r = 0
	}
	od
}

/* When nothing else happens, what came first counts. */
active proctype judge()
{
end:
	atomic { timeout ->
		assert(answered[0] && answered[1] && answered[2]);
		assert(queue.count == 0 && batches == 0);
		if
		:: gave_up[0] || gave_up[1]
		:: else -> assert(row[0] == (arrivals[0] < arrivals[1] -> accept : decline))
		fi
	}
}

init
{
	byte i;

	atomic {
		do
		:: i < BACKENDS -> run backend(i); i++
		:: else -> break
		od
	}
}
