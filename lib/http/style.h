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

#define UM_STYLE_BOTH                                                          \
	":root{color-scheme:light dark;font:1.0625rem/1.5 "                    \
	"system-ui,sans-serif;" UM_STYLE_COLOURS_LIGHT "}"                     \
	"@media(prefers-color-scheme:dark){:root{" UM_STYLE_COLOURS_DARK "}}"

/* A large screen has room for what a closed summary is for. */
#define UM_STYLE_UNFOLDED                                                      \
	"@supports selector(::details-content){@media(min-width:"              \
	"48rem) and (min-height:40rem){details:not([open]){margin:0;"          \
	"padding:0;border:0}details:not([open])>summary{display:none}"         \
	"details:not([open])::details-content{content-visibility:"             \
	"visible}}}"

/* The rest: the compilers take no longer string than 4095 bytes. */
#define UM_STYLE                                                               \
	"body{margin:0;min-height:100vh;display:grid;grid:"                    \
	"auto/minmax(0,32rem);place-content:center;gap:1.25rem;"               \
	"padding:1.5rem 1rem;box-sizing:border-box;background:"                \
	"var(--page);color:var(--ink);overflow-wrap:anywhere}"                 \
	"header,footer{text-align:center}header{font-weight:600}"              \
	"header img{display:block;margin:auto;max-width:100%;"                 \
	"height:2.5rem}"                                                       \
	"main{padding:2rem;border:1px solid var(--line);"                      \
	"border-radius:1rem;background:var(--card);box-shadow:0 "              \
	".5rem 2rem #0001}"                                                    \
	".mark{display:block;flex:none;width:2rem;height:2rem;"                \
	"padding:.625rem;border-radius:50%;fill:none;stroke:"                  \
	"currentcolor;stroke-width:2;stroke-linecap:round;"                    \
	"stroke-linejoin:round;color:var(--calm);background:"                  \
	"var(--calm-tint)}"                                                    \
	".lead,.tick{display:flex;align-items:center;gap:.75rem;"              \
	"margin:0}"                                                            \
	".lead .mark{width:1.5rem;height:1.5rem;padding:.5rem}"                \
	".good{color:var(--good);background:var(--good-tint)}"                 \
	".declined{color:var(--soft);background:var(--plain-tint)}"            \
	".warning,#failed{color:var(--warning);background:"                    \
	"var(--warning-tint)}"                                                 \
	".failed{color:var(--bad);background:var(--bad-tint)}"                 \
	"@media(prefers-reduced-motion:no-preference){.wait{"                  \
	"animation:turn 1.4s linear infinite}}"                                \
	"@keyframes turn{to{transform:rotate(1turn)}}"                         \
	"h1{margin:1rem 0 0;font-size:1.5rem;line-height:1.25;"                \
	"text-wrap:balance}"                                                   \
	"p{margin:.75rem 0 0}"                                                 \
	":is(h1,p,dt,dd,label){text-align:-webkit-match-parent;"               \
	"text-align:match-parent}"                                             \
	".lines{white-space:pre-line}"                                         \
	"dl{display:grid;grid:auto/fit-content(45%) minmax(0,1fr);"            \
	"gap:.5rem 1rem}"                                                      \
	"dl,details{margin:.75rem 0 0;padding:.75rem 1rem;border:"             \
	"1px solid var(--line);border-radius:.625rem}"                         \
	"details{padding-block:0}"                                             \
	"details[open]>:is(p,dl){margin:0 0 "                                  \
	".75rem;padding:0;border:0}" UM_STYLE_UNFOLDED                         \
	"dt{color:var(--soft)}dd{margin:0}"                                    \
	".total{grid-column:1/-1;font-size:1.5rem;font-weight:700;"            \
	"line-height:1.25}"                                                    \
	"p.warning,#failed{padding:.75rem 1rem;border-inline-start:"           \
	".25rem solid}"                                                        \
	":is(.field,.field+p){margin-top:1.25rem}.what,label{"                 \
	"font-weight:600}"                                                     \
	"small,.help{color:var(--soft);font-size:.9375rem;"                    \
	"font-weight:400}"                                                     \
	".field>*{display:block;margin:.375rem 0 0}"                           \
	":is(input,textarea,select){box-sizing:border-box;width:"              \
	"100%;min-height:3rem;padding:.6rem .75rem;border:1px "                \
	"solid var(--edge);border-radius:.625rem;background:"                  \
	"var(--card);color:var(--ink);font:inherit}"                           \
	".secret{display:flex;gap:.5rem}.secret button{flex:none}"             \
	".tick{display:flex;min-height:3rem;font-weight:400}"                  \
	".tick input{flex:none;width:1.5rem;min-height:1.5rem;"                \
	"margin:0}"                                                            \
	".wrong{color:var(--bad)}"                                             \
	"[aria-invalid]{border:2px solid var(--bad)}"                          \
	":is(a,summary){padding-block:.625rem;color:var(--accent);"            \
	"font-weight:600;cursor:pointer}"                                      \
	"a{display:inline-block}"                                              \
	".go{display:flex;flex-wrap:wrap;gap:.75rem;margin:1.5rem "            \
	"0 0}"                                                                 \
	".go+.go{margin-top:.75rem}"                                           \
	".go>*{flex:1 1 10rem}"                                                \
	":is(button,.go a){box-sizing:border-box;min-height:3rem;"             \
	"padding:.7rem 1.25rem;border:1px solid var(--edge);"                  \
	"border-radius:.625rem;background:var(--card);color:"                  \
	"var(--ink);font:inherit;font-weight:600;text-align:center;"           \
	"text-decoration:none;cursor:pointer}"                                 \
	":not(.go)+.go>:first-child{border-color:var(--accent);"               \
	"background:var(--accent);color:var(--on-accent)}"                     \
	":focus-visible{outline:3px solid var(--ink);"                         \
	"outline-offset:3px}"                                                  \
	"footer{color:var(--soft);font-size:.8125rem}"                         \
	"code{font-family:ui-monospace,monospace}"                             \
	"@media(forced-colors:active){.mark{color:CanvasText;"                 \
	"background:none}:not(.go)+.go>:first-child{"                          \
	"forced-color-adjust:none;border-color:Highlight;"                     \
	"background:Highlight;color:HighlightText}}"                           \
	"@media(max-width:30rem){body{gap:0;padding:0;background:"             \
	"var(--card)}main{padding:1.25rem;border:0;box-shadow:none}"           \
	"header{padding-top:1rem}footer{padding:0 1rem 1rem}h1{"               \
	"font-size:1.375rem}}"

#define UM_STYLE_HASH "sha256-VSSN5taGW2/9ItclfdccsRe0nyQjjn4MGraqHNZwB7E="

#endif
