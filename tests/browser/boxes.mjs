// The place and size of each element of each page at three widths, as boxes.txt says them. A change of
// more than TOLERANCE is reported; `UPDATE=1 node --test tests/browser/pages.test.mjs` accepts it.

import { readFileSync, writeFileSync } from 'node:fs';

const FILE = new URL('boxes.txt', import.meta.url);
const HEAD = '# Place and size (x,y w×h) of what is on each page, in px, in a window 320, 768 and 1280 wide. Written by\n'
	+ '# UPDATE=1 node --test tests/browser/pages.test.mjs\n';
const SIZES = [[320, 568], [768, 1024], [1280, 800]].map(([width, height]) => ({ width, height }));
const TOLERANCE = 4; // px

const known = read();
const seen = new Map();

/** @returns {Map<string, Map<string, number[][]>>} page → element → its box at each width */
function read() {
	const pages = new Map();
	let text = '';
	try {
		text = readFileSync(FILE, 'utf8');
	} catch {
		// The first time.
	}
	for (const line of text.split('\n').filter((line) => line !== '' && line[0] !== '#')) {
		if (line[0] !== '\t') {
			pages.set(line, new Map());
			continue;
		}
		const [element, ...boxes] = line.trim().split(/ {2,}/);
		[...pages.values()].at(-1).set(element, boxes.map((box) => (box === '-' ? [] : box.match(/-?\d+/g).map(Number))));
	}
	return pages;
}

const box = (numbers) => (numbers.length === 0 ? '-' : `${numbers[0]},${numbers[1]} ${numbers[2]}×${numbers[3]}`);

/** Every visible element with words or something to press, as [name, box]. Lines of text are boxes of their element. */
const elements = (tab) => tab.evaluate(() => {
	const counts = {};
	const name = (element) => {
		const { localName, id, className, name } = element;
		const short = id ? `${localName}#${id}` : className && typeof className === 'string' ? `${localName}.${className.replaceAll(' ', '.')}`
			: element.value && localName === 'button' ? `button=${element.value}` : name ? `${localName}=${name}` : localName;
		counts[short] = (counts[short] ?? 0) + 1;
		return counts[short] === 1 ? short : `${short}(${counts[short]})`;
	};
	return [...document.body.querySelectorAll('header,main,.mark,h1,h2,p,details,summary,dt,dd,label,input,select,textarea,button,a,.help,.wrong,footer')]
		.map((element) => [element, element.getBoundingClientRect()])
		.filter(([element, { width, height }]) => width > 0 && height > 0 && element.checkVisibility())
		.map(([element, { x, y, width, height }]) => [name(element), [x, y + scrollY, width, height].map(Math.round)]);
});

/** How a page differs from what was known of it, one line each. */
export async function changes(tab, page) {
	const before = tab.viewportSize();
	const boxes = new Map();
	for (const [number, size] of SIZES.entries()) {
		await tab.setViewportSize(size);
		for (const [element, numbers] of await elements(tab)) {
			if (!boxes.has(element)) boxes.set(element, SIZES.map(() => []));
			boxes.get(element)[number] = numbers;
		}
	}
	await tab.setViewportSize(before);
	seen.set(page, boxes);
	if (process.env.UPDATE) return [];
	const expected = known.get(page) ?? new Map();
	const differs = (one, other) => one.length !== other.length || one.some((number, index) => Math.abs(number - other[index]) > TOLERANCE);
	return [...new Set([...expected.keys(), ...boxes.keys()])].flatMap((element) => SIZES.flatMap(({ width }, index) => {
		const [was, is] = [expected, boxes].map((all) => all.get(element)?.[index] ?? []);
		return differs(was, is) ? [`${element} at ${width}: ${box(was)} is now ${box(is)}`] : [];
	}));
}

/** At the end: writes what was seen, if it is to be accepted. */
export function accept() {
	if (!process.env.UPDATE || seen.size === 0) return;
	const pages = [...new Map([...known, ...seen])].map(([page, boxes]) => `${page}\n${[...boxes]
		.map(([element, all]) => `\t${[element, ...all.map(box)].join('  ')}\n`).join('')}`);
	writeFileSync(FILE, `${HEAD}${pages.join('')}`);
}
