import { readFile } from 'node:fs/promises'
import { parseUsd } from '@assay/protocol/money'
import type { LocalAccount } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { type Level, levels } from './case.ts'
import { connectFacilitator } from './facilitator/control.ts'
import { isRealMoney } from './money.ts'
import { checkSeller, newRunNonce, type Report } from './run.ts'
import { NotASeller, quoteOf } from './seller/seller.ts'
import { newAccount } from './seller/sign-payment.ts'
import { type StartedSeller, startSeller } from './start-seller.ts'

export type CheckInput = {
  url: string
  data?: string | undefined
  otherRoute?: string | undefined
  facilitator?: string | undefined
  rpc?: string | undefined
  keyFile?: string | undefined
  /** Instead of a file. */
  account?: LocalAccount | undefined
  cap?: string | undefined
  realMoney?: string | undefined
  start?: string | undefined
  only?: string | undefined
  level?: string | undefined
  nonce?: string | undefined
  isThorough?: boolean
  onStatus?(line: string): void
}

export class UsageError extends Error {}

/** What the command line does: find wallet, chain and permission, check the seller, and say how it ends. */
export async function checkCommand(input: CheckInput): Promise<{ report: Report; code: 0 | 1 }> {
  if (!URL.canParse(input.url)) throw new UsageError(`not a URL: ${input.url}`)
  const upTo = (input.level ?? 'L5') as Level
  if (!levels.includes(upTo)) throw new UsageError(`--level: one of ${levels.join(', ')}`)
  const cap = parseUsd(input.cap ?? '1')
  if (cap === undefined) throw new UsageError(`--cap: not decimal USD: ${input.cap}`)
  const facilitator = input.facilitator === undefined ? undefined : connectFacilitator(input.facilitator)
  const state = await facilitator?.state().catch((error: unknown) => {
    throw new UsageError(`--facilitator: no test facilitator at ${input.facilitator}`, { cause: error })
  })
  const rpc = input.rpc ?? state?.rpc
  const seller: StartedSeller | undefined =
    input.start === undefined ? undefined : await startSeller(input.start, input.url)
  try {
    const quote = await quoteOf(input.url, input.data).catch((error: unknown) => {
      throw error instanceof NotASeller ? new UsageError(error.message) : error
    })
    const given = input.account ?? (await readAccount(input.keyFile))
    const account = given ?? newAccount()
    const mayPay = given !== undefined || facilitator !== undefined
    if (mayPay && isRealMoney(quote, rpc) && parseUsd(input.realMoney ?? '') !== cap)
      throw new UsageError(
        `${quote.network} is a main network: this would sign real money. Use a test network, or repeat the cap: --real-money ${input.cap ?? '1'}`,
      )
    if (given === undefined) await facilitator?.fund(account.address)
    const nonce = input.nonce ?? newRunNonce()
    const report = await checkSeller({
      ...{
        url: input.url,
        body: input.data,
        otherUrl: input.otherRoute,
        account,
        capMicro: cap,
        rpc,
        facilitator,
        mayPay,
        nonce,
      },
      ...{
        isThorough: input.isThorough ?? false,
        restart: seller?.restart,
        only: input.only?.split(',').map((name) => name.trim()),
      },
      onProgress: (one, finding) => input.onStatus?.(finding ? '' : `${one.level} ${one.title} …`),
    })
    const counted = levels.slice(0, levels.indexOf(upTo) + 1)
    const failed = report.cases.some(({ verdict, level }) => verdict === 'failed' && counted.includes(level))
    return { report, code: failed ? 1 : 0 }
  } finally {
    await seller?.stop()
  }
}

async function readAccount(path: string | undefined): Promise<LocalAccount | undefined> {
  if (path === undefined) return undefined
  const key = (await readFile(path, 'utf8')).trim()
  if (!/^0x[0-9a-fA-F]{64}$/.test(key)) throw new UsageError(`--key-file: ${path} is not a private key`)
  return privateKeyToAccount(key as `0x${string}`)
}
