import { type AddCommand, jsonOption } from '../command-context.ts'
import { nodeOption } from '../find-node.ts'
import type { NewWalletOptions } from './new-wallet.ts'
import type { ShowWalletOptions } from './show-wallet.ts'

export const addWallet: AddCommand = (program, context) => {
  const wallet = program.command('wallet').summary('Create a wallet or show its balances')
  wallet
    .command('new')
    .summary('Create a private key in a file')
    .description('Create a private key and write it to a file with mode 0600. Nothing is sent.')
    .requiredOption('--out <file>', 'file for the key; an existing file is never overwritten')
    .option(...jsonOption)
    .action(async (options: NewWalletOptions) => (await import('./new-wallet.ts')).newWallet(context, options))
  wallet
    .command('show')
    .summary('Show USDC, credit, subscription and points of a wallet')
    .argument('[address]', 'any wallet; otherwise the one whose key is given')
    .option(...nodeOption)
    .option('--demo', 'use the buyer wallet of a demo node on this machine')
    .option('--key-file <path>', 'file with the private key of the wallet')
    .option('--key-env <name>', 'environment variable with that key')
    .option('--rpc <url...>', 'JSON-RPC endpoints to read the USDC balance; default: those of a demo node')
    .option(...jsonOption)
    .action(async (address: string | undefined, options: ShowWalletOptions) =>
      (await import('./show-wallet.ts')).showWallet(context, address, options),
    )
}
