#!/usr/bin/env node
import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { levels, levelTitles } from './case.ts'
import { catalogue } from './catalogue.ts'
import { checkCommand, UsageError } from './check-command.ts'
import { startTestFacilitator } from './facilitator/test-facilitator.ts'
import { type ReportFormat, reportFormats } from './report/index.ts'
import { usage } from './usage.ts'

const text = { type: 'string' } as const

const readArguments = () =>
  parseArgs({
    allowPositionals: true,
    options: {
      ...{ data: text, facilitator: text, rpc: text, 'key-file': text, cap: text, 'real-money': text, start: text },
      ...{
        'other-route': text,
        only: text,
        level: text,
        nonce: text,
        format: text,
        out: text,
        port: text,
        'chain-port': text,
      },
      ...{ help: { type: 'boolean' }, json: { type: 'boolean' }, thorough: { type: 'boolean' } },
    },
  })

type Values = ReturnType<typeof readArguments>['values']

async function runFacilitator(values: Values): Promise<void> {
  const facilitator = await startTestFacilitator({
    port: Number(values.port ?? 4402),
    ...(values['chain-port'] === undefined ? {} : { chainPort: Number(values['chain-port']) }),
  })
  process.stdout.write(
    `Facilitator  ${facilitator.url}\nChain        ${facilitator.rpc} (${facilitator.network}, test money only)\n` +
      `Asset        ${facilitator.asset} (EIP-712 name USD Coin, version 2)\n\n` +
      'Start the seller with this facilitator, network and asset, then check it:\n' +
      `  assay-conformance <url of a paid route> --facilitator ${facilitator.url}\n`,
  )
  const stop = () => void facilitator.stop().then(() => process.exit(0))
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
}

function list(): string {
  return levels
    .flatMap((level) => [
      `${level} ${levelTitles[level]}`,
      ...catalogue.filter((one) => one.level === level).map(({ id, title }) => `  ${id.padEnd(26)} ${title}`),
    ])
    .join('\n')
}

async function main(): Promise<number> {
  const { values, positionals } = readArguments()
  const [command] = positionals
  if (values.help || command === undefined) {
    process.stderr.write(usage)
    return values.help ? 0 : 2
  }
  if (command === 'list') {
    process.stdout.write(`${list()}\n`)
    return 0
  }
  if (command === 'facilitator') {
    await runFacilitator(values)
    return 0
  }
  const format = (values.format ?? (values.json ? 'json' : 'text')) as ReportFormat
  if (!(format in reportFormats)) throw new UsageError(`no such format: ${format}`)
  const { report, code } = await checkCommand({
    ...{ url: command, ...values, keyFile: values['key-file'], realMoney: values['real-money'] },
    otherRoute: values['other-route'],
    isThorough: values.thorough ?? false,
    onStatus: (line) => process.stderr.isTTY && process.stderr.write(`\r\u001b[2K${line}`),
  })
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[2K')
  const document = reportFormats[format](report)
  if (values.out === undefined) process.stdout.write(`${document.trimEnd()}\n`)
  else await writeFile(values.out, document)
  return code
}

process.exitCode = await main().catch((error: unknown) => {
  process.stderr.write(`assay-conformance: ${error instanceof Error ? error.message : String(error)}\n`)
  return 2
})
