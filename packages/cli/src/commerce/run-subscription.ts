import { type AnswerOf, askSigned, callOperation, createMandate, formatUsd } from '@assay/sdk'
import { chooseWallet } from '../buy/choose-wallet.ts'
import type { CommandContext } from '../command-context.ts'
import { amountArgument } from '../credit/run-credit.ts'
import { usageError } from '../exit-codes.ts'
import { freeClient } from '../free-client.ts'
import { printResult, table } from '../output.ts'
import { nodeUrl } from './node-url.ts'
import type { SubscriptionOptions } from './subscription-commands.ts'

type Listed = AnswerOf<'subscriptions.list'>['data'][number]
type Changed = AnswerOf<'subscriptions.cancel'>
type Change = 'subscriptions.cancel' | 'subscriptions.pause' | 'subscriptions.resume'

async function open({ terminal }: CommandContext, options: SubscriptionOptions) {
  if (options.product !== 'feeds' && options.product !== 'stream') throw usageError('--product: feeds or stream')
  const node = nodeUrl(options.url)
  const { account } = await chooseWallet(node, options, terminal)
  return { node, signer: { node, account }, client: freeClient(), query: { product: options.product } }
}

const usd = (micro: string) => formatUsd(BigInt(micro))

const renewalText = (renewal: Changed['renewal']): string =>
  renewal === null
    ? 'no renewal'
    : renewal.on
      ? `renews on ${renewal.next_at ?? ''}${renewal.problem === null ? '' : ` (last attempt: ${renewal.problem})`}`
      : `does not renew${renewal.problem === null ? '' : `: ${renewal.problem}`}`

const changedText = ({ subscription, renewal }: Changed): string =>
  `${subscription.tier} until ${subscription.until_at}${subscription.paused_at ? `, paused since ${subscription.paused_at}` : ''}, ${renewalText(renewal)}`

export async function listOwn(context: CommandContext, options: SubscriptionOptions): Promise<void> {
  const { signer, client } = await open(context, options)
  const own = await askSigned(client, 'subscriptions.list', {}, signer)
  printResult(context.terminal, options.json, own, () =>
    own.data.length === 0
      ? 'no subscriptions'
      : table<Listed>(own.data, [
          { title: 'product', of: (row) => row.product },
          { title: 'tier', of: (row) => row.subscription.tier },
          { title: 'until', of: (row) => row.subscription.until_at },
          {
            title: 'state',
            of: ({ active, subscription }) => (active ? 'active' : subscription.paused_at ? 'paused' : 'ended'),
          },
          { title: 'renewal', of: (row) => renewalText(row.renewal) },
        ]),
  )
}

export async function change(context: CommandContext, operation: Change, options: SubscriptionOptions): Promise<void> {
  const { signer, client, query } = await open(context, options)
  const changed = await askSigned(client, operation, { query }, signer)
  printResult(context.terminal, options.json, changed, () => changedText(changed))
}

/** Signs a mandate for so many periods at the price of today, unless one is named. */
export async function renew(context: CommandContext, options: SubscriptionOptions): Promise<void> {
  const { node, signer, client, query } = await open(context, options)
  const mandate = options.mandate ?? (await signPeriods(node, signer, options))
  const changed = await askSigned(client, 'subscriptions.renewal', { query, body: { mandate } }, signer)
  printResult(context.terminal, options.json, changed, () => changedText(changed))
}

async function signPeriods(
  node: string,
  signer: Awaited<ReturnType<typeof open>>['signer'],
  options: SubscriptionOptions,
): Promise<string> {
  const months = Number(options.months)
  if (!Number.isInteger(months) || months < 1 || months > 12) throw usageError('--months: a whole number from 1 to 12')
  const client = freeClient()
  const { data } = await askSigned(client, 'subscriptions.list', {}, signer)
  const own = data.find(({ product }) => product === options.product)
  if (own === undefined) throw usageError('this wallet has no such subscription', 'assay subscribe buys one.')
  const { data: plans } = await callOperation(client, 'subscriptions.plans', {}, { baseUrl: node })
  const price = own.subscription.price_usd
  const { id } = await createMandate(client, signer.account, {
    node,
    delegate: plans.renewal.delegate,
    routes: own.product === 'stream' ? ['market.intents.stream'] : [`subscriptions.${own.subscription.tier}.*`],
    maxPerCallUsd: price,
    maxPerDayUsd: price,
    maxTotalUsd: formatUsd(BigInt(microOf(price)) * BigInt(months)),
    expiresAt: new Date(Date.now() + 366 * 86_400_000 - 60_000),
  })
  return id
}

export async function upgrade(context: CommandContext, options: SubscriptionOptions): Promise<void> {
  const { signer, client } = await open(context, options)
  const { data } = await askSigned(client, 'subscriptions.list', {}, signer)
  const price = data.find(({ product }) => product === 'feeds')?.upgrade_price_micro
  if (price === null || price === undefined)
    throw usageError('this wallet has no standard subscription that is running')
  const { terminal } = context
  if (options.dryRun)
    return printResult(
      terminal,
      options.json,
      { price_micro: price },
      () => `${usd(price)} USD from credit; nothing was changed (--dry-run)`,
    )
  const asks = !options.yes && !options.demo && terminal.interactive
  if (asks && !(await terminal.confirm(`Upgrade to vip for ${usd(price)} USD from credit?`))) return
  const most = options.maxAmount === undefined ? price : microOf(options.maxAmount)
  const upgraded = await askSigned(client, 'subscriptions.upgrade', { body: { max_price_micro: most } }, signer)
  printResult(
    context.terminal,
    options.json,
    upgraded,
    () => `${changedText(upgraded)}, ${usd(upgraded.price_micro)} USD from credit`,
  )
}

const microOf = (text: string) => String(Math.round(Number(amountArgument('--max-amount', text)) * 1e6))
