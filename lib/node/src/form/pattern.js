// The patterns of fields: a subset of JavaScript's regular expressions that is
// matched in a time proportional to the value (lib/PROTOCOL.md). The whole value
// must match.
//
//   pattern   sequence { "|" sequence }
//   sequence  item [ count ] { item [ count ] }
//   item      literal, escaped punctuation or class
//   class     "[" character [ "-" character ] … "]"
//   count     "?", "*", "+", "{n}", "{n,}" or "{n,m}"

const PATTERN_MAX = 200;
const COUNT_MAX = 255;
const POSITIONS_MAX = 256;

const PRINTABLE = /^[ -~]*$/;
const LITERAL = /[^\\.*+?()[\]{}|^$]/y;
const ESCAPED = /\\([!-/:-@[-`{-~])/y;
const CLASS = /\[((?:[^\\[\]^]|\\[\\\][^-])+)\]/y;
const CLASS_MEMBER = /(\\?[^])(?:-(\\?[^]))?/y;
const COUNT = /[?*+]|\{(\d{1,3})(?:(,)(\d{1,3})?)?\}/y;

/**
 * @typedef {{ from: string, to: string }[]} Ranges
 * @typedef {{ ranges: Ranges, least: number, most: number }} Item
 */

/**
 * @param {string} pattern
 * @returns {Item[][] | string} its sequences, or what is wrong with it
 */
export function parsePattern(pattern) {
	if (pattern === '' || pattern.length > PATTERN_MAX || !PRINTABLE.test(pattern)) {
		return `must have 1 to ${PATTERN_MAX} printable characters of ASCII`;
	}
	let at = 0;
	/** @param {RegExp} part */
	const take = (part) => {
		part.lastIndex = at;
		const found = part.exec(pattern);
		if (found) at = part.lastIndex;
		return found;
	};
	/** @type {Item[][]} */
	const sequences = [[]];
	while (at < pattern.length) {
		const start = at;
		const sequence = /** @type {Item[]} */ (sequences.at(-1));
		if (pattern[at] === '|' && sequence.length > 0) {
			sequences.push([]);
			at += 1;
			continue;
		}
		const members = take(CLASS);
		const ranges = members ? rangesOf(String(members[1])) : one((take(LITERAL) ?? take(ESCAPED))?.at(-1));
		if (!ranges) return faultAt(start);
		const counted = at;
		const count = countOf(take(COUNT));
		if (!count) return faultAt(counted);
		sequence.push({ ranges, ...count });
	}
	if (sequences.at(-1)?.length === 0) return faultAt(pattern.length - 1);
	const positions = sequences.flat().reduce((sum, { least, most }) => sum + (most === Infinity ? Math.max(least, 1) : most), 0);
	return positions > POSITIONS_MAX ? `must have at most ${POSITIONS_MAX} positions, counted with their greatest count` : sequences;
}

/**
 * Follows all ways through the pattern at the same time.
 *
 * @param {Item[][]} sequences
 * @param {string} value
 */
export function matches(sequences, value) {
	return sequences.some((items) => {
		/** @type {Map<number, Set<number>>} how many characters each item has taken, by its place */
		let states = reach(items, new Map(), 0, 0);
		for (const character of value) {
			/** @type {typeof states} */
			const next = new Map();
			for (const [place, counts] of states) {
				const item = items[place];
				if (!item?.ranges.some(({ from, to }) => from <= character && character <= to && character.length === 1)) continue;
				// From its least count on, an item without a greatest one is always in the same state.
				for (const count of counts) reach(items, next, place, item.most === Infinity ? Math.min(count + 1, item.least) : count + 1);
			}
			states = next;
		}
		return states.has(items.length);
	});
}

/**
 * Adds a state, and those that it reaches without a character.
 *
 * @param {Item[]} items
 * @param {Map<number, Set<number>>} states
 * @param {number} place
 * @param {number} count
 */
function reach(items, states, place, count) {
	const counts = states.get(place) ?? new Set();
	if (counts.has(count)) return states;
	states.set(place, counts);
	const item = items[place];
	if (!item || count < item.most) counts.add(count);
	if (item && count >= item.least) reach(items, states, place + 1, 0);
	return states;
}

/** @param {number} at */
function faultAt(at) {
	return `is not of the allowed kind from character ${at + 1} on: no groups, “.”, “^”, “$” or “\\d”`;
}

/**
 * @param {string | undefined} character
 * @returns {Ranges | undefined}
 */
function one(character) {
	return character === undefined ? undefined : [{ from: character, to: character }];
}

/**
 * @param {string} members of a class, between the brackets
 * @returns {Ranges | undefined} undefined: it is not allowed
 */
function rangesOf(members) {
	/** @type {Ranges} */
	const ranges = [];
	for (let at = 0; at < members.length; at = CLASS_MEMBER.lastIndex) {
		CLASS_MEMBER.lastIndex = at;
		const [, first = '', last] = CLASS_MEMBER.exec(members) ?? [];
		const isEdge = at === 0 || at + 1 === members.length;
		// An unescaped hyphen stands for itself, and only at the beginning or end.
		if (last === '-' || (first === '-' && (!isEdge || last !== undefined))) return undefined;
		const [from, to] = [first.slice(-1), (last ?? first).slice(-1)];
		if (from > to) return undefined;
		ranges.push({ from, to });
	}
	return ranges;
}

/**
 * @param {RegExpExecArray | null} count
 * @returns {{ least: number, most: number } | undefined} undefined: it is not allowed
 */
function countOf(count) {
	if (!count) return { least: 1, most: 1 };
	const [text, n, comma, m] = count;
	if (n === undefined) return { least: text === '+' ? 1 : 0, most: text === '?' ? 1 : Infinity };
	const least = Number(n);
	const most = comma && m === undefined ? Infinity : Number(m ?? n);
	return least <= COUNT_MAX && least <= most && most >= 1 && (most <= COUNT_MAX || most === Infinity) ? { least, most } : undefined;
}
