import type { Command } from 'commander'
import { type AddCommand, jsonOption } from '../command-context.ts'
import { explainMissing } from '../load-node.ts'

const collect = (value: string, earlier: string[]) => [...earlier, value]

/** Commands about transparency logs share one group. */
export const logGroup = (program: Command): Command =>
  program.commands.find((command) => command.name() === 'log') ??
  program.command('log').summary('Operate, check and repair transparency logs')

export const addLogMonitor: AddCommand = (program, context) => {
  logGroup(program)
    .command('monitor')
    .summary('Check that a log is append-only and shows everybody the same tree')
    .description(
      'Follow Assay logs and any other C2SP tlog-tiles log: verify the signature of each tree head, its consistency with ' +
        'the last one, and that the tiles hash to it; compare with witnesses, mirrors and the chain; look for ' +
        'the leaves that receipts promise. A log that shows two histories leaves a file that proves it.',
    )
    .argument(
      '<url...>',
      'prefix of a log, such as https://api.example.org/v1/log; the address of a node means its log',
    )
    .option(
      '--key <vkey>',
      'key that signs a log; may be repeated. Default: the keys of an Assay log at first contact',
      collect,
      [],
    )
    .option(
      '--witness <vkey[=url]>',
      'witness that must have cosigned, and where to ask it; may be repeated',
      collect,
      [],
    )
    .option('--quorum <number>', 'how many of the witnesses must have cosigned recently (default: all)')
    .option('--witness-age <seconds>', 'how old a cosignature may be', '3600')
    .option('--compare <url>', 'mirror or monitor of the same log to compare with; may be repeated', collect, [])
    .option('--rpc <url>', 'JSON-RPC endpoint of Base: compare with the heads that were anchored on chain')
    .option('--receipts <folder>', 'receipts, evidence files and attestations whose leaves must be in the log')
    .option('--grace <seconds>', 'maximum age of a receipt whose leaf is not in the log yet', '60')
    .option('--still <seconds>', 'warn when the log has not grown for this time', '86400')
    .option('--state <folder>', 'folder for the state', '.assay-monitor')
    .option('--mirror <folder>', 'keep tiles and entries in this folder, and serve them with --serve')
    .option('--serve <host:port>', 'serve a status page at /, JSON at /status.json, and the mirror at C2SP paths')
    .option('--interval <seconds>', 'pause between two checks', '10')
    .option('--once', 'check once and exit: 0 no problem, 1 a warning, 5 an alarm')
    .option(...jsonOption)
    .addHelpText(
      'after',
      '\nExamples:\n  assay log monitor http://127.0.0.1:4020 --once\n' +
        '  assay log monitor https://api.example.org/v1/log --witness <vkey>=https://node.example.org/v1/witness --mirror copy --serve 127.0.0.1:4050',
    )
    .action(async (urls: string[], options) => {
      const { runMonitor } = await import('./run-monitor.ts').catch(explainMissing)
      await runMonitor(context, urls, options)
    })
}
