import { type AddCommand, jsonOption } from '../command-context.ts'
import type { NewWalletOptions } from './new-wallet.ts'
import type { ShowWalletOptions } from './show-wallet.ts'

export const addWallet: AddCommand = (program, context) => {
  const wallet = program.command('wallet').summary('make a wallet, or see what it has with a node')
  wallet
    .command('new')
    .summary('make a key and keep it in a file')
    .description('Makes a new private key and writes it to a file that only you can read. Nothing is sent anywhere.')
    .requiredOption('--out <file>', 'where to keep the key; an existing file is never overwritten')
    .option(...jsonOption)
    .action(async (options: NewWalletOptions) => (await import('./new-wallet.ts')).newWallet(context, options))
  wallet
    .command('show')
    .summary('what a wallet has: money, credit, subscription, points')
    .argument('[address]', 'any wallet; otherwise the one whose key is given')
    .option('--url <origin>', 'the node', 'http://127.0.0.1:4020')
    .option('--demo', 'the buyer wallet that a demo node on this machine lends')
    .option('--key-file <path>', 'file with the private key of the wallet')
    .option('--key-env <name>', 'environment variable with that key')
    .option('--rpc <url...>', 'chains to read the USDC balance from; those of a demo node are known')
    .option(...jsonOption)
    .action(async (address: string | undefined, options: ShowWalletOptions) =>
      (await import('./show-wallet.ts')).showWallet(context, address, options),
    )
}
