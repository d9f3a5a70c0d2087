/* SPDX-License-Identifier: MIT */
/*
 * The style of every page, and its hash for the policy: tests/unit/test_page.c
 * compares them. Sizes are in rem, so that larger text makes a larger page;
 * sides are logical (inline-start), so that Arabic is mirrored.
 */
#ifndef UM_STYLE_H
#define UM_STYLE_H

/* The configuration checks the contrast of a site's colour with these. */
#define UM_STYLE_CARD_LIGHT "#ffffff"
#define UM_STYLE_CARD_DARK "#1d2126"

#define UM_STYLE_COLOURS_LIGHT                                                 \
	"--page:#f3f5f8;--card:" UM_STYLE_CARD_LIGHT ";--ink:#1b2027;"         \
	"--soft:#545d69;--line:#d8dde4;--edge:#79828e;"                        \
	"--accent:#1a56b0;--on-accent:#fff;"                                   \
	"--good:#146c38;--good-tint:#e2f4e9;--warning:#8a4b00;"                \
	"--warning-tint:#fdf0dd;--bad:#b3261e;--bad-tint:#fce8e6;"             \
	"--calm:#1a56b0;--calm-tint:#e6eefb;--plain-tint:#eceff3"

#define UM_STYLE_COLOURS_DARK                                                  \
	"--page:#121519;--card:" UM_STYLE_CARD_DARK ";--ink:#eceff2;"          \
	"--soft:#a8b1bc;--line:#363d46;--edge:#838d99;"                        \
	"--accent:#8ab4f8;--on-accent:#0a1a33;"                                \
	"--good:#7ddb9d;--good-tint:#173524;--warning:#f5bd6a;"                \
	"--warning-tint:#3a2a10;--bad:#f5a8a1;--bad-tint:#401c1a;"             \
	"--calm:#a3c4fa;--calm-tint:#182c4a;--plain-tint:#2b3139"

#define UM_STYLE                                                               \
	":root{color-scheme:light dark;font:1.0625rem/1.55 system-ui,"         \
	"sans-serif;" UM_STYLE_COLOURS_LIGHT "}"                               \
	"@media(prefers-color-scheme:dark){:root{" UM_STYLE_COLOURS_DARK "}}"  \
	"body{margin:0;min-height:100vh;display:grid;grid-template-columns:"   \
	"minmax(0,32rem);align-content:center;justify-content:center;"         \
	"gap:1.25rem;padding:1.5rem 1rem;box-sizing:border-box;"               \
	"background:var(--page);color:var(--ink);overflow-wrap:anywhere}"      \
	"header{text-align:center;font-size:1.125rem;font-weight:600}"         \
	"header img{display:block;margin:auto;max-width:100%;"                 \
	"width:auto;height:2.5rem}"                                            \
	"main{padding:2rem;border:1px solid var(--line);border-radius:1rem;"   \
	"background:var(--card);box-shadow:0 1px 2px #0001,0 .5rem 2rem "      \
	"#0001}"                                                               \
	".mark{display:block;box-sizing:content-box;width:2rem;"               \
	"height:2rem;padding:.625rem;border-radius:50%;fill:none;"             \
	"stroke:currentcolor;stroke-width:2.25;stroke-linecap:round;"          \
	"stroke-linejoin:round;color:var(--calm);background:var(--calm-tint)}" \
	".good{color:var(--good);background:var(--good-tint)}"                 \
	".declined{color:var(--soft);background:var(--plain-tint)}"            \
	".warning,#failed{color:var(--warning);background:var(--warning-tint)" \
	"}"                                                                    \
	".failed{color:var(--bad);background:var(--bad-tint)}"                 \
	":dir(rtl) .ask{transform:scaleX(-1)}"                                 \
	"@media(prefers-reduced-motion:no-preference){.wait{animation:"        \
	"turn 1.4s linear infinite}}@keyframes turn{to{transform:"             \
	"rotate(1turn)}}"                                                      \
	"h1{margin:1.25rem 0 .75rem;font-size:1.5rem;line-height:1.25;"        \
	"text-wrap:balance}p{margin:.75rem "                                   \
	"0}main>:last-child{margin-bottom:0}"                                  \
	"dl{display:grid;grid-template-columns:fit-content(45%) "              \
	"minmax(0,1fr);"                                                       \
	"gap:.625rem 1.25rem;margin:1.25rem 0;padding:1rem 0;"                 \
	"border-block:1px solid var(--line)}"                                  \
	"dt{color:var(--soft)}dd{margin:0}"                                    \
	".total{font-size:1.25rem;font-weight:700;line-height:1.25}"           \
	".warning:not(svg),#failed{padding:.75rem "                            \
	"1rem;border-inline-start:.25rem solid;"                               \
	"border-radius:.5rem}"                                                 \
	"form,.back{display:flex;flex-wrap:wrap;gap:.75rem;margin:1.5rem 0 0}" \
	"h2{margin:1.5rem 0 .5rem;font-size:1.1875rem;line-height:1.3}"        \
	".lines{white-space:pre-line}.field{flex:1 0 100%}"                    \
	".field label{display:block;font-weight:600}"                          \
	".field small,.help{color:var(--soft);font-weight:400}"                \
	".help,span.wrong{display:block}"                                      \
	":is(input,textarea,select){box-sizing:border-box;width:100%;"         \
	"min-height:3rem;margin:.375rem 0 0;padding:.6rem "                    \
	".75rem;border:1px solid var(--edge);border-radius:.5rem;"             \
	"background:var(--card);color:var(--ink);font:inherit}"                \
	".tick{display:grid;grid-template-columns:auto 1fr;gap:0 .75rem;"      \
	"align-items:center}.tick>:not(input,label){grid-column:2}"            \
	"input[type=checkbox]{width:1.5rem;min-height:1.5rem;margin:0}"        \
	".wrong{color:var(--bad)}[aria-invalid]{border:2px solid var(--bad)}"  \
	"button,a{flex:1 1 auto;box-sizing:border-box;min-height:3rem;"        \
	"padding:.7rem 1.5rem;border:1px solid var(--edge);"                   \
	"border-radius:.625rem;background:var(--card);color:var(--ink);"       \
	"font:inherit;font-weight:600;text-align:center;"                      \
	"text-decoration:none;cursor:pointer}"                                 \
	"a.key{display:inline;min-height:0;padding:0;border:0;"                \
	"background:none;color:var(--accent);text-decoration:underline}"       \
	"button:first-of-type,a:not(.key){border-color:var(--accent);"         \
	"background:var(--accent);color:var(--on-accent)}"                     \
	":is(button,a):hover{filter:brightness(1.08)}"                         \
	":focus-visible{outline:3px solid var(--ink);outline-offset:3px}"      \
	"footer{color:var(--soft);font-size:.8125rem;text-align:center}"       \
	"code{font:inherit;font-family:ui-monospace,monospace}"                \
	"@media(max-width:26rem){main{padding:1.5rem 1.25rem}"                 \
	"dl{display:block}dd{margin:0 0 .75rem}dd:last-child{margin:0}"        \
	"button,a{width:100%}}"

#define UM_STYLE_HASH "sha256-lcqyfrwv5fR1CQX4BtJ5VFPZOcPm1hMraRNuZol5Cj8="

#endif
