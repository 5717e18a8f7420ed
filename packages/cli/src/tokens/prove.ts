import { readFile, writeFile } from 'node:fs/promises'
import { parseJson } from '@assay/protocol/json-object'
import { type AddCommand, type CommandContext, jsonOption } from '../command-context.ts'
import { CliError, exitCodes, usageError } from '../exit-codes.ts'
import { printResult } from '../output.ts'

type ProveOptions = { l1Rpc: string; l2Rpc: string; anchor: string; l1Block?: string; out: string; json?: boolean }

export const addProve: AddCommand = (program, context) => {
  program
    .command('prove')
    .summary('Upgrade a token report to one that trusts no RPC')
    .description(
      'Add storage proofs, block headers and the claim of the output on the parent chain to a report (`assay report --out`).\n' +
        'The result verifies offline against a block hash of the parent chain. The endpoints need not be trusted.\n' +
        'An output at or after the block of the report must be final there; until then there is no proof.',
    )
    .argument('<report>', 'the report as JSON')
    .requiredOption('--l2-rpc <url>', 'an endpoint of the chain of the token, with state at the block of the report')
    .requiredOption('--l1-rpc <url>', 'an endpoint of the parent chain')
    .requiredOption('--anchor <address>', 'the anchor state registry of the chain of the token on the parent chain')
    .option('--l1-block <number>', 'block of the parent chain to end in (default: the final one)')
    .requiredOption('--out <file>', 'write the proof to this file')
    .option(...jsonOption)
    .addHelpText(
      'after',
      '\nExample:\n  assay prove report.json --l2-rpc $RPC --l1-rpc $L1_RPC --anchor $ANCHOR --out proof.json\n  assay verify proof.json --l1-block $BLOCK_HASH --anchor $ANCHOR',
    )
    .action((file: string, options: ProveOptions) => runProve(context, file, options))
}

async function runProve({ terminal }: CommandContext, file: string, options: ProveOptions): Promise<void> {
  for (const [flag, url] of [
    ['--l1-rpc', options.l1Rpc],
    ['--l2-rpc', options.l2Rpc],
  ] as const)
    if (!URL.canParse(url)) throw usageError(`${flag}: not a URL: ${url}`)
  if (!/^0x[0-9a-fA-F]{40}$/.test(options.anchor)) throw usageError(`--anchor: not an address: ${options.anchor}`)
  if (options.l1Block !== undefined && !/^[0-9]{1,15}$/.test(options.l1Block))
    throw usageError(`--l1-block: not a block number: ${options.l1Block}`)
  const text = await readFile(file, 'utf8').catch(() => {
    throw usageError(`cannot read ${file}`)
  })
  const { askOver, parseTokenReport, ProveError, proveReport } = await import('@assay/sdk')
  const report = parseTokenReport(parseJson(text))
  if (report === undefined)
    throw usageError(`${file} is not a report on a token`, 'Take what `assay report --out` writes as JSON.')
  const proof = await proveReport(report, {
    l1: askOver(options.l1Rpc),
    l2: askOver(options.l2Rpc),
    anchor: options.anchor,
    ...(options.l1Block === undefined ? {} : { l1Block: `0x${BigInt(options.l1Block).toString(16)}` as const }),
  }).catch((error: unknown) => {
    if (!(error instanceof ProveError)) throw error
    throw new CliError(exitCodes.failed, error.code, error.message)
  })
  await writeFile(options.out, `${JSON.stringify(proof)}\n`)
  const { readHeader } = await import('@assay/protocol/token-report/block-header')
  const l1 = readHeader(proof.l1.header)
  const said = { file: options.out, headers: proof.headers.length, l1_block: l1?.hash, not_proven: proof.not_proven }
  printResult(terminal, options.json, said, () =>
    [
      `Wrote ${options.out}: ${proof.headers.length} headers up to the output, which is final in block ${l1?.number}.`,
      `Verify it with: assay verify ${options.out} --l1-block ${l1?.hash} --anchor ${proof.l1.anchor}`,
      'Not proven:',
      ...proof.not_proven.map((line) => `  - ${line}`),
    ].join('\n'),
  )
}
