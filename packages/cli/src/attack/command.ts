import { type AddCommand, jsonOption } from '../command-context.ts'
import type { AttackOptions } from './run-attack.ts'

export const addAttack: AddCommand = (program, context) => {
  program
    .command('attack')
    .summary('Run the conformance suite against an x402 seller: what was served, charged or leaked')
    .description(
      'Test a paid route in five levels: protocol, one payment one serve, only what was quoted, money and failure,\n' +
        'evidence. Some cases pay the price, with the wallet given. Hosts that are not on this machine get the reading part\n' +
        'only, unless they serve the nonce of the run at /.well-known/x402-conformance.',
    )
    .argument('<url>', 'a paid route, such as http://127.0.0.1:4020/v1/sandbox/echo?message=hi')
    .option('-d, --data <json>', 'body, for a route that takes POST')
    .option('--other-route <url>', 'another paid route of the seller, that takes GET')
    .option('--demo', 'pay with the buyer wallet of a demo node on this machine')
    .option('--key-file <path>', 'file with the private key of the wallet that pays')
    .option('--key-env <name>', 'environment variable with that key')
    .option('--rpc <url>', 'JSON-RPC endpoint to read what was charged; default: that of a demo node')
    .option(
      '--facilitator <url>',
      'the test facilitator through which the seller settles (assay-conformance facilitator)',
    )
    .option('--max-amount <usd>', 'maximum that is signed in all', '1')
    .option('--real-money <usd>', 'allow a main network; repeat the maximum')
    .option('--start <command>', 'command that starts the seller, to kill and start it again')
    .option('--only <names>', 'only these cases or levels, separated by commas')
    .option('--nonce <hex>', 'nonce of the run, served by a host that is not on this machine')
    .option('--list', 'list the cases and do nothing')
    .option(...jsonOption)
    .addHelpText('after', '\nExample:\n  assay attack "http://127.0.0.1:4020/v1/sandbox/echo?message=hi" --demo')
    .action(async (url: string, options: AttackOptions) => {
      const { runAttack } = await import('./run-attack.ts')
      await runAttack(context, url, options)
    })
}
