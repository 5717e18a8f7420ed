import type { AddCommand } from '../command-context.ts'
import { nodeOption } from '../find-node.ts'
import type { StreamOptions } from './run-stream.ts'

export const addStream: AddCommand = (program, context) => {
  program
    .command('stream')
    .summary('Follow what agents search for')
    .description(
      'Follow the intent stream of a node: demand by topic, as it is published. Opened with the token of a subscription,\n' +
        'or bought for 30 days when --max-amount allows its price. --sample shows a free hour of yesterday.',
    )
    .option(...nodeOption)
    .option('--cluster <list>', 'only these topics, ids separated by commas')
    .option('--clusters', 'list the topics and their ids, and exit')
    .option('--sample', 'one hour, a day old, free')
    .option('--signal', 'show the errors of the last day and simulated ones by traffic, and exit')
    .option('--files', 'list what was published since the subscription began, as files by day, and exit')
    .option('--file <name>', 'print the signed events of one file, one a line, and exit')
    .option('--series', 'print demand of one --cluster since the subscription began, and exit')
    .option('--token <token>', 'subscription token; default: ASSAY_STREAM_TOKEN')
    .option('--after <id>', 'resume after this event')
    .option('--buckets <count>', 'exit after this number of time buckets')
    .option('--demo', 'pay with the buyer wallet of a demo node on this machine')
    .option('--key-file <path>', 'file with the private key of the wallet that pays')
    .option('--key-env <name>', 'environment variable with that key')
    .option('--max-amount <usd>', 'maximum price of 30 days; without it nothing is bought')
    .option('--dry-run', 'show the price and sign nothing')
    .option('-y, --yes', 'do not ask for confirmation')
    .option('--json', 'print every signed event as one line of JSON')
    .addHelpText('after', examples)
    .action(async (options: StreamOptions) => {
      const { runStream } = await import('./run-stream.ts')
      await runStream(context, options)
    })
}

const examples = `
Examples:
  assay stream --sample --cluster 391
  assay stream --signal
  assay stream --demo --max-amount 5000
  assay stream --token $TOKEN --cluster 52,391 --json`
