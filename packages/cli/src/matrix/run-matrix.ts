import {
  type AssayClient,
  createAssayClient,
  createMatrix,
  type Matrix,
  type MatrixAnswer,
  type MatrixIndexEntry,
  type MatrixVipQuery,
} from '@assay/sdk'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { type AgreeOptions, agreeTo, unlessDryRun } from '../buy/agree.ts'
import { chooseWallet, type WalletOptions } from '../buy/choose-wallet.ts'
import type { CommandContext } from '../command-context.ts'
import { usageError } from '../exit-codes.ts'
import { printResult, table } from '../output.ts'
import { feedTable } from './feed-table.ts'
import { qualityText } from './quality-text.ts'
import { saveFeed } from './save-feed.ts'
import { saveMonths } from './save-months.ts'

export type MatrixOptions = WalletOptions &
  AgreeOptions & {
    url: string
    limit: number
    symbol?: string
    minScore?: string
    sort?: string
    filter?: string
    method?: string
    output?: string
    live?: boolean
    vip?: boolean
    asOf?: string
    history?: number
    quality?: boolean
    screen?: string
    bulk?: string
    from?: string
    format: string
    maxAmount: string
    token?: string
  }

export async function runMatrix(
  context: CommandContext,
  feed: string | undefined,
  options: MatrixOptions,
): Promise<void> {
  let refused = false
  const client = await openClient(context, options, () => {
    refused = true
  })
  await showFeed(context, client, feed, options).catch((error: unknown) => {
    if (!refused) throw error
    throw usageError('--token: the node asks for a payment', 'The token is not of this node, or its tier is lower.')
  })
}

async function showFeed(
  context: CommandContext,
  client: AssayClient,
  feed: string | undefined,
  options: MatrixOptions,
): Promise<void> {
  const { terminal } = context
  const matrix = createMatrix(client)
  if (feed === undefined) {
    const index = await matrix.index()
    return printResult(terminal, options.json, index, () => indexText(index.data))
  }
  if (options.quality) {
    const quality = await matrix.quality(feed)
    return printResult(terminal, options.json, quality, () => qualityText(quality))
  }
  if (options.bulk !== undefined) return saveMonths(context, client, feed, { ...options, bulk: options.bulk })
  const { output } = options
  if (output !== undefined) {
    const tier = options.vip ? 'vip' : options.live ? 'live' : 'delayed'
    const path = new URL(`/matrix/${encodeURIComponent(feed)}/${tier}`, options.url).href
    const saved = await unlessDryRun(terminal, options, () => saveFeed(client, path, queryOf(options), output))
    if (saved !== undefined)
      printResult(terminal, options.json, saved, () => `${saved.bytes} bytes of ${saved.content_type} in ${saved.file}`)
    return
  }
  const answer = await unlessDryRun(terminal, options, () => pull(matrix, feed, options))
  if (answer !== undefined) printResult(terminal, options.json, answer, () => feedTable(answer))
}

function pull(matrix: Matrix, feed: string, options: MatrixOptions): Promise<MatrixAnswer> {
  const query = queryOf(options)
  if (options.vip) return matrix.vip(feed, query)
  return options.live ? matrix.live(feed, query) : matrix.delayed(feed, query)
}

function queryOf(options: MatrixOptions): MatrixVipQuery & { limit: number } {
  const { symbol, minScore, sort, filter, asOf, history, method } = options
  if (!options.vip) {
    if (history !== undefined) throw usageError('--history needs --vip and one --symbol')
    if (method !== undefined) throw usageError('--method needs --vip')
  }
  return {
    limit: options.limit,
    ...(symbol === undefined ? {} : { symbol }),
    ...(minScore === undefined ? {} : { min_score: minScore }),
    ...(sort === undefined ? {} : { sort }),
    ...(filter === undefined ? {} : { filter }),
    ...(asOf === undefined ? {} : { as_of: asOf }),
    ...(options.screen === undefined ? {} : { screen: options.screen }),
    ...(history === undefined ? {} : { history }),
    ...(method === undefined ? {} : { method: method as NonNullable<MatrixVipQuery['method']> }),
  }
}

/** Neither the free tier nor a subscription needs a wallet: the one made here is never asked to sign. */
async function openClient(
  { terminal }: CommandContext,
  options: MatrixOptions,
  onRefused: () => void,
): Promise<AssayClient> {
  if (!URL.canParse(options.url)) throw usageError(`--url: not a URL: ${options.url}`)
  const token = options.token ?? terminal.env['ASSAY_FEED_TOKEN']
  const pays = token === undefined && (options.live || options.vip || options.bulk !== undefined)
  const wallet = pays ? await chooseWallet(options.url, options, terminal) : undefined
  return createAssayClient({
    account: wallet?.account ?? privateKeyToAccount(generatePrivateKey()),
    baseUrl: options.url,
    maxPerCallUsd: pays ? options.maxAmount : '0',
    confirm: agreeTo(terminal, options),
    ...(wallet ? { networks: wallet.networks } : {}),
    ...(token === undefined ? {} : { fetch: withToken(options.url, token, onRefused) }),
  })
}

/** The token is sent to the node that it is for and to nobody else. */
function withToken(node: string, token: string, onRefused: () => void): (request: Request) => Promise<Response> {
  const { origin } = new URL(node)
  return async (request) => {
    if (new URL(request.url).origin === origin) request.headers.set('authorization', `Bearer ${token}`)
    const response = await fetch(request)
    if (response.status === 402) onRefused()
    return response
  }
}

function indexText(entries: readonly MatrixIndexEntry[]): string {
  return table(entries, [
    { title: 'feed', of: (row) => row.id },
    { title: 'what', of: (row) => row.title },
    { title: 'as of', of: (row) => row.freshness.as_of ?? 'nothing yet' },
    { title: 'stale', of: (row) => (row.freshness.stale ? 'yes' : 'no') },
    { title: 'live', of: (row) => (row.licence.sold ? `${row.prices.live?.usd} USD` : 'not sold'), right: true },
    { title: 'vip', of: (row) => (row.licence.sold ? `${row.prices.vip?.usd} USD` : 'not sold'), right: true },
  ])
}
