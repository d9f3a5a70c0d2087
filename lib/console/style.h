/* SPDX-License-Identifier: MIT */
/*
 * The style of the console's pages, with the colours of all pages (http/style.h), and
 * the hash of both for the policy: tests/unit/test_console.c compares them.
 */
#ifndef UM_CONSOLE_STYLE_H
#define UM_CONSOLE_STYLE_H

#include "http/style.h"

#define UM_CONSOLE_STYLE                                                       \
	"body{margin:0;background:var(--page);color:var(--ink);"               \
	"overflow-wrap:anywhere}"                                              \
	".skip:not(:focus){position:absolute;inset-inline-start:-99rem}"       \
	".skip{position:absolute;padding:.75rem 1rem;background:"              \
	"var(--card)}"                                                         \
	"body>header{background:var(--card);border-bottom:1px solid "          \
	"var(--line)}"                                                         \
	"body>header,main,footer{padding:.75rem max(1rem,50vw - 38rem)}"       \
	"body>header{display:flex;flex-wrap:wrap;align-items:center;"          \
	"gap:.25rem 1.5rem}"                                                   \
	"nav{display:flex;flex-wrap:wrap;gap:0 1.25rem}"                       \
	"a{color:var(--accent);font-weight:600}"                               \
	"nav a{display:inline-block;padding:.625rem 0;text-decoration:"        \
	"none;border-bottom:.1875rem solid transparent}"                       \
	"nav a:hover{text-decoration:underline}"                               \
	"nav [aria-current]{color:var(--ink);border-color:"                    \
	"var(--accent)}"                                                       \
	"form{display:flex;flex-wrap:wrap;align-items:end;gap:.75rem}"         \
	"[role=search]{margin-inline-start:auto;flex:1 1 18rem;"               \
	"max-width:28rem;flex-wrap:nowrap}"                                    \
	"label{display:block;flex:1 1 9rem;min-width:0;font-size:"             \
	".9375rem;color:var(--soft)}"                                          \
	".hidden{position:absolute;clip-path:inset(50%);width:1px;"            \
	"height:1px;overflow:hidden;white-space:nowrap}"                       \
	":is(input,select,textarea){box-sizing:border-box;width:100%;"         \
	"min-height:2.75rem;padding:.5rem .75rem;border:1px solid "            \
	"var(--edge);border-radius:.625rem;background:var(--card);"            \
	"color:var(--ink);font:inherit}"                                       \
	":is(button,.button){box-sizing:border-box;flex:none;"                 \
	"min-height:2.75rem;"                                                  \
	"padding:.55rem 1.25rem;border:1px solid var(--edge);"                 \
	"border-radius:.625rem;background:var(--card);color:"                  \
	"var(--ink);font:inherit;font-weight:600;text-decoration:none;"        \
	"cursor:pointer}"                                                      \
	".main{border-color:var(--accent);background:var(--accent);"           \
	"color:var(--on-accent)}"                                              \
	":focus-visible{outline:3px solid var(--ink);outline-offset:"          \
	"2px}main:focus{outline:0}"                                            \
	"h1{margin:1rem 0 .75rem;font-size:1.5rem;line-height:1.25}"           \
	"h2{margin:0 0 .75rem;font-size:1.125rem;line-height:1.3}"             \
	"p{margin:.5rem 0}footer,small,.soft{color:var(--soft);"               \
	"font-size:.875rem}"                                                   \
	"section{margin:0 0 1.25rem;padding:1.25rem;border:1px solid "         \
	"var(--line);border-radius:1rem;background:var(--card)}"               \
	".tiles{display:grid;grid:auto/repeat(auto-fill,"                      \
	"minmax(min(100%,12rem),1fr));gap:.75rem;margin:0;padding:0;"          \
	"list-style:none}"                                                     \
	".tiles a{display:block;height:100%;box-sizing:border-box;"            \
	"padding:.75rem 1rem;border:1px solid var(--line);"                    \
	"border-radius:.75rem;color:var(--ink);font-weight:400;"               \
	"text-decoration:none}"                                                \
	".tiles a:hover{border-color:var(--accent)}"                           \
	".tiles strong{display:block;font-size:1.75rem;line-height:1.2;"       \
	"font-variant-numeric:tabular-nums}"                                   \
	".tiles small{display:block}section>p:first-child{margin-top:0}"       \
	".some{background:var(--warning-tint)}.some strong,.some "             \
	"small{color:var(--warning)}.none strong{color:var(--soft)}"           \
	".halves{display:grid;grid:auto/repeat(auto-fit,"                      \
	"minmax(min(100%,26rem),1fr));gap:0 1.25rem}"                          \
	".table{overflow-x:auto;margin:0 -1.25rem;padding:0 1.25rem}"

/* The rest: the compilers take no longer string than 4095 bytes. */
#define UM_CONSOLE_STYLE_MORE                                                  \
	"table{width:100%;border-collapse:collapse;font-size:.9375rem}"        \
	":is(th,td){padding:.5rem .75rem .5rem 0;border-bottom:1px "           \
	"solid var(--line);text-align:start;vertical-align:top}"               \
	"th{color:var(--soft);font-weight:600;white-space:nowrap}"             \
	"[dir=rtl] :is(th,td){padding:.5rem 0 .5rem .75rem}"                   \
	":is(td,th).n{text-align:end;font-variant-numeric:"                    \
	"tabular-nums;white-space:nowrap}"                                     \
	"td{min-width:5rem}time{white-space:nowrap;"                           \
	"font-variant-numeric:tabular-nums}"                                   \
	"code{font:.875em ui-monospace,monospace}"                             \
	"dl{display:grid;grid:auto/fit-content(40%) minmax(0,1fr);"            \
	"gap:.375rem 1.25rem;margin:0}dt{color:var(--soft)}dd{margin:0}"       \
	"summary{padding:.5rem 0;color:var(--accent);font-weight:600;"         \
	"cursor:pointer}"                                                      \
	"svg{display:block;width:100%;height:auto;margin:.5rem 0}"             \
	".accept{stroke:var(--good)}.decline{stroke:var(--edge)}"              \
	".cancel{stroke:var(--warning)}.others{stroke:var(--soft)}"            \
	".axis{stroke:var(--line)}.bars svg{width:7rem;margin:0}"              \
	".figures :is(th,td):not(:first-child){text-align:end;"                \
	"font-variant-numeric:tabular-nums}"                                   \
	"text{fill:var(--soft);font-size:10px}"                                \
	".key{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem}"                 \
	".key svg{display:inline;width:.75rem;height:.75rem;margin:0}"         \
	".line{margin:0;padding:0;list-style:none}"                            \
	".line li{position:relative;padding:0 0 1rem;"                         \
	"padding-inline-start:1.75rem;border-inline-start:2px solid "          \
	"var(--line);margin-inline-start:.5rem}"                               \
	".line li:last-child{border-color:transparent}"                        \
	".line li::before{content:\"\";position:absolute;"                     \
	"inset-inline-start:-.5rem;top:.375rem;width:.5rem;height:"            \
	".5rem;border:.1875rem solid var(--edge);border-radius:50%;"           \
	"background:var(--card)}"                                              \
	".line .good::before{border-color:var(--good)}"                        \
	".line .bad::before{border-color:var(--bad)}"                          \
	".line .wait::before{border-color:var(--warning)}"                     \
	".line p{margin:.125rem 0 0}.line "                                    \
	":is(time,small){display:block}.line "                                 \
	"time{color:var(--soft);font-size:.875rem}"                            \
	".note{padding:.75rem 1rem;border-inline-start:.25rem solid "          \
	"var(--calm);background:var(--calm-tint)}"                             \
	".note.warn{border-color:var(--warning);background:"                   \
	"var(--warning-tint)}"                                                 \
	".pill{padding:.125rem .625rem;border-radius:1rem;background:"         \
	"var(--plain-tint);font-weight:600}"                                   \
	".go{display:flex;flex-wrap:wrap;gap:.75rem;margin:1rem 0 0}"          \
	".fields label{flex-basis:100%}"

#define UM_CONSOLE_STYLE_FORCED                                                \
	"@media(forced-colors:active){.main{forced-color-adjust:none;"         \
	"border-color:Highlight;background:Highlight;color:"                   \
	"HighlightText}:is(.accept,.others){stroke:CanvasText}"                \
	".decline{stroke:GrayText}.cancel{stroke:Highlight}.axis{stroke:"      \
	"CanvasText}"                                                          \
	"text{fill:CanvasText}nav [aria-current]{border-color:"                \
	"Highlight}}"                                                          \
	"@media(max-width:30rem){section{margin-inline:-1rem;"                 \
	"border-inline:0;border-radius:0;padding:1rem}"                        \
	".table{margin:0 -1rem;padding:0 1rem}}"

#define UM_CONSOLE_STYLE_HASH                                                  \
	"sha256-uEAupkjtkXiVi0G9jqkCx7NkeuIVSLjN4HsaCvy9HYo="

#endif
