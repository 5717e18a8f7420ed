import { buyFrom, discover, parseUsd } from '@assay/sdk'
import { chooseWallet, type WalletOptions } from '../buy/choose-wallet.ts'
import { answerOf, paymentDocument, receiptDocument, refusal } from '../buy/documents.ts'
import type { CommandContext } from '../command-context.ts'
import { CliError, exitCodes, usageError } from '../exit-codes.ts'
import { printResult } from '../output.ts'
import { addressesOf, nobodyOffers, parseUrl } from './run-mesh.ts'

export type MeshBuyOptions = WalletOptions & {
  url: string
  param: readonly string[]
  query: readonly string[]
  data?: string
  maxAmount?: string
  schema?: string
  dryRun?: boolean
  yes?: boolean
  report?: boolean
  json?: boolean
}

/** Finds the best seller of a capability, shows why, and buys there within the maximum. */
export async function buyInMesh(context: CommandContext, capability: string, options: MeshBuyOptions): Promise<void> {
  const { terminal } = context
  const { origin } = parseUrl(options.url)
  requireMaximum(context, options)
  const input = inputOf(options)
  const wallet = await chooseWallet(origin, options, terminal)
  const { account, networks } = wallet
  const { best, rejected } = await discover(capability, {
    nodes: [origin],
    networks: networks.map(({ network }) => network),
    resolve: addressesOf,
    ...(options.maxAmount === undefined ? {} : { maxPriceUsd: options.maxAmount }),
    ...(options.schema === undefined ? {} : { schema: options.schema }),
    ...(options.report ? { reporter: account } : {}),
  })
  if (best === undefined) throw nobodyOffers(capability, rejected)
  terminal.say(`${best.method} ${best.url} (${best.did}): ${best.why}`)
  const seller = { did: best.did, address: best.address, price_usd: best.priceUsd, why: best.why }
  if (options.dryRun)
    return printResult(
      terminal,
      options.json,
      { seller, would_pay_usd: best.priceUsd },
      () => `would pay ${best.priceUsd} USDC to ${best.address}; nothing was signed`,
    )
  const agreed = options.yes || options.demo || !terminal.interactive
  if (!agreed && !(await terminal.confirm(`Pay ${best.priceUsd} USDC with ${wallet.label}?`)))
    throw new CliError(exitCodes.refused, 'not_confirmed', 'not confirmed; nothing was signed')
  const bought = await buyFrom(
    best,
    { account, networks, resolve: addressesOf, report: options.report === true },
    input,
  )
  const { response, payment, receipt } = bought
  const text = await response.text()
  if (!response.ok) throw refusal(bought, answerOf(text))
  printResult(
    terminal,
    options.json,
    {
      seller,
      payment: paymentDocument(payment, answerOf(text)),
      receipt: receiptDocument(receipt),
      answer: answerOf(text),
    },
    () => text,
  )
}

/** Somebody must have set a limit: a maximum, or a person who confirms the price. */
function requireMaximum({ terminal }: CommandContext, { maxAmount, demo, dryRun, yes }: MeshBuyOptions): void {
  if (maxAmount !== undefined && parseUsd(maxAmount) === undefined)
    throw usageError(`--max-amount: not decimal USD: ${maxAmount}`, 'Such as 0.05, with at most six decimals.')
  if (maxAmount === undefined && !demo && !dryRun && (yes || !terminal.interactive))
    throw usageError('--max-amount is required when nobody is asked', 'Such as --max-amount 0.05.')
}

function inputOf({ param, query, data }: MeshBuyOptions) {
  const pairs = (given: readonly string[], option: string) =>
    Object.fromEntries(
      given.map((text) => {
        const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? []
        if (name === undefined || value === undefined) throw usageError(`${option}: not name=value: ${text}`)
        return [name, value]
      }),
    )
  const body = data === undefined ? undefined : answerOf(data)
  if (typeof body === 'string') throw usageError('--data: not JSON')
  return { params: pairs(param, '--param'), query: pairs(query, '--query'), ...(body === undefined ? {} : { body }) }
}
