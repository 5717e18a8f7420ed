import { isLoopbackUrl } from '@assay/protocol/loopback'
import { chooseWallet, type WalletOptions } from '../buy/choose-wallet.ts'
import type { CommandContext } from '../command-context.ts'
import { exitCodes, usageError } from '../exit-codes.ts'
import { printResult } from '../output.ts'

export type AttackOptions = WalletOptions & {
  data?: string
  otherRoute?: string
  rpc?: string
  facilitator?: string
  maxAmount: string
  realMoney?: string
  start?: string
  only?: string
  nonce?: string
  list?: boolean
  json?: boolean
}

/** Runs the conformance suite against a seller, paying with a wallet of the command line. */
export async function runAttack(context: CommandContext, url: string, options: AttackOptions): Promise<void> {
  const { terminal, endWith } = context
  const { catalogue, checkCommand, reportFormats, UsageError, UnknownCase } = await import('@assay/conformance')
  if (options.list) {
    const cases = catalogue.map(({ id, level, title }) => ({ id, level, title }))
    return printResult(terminal, options.json, { cases }, () =>
      cases.map(({ id, level, title }) => `${level}  ${id.padEnd(26)}  ${title}`).join('\n'),
    )
  }
  if (!URL.canParse(url)) throw usageError(`not a URL: ${url}`)
  const hasKey = options.demo || options.keyFile !== undefined || options.keyEnv !== undefined
  const isPaid = hasKey || terminal.env['ASSAY_KEY'] !== undefined
  const { account } = isPaid ? await chooseWallet(url, options, terminal) : { account: undefined }
  const rpc = options.rpc ?? (options.demo ? await demoRpc(url) : undefined)
  const { data, otherRoute, facilitator, maxAmount: cap, realMoney, start, only, nonce } = options
  const { report, code } = await checkCommand({
    ...{ url, data, otherRoute, rpc, facilitator, cap, realMoney, start, only, nonce, account },
    onStatus: (line) => terminal.status(line),
  }).catch((error: unknown) => {
    throw error instanceof UsageError || error instanceof UnknownCase ? usageError(error.message) : error
  })
  printResult(terminal, options.json, report, () => reportFormats.text(report))
  if (code !== 0) endWith(exitCodes.failed)
}

async function demoRpc(url: string): Promise<string | undefined> {
  if (!isLoopbackUrl(url)) return undefined
  const index = (await (await fetch(new URL('/', url), { headers: { accept: 'application/json' } })).json()) as {
    demo?: { chains?: { network: string; rpc: string }[] }
  }
  return index.demo?.chains?.find(({ network }) => network === 'eip155:8453')?.rpc
}
