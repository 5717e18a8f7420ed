import type { Command } from 'commander'
import { jsonOption, rawOption } from '../command-context.ts'
import { nodeOption } from '../find-node.ts'

/** The options of every command that pays a node for one answer. */
export const payable = (command: Command): Command =>
  command
    .option(...nodeOption)
    .option('--demo', 'pay with the buyer wallet of a demo node on this machine')
    .option('--key-file <path>', 'file with the private key of the wallet that pays')
    .option('--key-env <name>', 'environment variable with that key', undefined)
    .option('--max-amount <usd>', 'maximum price; required without a terminal, except with --demo')
    .option('--dry-run', 'show the price and sign nothing')
    .option('-y, --yes', 'do not ask for confirmation; needs --max-amount')
    .option(...rawOption)
    .option(...jsonOption)
