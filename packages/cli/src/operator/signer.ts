import { existsSync } from 'node:fs'
import { type AddCommand, jsonOption } from '../command-context.ts'
import { usageError } from '../exit-codes.ts'
import { explainMissing } from '../load-node.ts'
import { printResult } from '../output.ts'

export const addSigner: AddCommand = (program, context) => {
  const signer = program
    .command('signer')
    .summary('Hold wallet keys in a separate process')
    .description('Hold the keys of the settling and custody wallets apart from the node, with limits for each key.')
  signer
    .command('serve')
    .summary('Sign for nodes over mutual TLS, within the limits of each key')
    .description(
      'Reads a JSON file with the address to listen at, the certificates of both sides, and each key with its limits; docs/deploy.md ' +
        'describes it. What was signed within a day is kept in a journal, so that a restart resets no limit.',
    )
    .requiredOption('--config <file>', 'JSON file of the signer')
    .option(...jsonOption)
    .addHelpText('after', '\nExample:\n  assay signer serve --config /etc/assay/signer.json')
    .action(async ({ config, json }: { config: string; json?: boolean }) => {
      const { terminal } = context
      const { serveSigner, systemClock: clock, stderrLog } = await import('@assay/node/signer').catch(explainMissing)
      if (!existsSync(config)) throw usageError(`cannot read ${config}`, 'docs/deploy.md shows such a file.')
      const running = await serveSigner(config, { clock, log: stderrLog })
      printResult(terminal, json, { port: running.port, keys: running.keys }, () =>
        [...running.keys.map(({ address, use }) => `${use} ${address}`), `ready ${running.port}`].join('\n'),
      )
      await new Promise<void>((done) => {
        for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, done)
      })
      await running.stop()
    })
}
