#!/usr/bin/env node
import { runCli } from './run-cli.ts'
import { processTerminal } from './terminal.ts'

// A closed pipe (`assay … | head`) is an ordinary end.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))

// Set, not exited: what was written must get out first, and `up` goes on living.
process.exitCode = await runCli(process.argv.slice(2), processTerminal())
