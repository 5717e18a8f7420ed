import { type AddCommand, jsonOption } from '../command-context.ts'
import type { AttackOptions } from './run-attack.ts'

export const addAttack: AddCommand = (program, context) => {
  program
    .command('attack')
    .summary('Run known attacks against an x402 seller and report what was served, charged or leaked')
    .description(
      'Attack a paid route: without paying, with forged, stale, replayed and misdirected payments, concurrently,\n' +
        'and by disconnecting early. Some attacks pay the price for real, with the wallet given. Only for sellers on this machine,\n' +
        'unless you say that the one you name is yours.',
    )
    .argument('<url>', 'a paid route, such as http://127.0.0.1:4020/v1/sandbox/echo?message=hi')
    .option('-d, --data <json>', 'body, for a route that takes POST')
    .option('--demo', 'pay with the buyer wallet of a demo node on this machine')
    .option('--key-file <path>', 'file with the private key of the wallet that pays')
    .option('--key-env <name>', 'environment variable with that key')
    .option('--rpc <url>', 'the chain, to see what was really charged; that of a demo node is known')
    .option('--max-amount <usd>', 'maximum total of all purchases', '0.25')
    .option('--only <ids>', 'only these attacks, separated by commas')
    .option('--list', 'list the attacks and do nothing')
    .option('--this-seller-is-mine', 'attack a seller that is not on this machine')
    .option(...jsonOption)
    .addHelpText('after', '\nExample:\n  assay attack "http://127.0.0.1:4020/v1/sandbox/echo?message=hi" --demo')
    .action(async (url: string, options: AttackOptions) => {
      const { runAttack } = await import('./run-attack.ts')
      await runAttack(context, url, options)
    })
}
