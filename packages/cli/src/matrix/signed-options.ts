import type { Command } from 'commander'
import { jsonOption } from '../command-context.ts'
import { nodeOption } from '../find-node.ts'

/** Of a command whose request a wallet signs and nobody pays for. */
export const withSigner = (command: Command): Command =>
  command
    .option(...nodeOption)
    .option('--demo', 'sign with the buyer wallet of a demo node on this machine')
    .option('--key-file <path>', 'file with the private key of the wallet that signs')
    .option('--key-env <name>', 'environment variable with that key')
    .option(...jsonOption)
