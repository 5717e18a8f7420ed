import { createAssayClient, createMatrix, type Matrix, type MatrixAnswer, type MatrixIndexEntry } from '@assay/sdk'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { type AgreeOptions, agreeTo, unlessDryRun } from '../buy/agree.ts'
import { chooseWallet, type WalletOptions } from '../buy/choose-wallet.ts'
import type { CommandContext } from '../command-context.ts'
import { usageError } from '../exit-codes.ts'
import { printResult, table } from '../output.ts'
import { feedTable } from './feed-table.ts'
import { qualityText } from './quality-text.ts'

export type MatrixOptions = WalletOptions &
  AgreeOptions & {
    url: string
    limit: string
    symbol?: string
    minScore?: string
    live?: boolean
    vip?: boolean
    asOf?: string
    history?: string
    quality?: boolean
    maxAmount: string
  }

export async function runMatrix(
  context: CommandContext,
  feed: string | undefined,
  options: MatrixOptions,
): Promise<void> {
  const { terminal } = context
  const matrix = await openMatrix(context, options)
  if (feed === undefined) {
    const index = await matrix.index()
    return printResult(terminal, options.json, index, () => indexText(index.data))
  }
  if (options.quality) {
    const quality = await matrix.quality(feed)
    return printResult(terminal, options.json, quality, () => qualityText(quality))
  }
  const answer = await unlessDryRun(terminal, options, () => pull(matrix, feed, options))
  if (answer !== undefined) printResult(terminal, options.json, answer, () => feedTable(answer))
}

function pull(matrix: Matrix, feed: string, options: MatrixOptions): Promise<MatrixAnswer> {
  const query = {
    limit: Number(options.limit),
    ...(options.symbol === undefined ? {} : { symbol: options.symbol }),
    ...(options.minScore === undefined ? {} : { min_score: options.minScore }),
  }
  if (options.vip)
    return matrix.vip(feed, {
      ...query,
      ...(options.asOf === undefined ? {} : { as_of: options.asOf }),
      ...(options.history === undefined ? {} : { history: Number(options.history) }),
    })
  if (options.asOf !== undefined) throw usageError('--as-of needs --vip')
  if (options.history !== undefined) throw usageError('--history needs --vip and one --symbol')
  return options.live ? matrix.live(feed, query) : matrix.delayed(feed, query)
}

/** The free tier needs no wallet: the one made here is never asked to sign. */
async function openMatrix({ terminal }: CommandContext, options: MatrixOptions): Promise<Matrix> {
  if (!URL.canParse(options.url)) throw usageError(`--url: not a URL: ${options.url}`)
  const pays = options.live || options.vip
  const wallet = pays ? await chooseWallet(options.url, options, terminal) : undefined
  const client = createAssayClient({
    account: wallet?.account ?? privateKeyToAccount(generatePrivateKey()),
    baseUrl: options.url,
    maxPerCallUsd: pays ? options.maxAmount : '0',
    confirm: agreeTo(terminal, options),
    ...(wallet ? { networks: wallet.networks } : {}),
  })
  return createMatrix(client)
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
