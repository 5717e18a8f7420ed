import type { Command } from 'commander'
import { jsonOption } from '../command-context.ts'
import { nodeOption } from '../find-node.ts'

/** Options of a command whose request is signed by a wallet and is free. */
export const withSigner = (command: Command): Command =>
  command
    .option(...nodeOption)
    .option('--demo', 'sign with the buyer wallet of a demo node on this machine')
    .option('--key-file <path>', 'file with the private key of the wallet that signs')
    .option('--key-env <name>', 'environment variable with that key')
    .option(...jsonOption)
