import { type AddCommand, type CommandContext, jsonOption } from '../command-context.ts'
import { exitCodes, usageError } from '../exit-codes.ts'
import { printResult } from '../output.ts'
import { type Check, checksText, summaryText } from './check.ts'

type DoctorOptions = { json?: boolean; method?: string }

export const addDoctor: AddCommand = (program, context) => {
  program
    .command('doctor')
    .summary('Check an installation or an x402 endpoint, and say how to repair it')
    .description(
      'Without a URL: checks this installation, from the Node version to the configuration, and changes nothing.\n' +
        'With a URL: asks any x402 endpoint, ours or not, as a buyer, an indexer and a scanner would, and pays nothing.\n' +
        'Exit code 1 when a check fails.',
    )
    .argument('[url]', 'a paid route, such as https://api.example.org/v1/report/0x…, or the address of a seller')
    .option('-X, --method <method>', 'method of the paid route (GET, or POST where GET is not allowed)')
    .option(...jsonOption)
    .addHelpText(
      'after',
      '\nExamples:\n  assay doctor\n  assay doctor http://127.0.0.1:4020\n  assay doctor "http://127.0.0.1:4020/v1/report/$TOKEN"',
    )
    .action((url: string | undefined, options: DoctorOptions) => runDoctor(context, url, options))
}

async function runDoctor({ terminal, endWith }: CommandContext, url: string | undefined, options: DoctorOptions) {
  if (url !== undefined && (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)))
    throw usageError(`not an http(s) URL: ${url}`)
  const checks: Check[] =
    url === undefined
      ? await (await import('./installation.ts')).checkInstallation(terminal.env)
      : await (await import('./endpoint.ts')).checkEndpoint(url, options.method)
  printResult(terminal, options.json, { ...(url === undefined ? {} : { url }), checks }, () =>
    [checksText(checks), '', summaryText(checks)].join('\n'),
  )
  if (checks.some((check) => check.status === 'fail')) endWith(exitCodes.failed)
}
