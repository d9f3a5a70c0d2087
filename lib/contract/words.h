/* Generated from lib/contract by `make contract`: change it there. */
/* SPDX-License-Identifier: MIT */
/* clang-format off */
#ifndef UM_CONTRACT_WORDS_H
#define UM_CONTRACT_WORDS_H

/* what the user does in the browser */
#define UM_KIND_WORDS "oauth", "payment", "signature", "input", "approval"

#endif
