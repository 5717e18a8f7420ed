import { type AssayClient, AssayError, type AssayResult, createAssayClient, parseUsd, type Quote } from '@assay/sdk'
import type { CommandContext } from '../command-context.ts'
import { CliError, exitCodes, usageError } from '../exit-codes.ts'
import { toJson } from '../output.ts'
import type { Terminal } from '../terminal.ts'
import { buildRequest, type RequestOptions, type RequestToSend, toInit } from './build-request.ts'
import { chooseWallet, type Wallet, type WalletOptions } from './choose-wallet.ts'
import { type DeliverOptions, deliver } from './deliver.ts'
import { progressText, quoteText } from './describe.ts'
import { quoteDocument } from './documents.ts'
import type { PaymentMethod } from './payment-methods.ts'

export type BuyOptions = RequestOptions &
  WalletOptions &
  DeliverOptions & {
    maxAmount?: string
    yes?: boolean
    dryRun?: boolean
    allowUnsigned?: boolean
    wait?: string
    scheme?: PaymentMethod
    permit2?: boolean
    calls?: number
    deposit?: string
  }

/** Quote, agree, pay, verify, deliver. */
export async function runBuy(context: CommandContext, url: string, options: BuyOptions): Promise<void> {
  const { terminal } = context
  const maximum = maximumOf(options, terminal)
  const request = await buildRequest(url, options, terminal)
  const wallet = await chooseWallet(request.url, options, terminal)
  const looking = clientOf(wallet, options, terminal, '0')
  const priced = await looking.quote(request.url, toInit(request)).catch(explainDemo(request.url, options))
  if (priced.status === 'answered')
    return deliver(context, { request, result: priced.result, client: looking, quote: undefined }, options)
  const { quote } = priced
  terminal.say(quoteText(quote, request.method, wallet))
  if (maximum !== undefined && BigInt(quote.amountMicro) > maximum)
    throw new CliError(
      exitCodes.refused,
      'price_above_maximum',
      `the price is above --max-amount ${options.maxAmount}`,
      {
        hint: 'Raise --max-amount if the price is right; nothing was signed.',
        details: { quote: quoteDocument(quote) },
      },
    )
  if (options.dryRun)
    return void terminal.out(options.json ? toJson({ quote: quoteDocument(quote) }) : 'nothing was signed (--dry-run)')
  await agree(terminal, quote, options)
  // The keys seen with the quote are the ones the answer must be signed with.
  const { origin } = new URL(request.url)
  const directory = looking.keyDirectory(origin)
  const keys = directory === undefined ? undefined : { [origin]: directory }
  const client = clientOf(wallet, options, terminal, quote.priceUsd, keys)
  const result = await pay(context, { client, request, quote }, options)
  await deliver(context, { request, result, client, quote }, options)
}

/** Somebody must have set a limit: a maximum, or a person who confirms the price. */
function maximumOf(options: BuyOptions, terminal: Terminal): bigint | undefined {
  const { maxAmount, demo, dryRun, yes } = options
  const micro = maxAmount === undefined ? undefined : parseUsd(maxAmount)
  if (maxAmount !== undefined && micro === undefined)
    throw usageError(`--max-amount: not decimal USD: ${maxAmount}`, 'Such as 0.05, with at most six decimals.')
  if (micro === undefined && !demo && !dryRun && (yes || !terminal.interactive))
    throw usageError(
      '--max-amount is required without a terminal',
      'Say the most this purchase may cost, such as --max-amount 0.05; --dry-run shows the price first.',
    )
  return micro
}

async function agree(terminal: Terminal, quote: Quote, { yes, demo }: BuyOptions): Promise<void> {
  if (yes || demo || !terminal.interactive) return
  if (!(await terminal.confirm(`Pay ${quote.priceUsd} USDC?`)))
    throw new CliError(exitCodes.refused, 'not_confirmed', 'not confirmed; nothing was signed')
}

export function clientOf(
  wallet: Pick<Wallet, 'account' | 'networks'>,
  options: Pick<BuyOptions, 'allowUnsigned' | 'wait' | 'scheme' | 'permit2' | 'calls' | 'deposit'>,
  terminal: Terminal,
  maxPerCallUsd: string,
  keys?: Record<string, unknown>,
): AssayClient {
  return createAssayClient({
    account: wallet.account,
    networks: wallet.networks,
    maxPerCallUsd,
    verify: options.allowUnsigned ? 'report' : 'require',
    deadlineMs: waitMs(options.wait),
    onProgress: (progress) => {
      const text = progressText(progress)
      if (text !== undefined) terminal.status(text)
    },
    paymentMethods: {
      ...(options.scheme === undefined ? {} : { only: options.scheme }),
      ...(options.permit2 === undefined ? {} : { permit2: options.permit2 }),
      ...(options.deposit === undefined ? {} : { depositUsd: options.deposit }),
      ...(options.calls === undefined ? {} : { expectedCalls: options.calls }),
    },
    ...(keys === undefined ? {} : { keys }),
  })
}

function waitMs(wait: string | undefined): number {
  const seconds = Number(wait ?? 90)
  if (!(seconds > 0 && seconds <= 3_600)) throw usageError(`--wait: not a number of seconds up to 3600: ${wait}`)
  return seconds * 1000
}

type Paying = { client: AssayClient; request: RequestToSend; quote: Quote }

async function pay(context: CommandContext, paying: Paying, options: BuyOptions): Promise<AssayResult> {
  const { client, request, quote } = paying
  const { terminal } = context
  try {
    return await terminal.untilInterrupted((signal) =>
      client.fetch(request.url, { ...toInit(request), signal }, { agreed: quote }),
    )
  } catch (error) {
    if (!(error instanceof AssayError)) throw error
    const { result } = error.details as { result?: AssayResult }
    // Paid, but what came back is not what the node signed: kept as evidence, never shown as an answer.
    if (result !== undefined) await deliver(context, { request, result, client, quote }, { ...options, withhold: true })
    throw error
  }
}

/** The commonest stumble of a newcomer: a demo node offers test money, which a real wallet does not have. */
function explainDemo(url: string, options: BuyOptions): (error: unknown) => never {
  return (error) => {
    const local = /^(127\.0\.0\.1|localhost|\[::1\])$/.test(new URL(url).hostname)
    if (error instanceof AssayError && error.code === 'no_acceptable_offer' && local && !options.demo)
      throw new CliError(exitCodes.refused, error.code, error.message, {
        hint: 'This node takes other money than the real USDC. If it is a demo node, add --demo.',
        details: { reasons: error.details.reasons },
      })
    throw error
  }
}
