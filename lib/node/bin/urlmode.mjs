#!/usr/bin/env node
// SPDX-License-Identifier: MIT
import { run } from '../src/commands/main.js';

process.exitCode = await run(process.argv.slice(2));
