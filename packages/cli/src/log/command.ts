import type { Command } from 'commander'
import { type AddCommand, jsonOption } from '../command-context.ts'

const collect = (value: string, earlier: string[]) => [...earlier, value]

/** Commands about transparency logs share one group. */
export const logGroup = (program: Command): Command =>
  program.commands.find((command) => command.name() === 'log') ??
  program.command('log').summary('Watch, check and repair transparency logs')

export const addLogMonitor: AddCommand = (program, context) => {
  logGroup(program)
    .command('monitor')
    .summary('check that a log only grows and shows everybody the same tree')
    .description(
      'Follows Assay logs and any other C2SP tlog-tiles log: verifies the signature of each tree head, that it continues ' +
        'the last one, and that the tiles hash to it; compares with what witnesses, mirrors and the chain hold; looks ' +
        'for the leaves that receipts promise. A log that shows two histories leaves a file that proves it.',
    )
    .argument(
      '<url...>',
      'prefix of a log, such as https://api.example.org/v1/log; the bare address of a node stands for its log',
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
    .option('--quorum <number>', 'how many of the witnesses must have cosigned lately (default: all)')
    .option('--witness-age <seconds>', 'how old a cosignature may be', '3600')
    .option('--compare <url>', 'mirror or monitor of the same log to compare with; may be repeated', collect, [])
    .option('--rpc <url>', 'JSON-RPC endpoint of Base: compare with the heads that were anchored on chain')
    .option('--receipts <folder>', 'receipts, evidence files and attestations whose leaves must be in the log')
    .option('--grace <seconds>', 'how old a receipt may be before its leaf must be there', '60')
    .option('--still <seconds>', 'warn when the log has not grown for so long', '86400')
    .option('--state <folder>', 'where to keep what was seen', '.assay-monitor')
    .option('--mirror <folder>', 'keep tiles and entries there, and serve them with --serve')
    .option('--serve <host:port>', 'serve a status page at /, JSON at /status.json, and the mirror at C2SP paths')
    .option('--interval <seconds>', 'pause between two checks', '10')
    .option('--once', 'check once and end: 0 no problem, 1 a warning, 5 an alarm')
    .option(...jsonOption)
    .addHelpText(
      'after',
      '\nExamples:\n  assay log monitor http://127.0.0.1:4020 --once\n' +
        '  assay log monitor https://api.example.org/v1/log --witness <vkey>=https://node.example.org/v1/witness --mirror copy --serve 127.0.0.1:4050',
    )
    .action(async (urls: string[], options) => {
      const { runMonitor } = await import('./run-monitor.ts')
      await runMonitor(context, urls, options)
    })
}
