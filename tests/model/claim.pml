/* SPDX-License-Identifier: MIT */
/*
 * Calls that claim one outcome at the same time (sql/functions/004_claim.sql,
 * lib/node/src/core/claims.js), while processes die, leases lapse, clients go away
 * and confirmations are lost. A step that the database decides is one
 * transaction, and atomic here.
 *
 * What must hold is asserted where it could break:
 *
 *   - the work is done once; again only after a death, or a lapse, between the
 *     work and its commit (fulfil, excused);
 *   - every call answers with what was committed (answer);
 *   - nothing ends that was not answered (confirm);
 *   - in the end a next call is given the work or its result, unless it was
 *     answered: otherwise SPIN reports an invalid end state.
 *
 * claim.test.mjs has SPIN look at every order of events, with the faults that the
 * macros allow, and checks that each MISTAKE is found.
 */
#define NOBODY 255

#ifndef MISTAKE
#define MISTAKE 0
#endif
#ifndef CALLS
#define CALLS 3
#endif
#ifndef DEATHS /* of the process of a call, by kill -9, at any step */
#define DEATHS 0
#endif
#ifndef LAPSES /* leases that end although their call lives */
#define LAPSES 0
#endif
#ifndef LOSSES /* confirmations that do not arrive */
#define LOSSES 0
#endif
#ifndef FAILURES /* calls whose work fails: they release their claim */
#define FAILURES 0
#endif
#ifndef CLAIMS /* claims that are final at once */
#define CLAIMS 0
#endif

#define TWO_AT_ONCE 1
#define SAME_FENCE 2
#define FULFIL_WITHOUT_FENCE 3
#define RELEASE_WITHOUT_FENCE 5
#define DONE_AGAIN 6
#define CONFIRM_UNWRITTEN 7
#define CLAIM_WHAT_IS_LEASED 8
#define CLAIM_WHAT_IS_FULFILLED 9
#define LEASE_FOR_EVER 10
#define NOT_KEPT 11

/* --- The row -------------------------------------------------------------- */

byte fence;
bit leased; /* also of what is fulfilled, which has no end */
byte kept = NOBODY; /* whose result */
bit final;

/* --- What happened -------------------------------------------------------- */

byte committed = NOBODY; /* whose work counts */
byte answers; /* that were written */
byte holder = NOBODY; /* of the lease */
bit dead[CALLS];
bit lapsed[CALLS];
byte over; /* calls and claims that have ended */

byte deaths_left = DEATHS;
byte lapses_left = LAPSES;
byte losses_left = LOSSES;
byte failures_left = FAILURES;

inline commit(who)
{
	assert(committed == NOBODY);
	committed = who
}

inline die()
{
	deaths_left--;
	dead[me] = 1;
	goto end
}

#define may_begin (MISTAKE == TWO_AT_ONCE || !leased)
#define is_kept (kept != NOBODY && MISTAKE != DONE_AGAIN)

proctype call(byte me)
{
	byte mine, result = NOBODY;

	/* Waits as long as another call is at it. */
	atomic {
		(final || is_kept || may_begin || MISTAKE == DONE_AGAIN);
		if
		:: final -> goto end
		:: !final && is_kept -> mine = fence; result = kept
		:: !final && !is_kept ->
			if
			:: MISTAKE == SAME_FENCE -> fence = 1
			:: else -> fence++
			fi;
			mine = fence; leased = 1; holder = me; kept = NOBODY
		fi
	}
	if
	:: result == NOBODY && deaths_left > 0 -> atomic { die() }
	:: result == NOBODY && failures_left > 0 ->
		failures_left--;
		atomic {
			if
			:: (fence == mine || MISTAKE == RELEASE_WITHOUT_FENCE) && kept == NOBODY && !final ->
				leased = 0; holder = NOBODY
			:: else
			fi
		}
		goto end
	:: result == NOBODY ->
		/* Its work is done here. */
		if
		:: deaths_left > 0 -> atomic { die() }
		:: true
		fi;
		/* fulfil_claim */
		atomic {
			if
			:: (fence == mine || MISTAKE == FULFIL_WITHOUT_FENCE) && !final ->
				commit(me);
				result = me;
				if
				:: MISTAKE != NOT_KEPT -> kept = me; leased = 1
				:: else
				fi
			:: else ->
				/* The work is done again, because this call was late. */
				assert(lapsed[me]);
				goto end
			fi
		}
	:: else
	fi;
	/* The answer */
	if
	:: deaths_left > 0 -> atomic { die() }
	:: true -> /* the client is gone */
		if
		:: MISTAKE == CONFIRM_UNWRITTEN
		:: else -> goto end
		fi
	:: true -> atomic { assert(result == committed); answers++ }
	fi;
	if
	:: deaths_left > 0 -> atomic { die() }
	:: losses_left > 0 -> losses_left--
	:: true ->
		/* confirm_claim */
		atomic {
			if
			:: (fence == mine) && leased && !final ->
				assert(answers > 0);
				final = 1; leased = 0; kept = NOBODY
			:: else
			fi
		}
	fi;
end:
	over++
}

/* Of the operator, or of a caller that needs no lease: it acts at once. */
proctype claim()
{
	atomic {
		if
		:: !final && (!leased || MISTAKE == CLAIM_WHAT_IS_LEASED && kept == NOBODY
			|| MISTAKE == CLAIM_WHAT_IS_FULFILLED && kept != NOBODY) ->
			commit(CALLS);
			final = 1; leased = 0; kept = NOBODY; answers++
		:: else
		fi;
		over++
	}
}

/* The clock of the database */
active proctype clock()
{
	do
	:: atomic {
		leased && kept == NOBODY && holder != NOBODY && dead[holder] && MISTAKE != LEASE_FOR_EVER ->
			leased = 0; holder = NOBODY
	}
	:: atomic {
		leased && kept == NOBODY && holder != NOBODY && !dead[holder] && lapses_left > 0 ->
			lapses_left--; lapsed[holder] = 1; leased = 0; holder = NOBODY
	}
	:: over == CALLS + CLAIMS && (!leased || kept != NOBODY || final) -> break
	od
}

init
{
	byte i;

	atomic {
		do
		:: i < CALLS -> run call(i); i++
		:: else -> break
		od;
		if
		:: CLAIMS > 0 -> run claim()
		:: else
		fi
	}
	/* The next call */
	over == CALLS + CLAIMS && (final || kept != NOBODY || !leased);
	assert(committed == NOBODY || final || kept == committed);
	assert(!final || answers > 0)
}
