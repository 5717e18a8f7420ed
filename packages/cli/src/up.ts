import type { AddCommand } from './command-context.ts'
import { exitCodes } from './exit-codes.ts'
import { loadNode } from './load-node.ts'

export const addUp: AddCommand = (program, { endWith }) => {
  program
    .command('up')
    .summary('Start a node')
    .description(
      'Start a node in this process: a demo node with its own database and chains, or a production node when ' +
        'ASSAY_MODE=production. It is configured by the environment (docs/configuration.md), the same as `npm start`.\n' +
        'The last line on standard output is `ready <url>`; Ctrl-C drains and stops everything.',
    )
    .option('--processes <n>', 'number of worker processes, or `auto` for what the cores carry (PROCESSES)')
    .addHelpText('after', '\nExample:\n  PORT=4030 DEVNET_PORTS=0,0 ASSAY_HOME=.assay-two assay up')
    .action(async ({ processes }: { processes?: string }) => {
      const { runNode } = await loadNode()
      await runNode(processes === undefined ? process.env : { ...process.env, PROCESSES: processes })
      // A start that failed has said why and left its code behind.
      if (process.exitCode) endWith(process.exitCode === exitCodes.usage ? exitCodes.usage : exitCodes.failed)
    })
}
