import { type AssayError, createAssayClient, createIntents, type Intents, type StreamedEvent, tickOf } from '@assay/sdk'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { type AgreeOptions, agreeTo, unlessDryRun } from '../buy/agree.ts'
import { chooseWallet, type WalletOptions } from '../buy/choose-wallet.ts'
import type { CommandContext } from '../command-context.ts'
import { usageError } from '../exit-codes.ts'
import { printResult, table, toJson } from '../output.ts'
import type { Terminal } from '../terminal.ts'
import { createDemandBoard } from './demand-board.ts'

export type StreamOptions = WalletOptions &
  AgreeOptions & {
    url: string
    cluster?: string
    clusters?: boolean
    sample?: boolean
    signal?: boolean
    files?: boolean
    file?: string
    series?: boolean
    token?: string
    after?: string
    buckets?: string
    maxAmount?: string
  }

export async function runStream({ terminal }: CommandContext, options: StreamOptions): Promise<void> {
  if (!URL.canParse(options.url)) throw usageError(`--url: not a URL: ${options.url}`)
  if (options.buckets !== undefined && !/^[1-9]\d{0,6}$/.test(options.buckets))
    throw usageError('--buckets: must be a whole number above zero')
  const intents = await openIntents(terminal, options)
  if (options.clusters) return showClusters(terminal, intents, options)
  if (options.signal) return showSignal(terminal, intents, options)
  if (options.sample) return showSample(terminal, intents, options)
  if (options.files || options.file !== undefined || options.series)
    return showPast(terminal, intents, options).catch(refusedToken(terminal, options))
  if (tokenOf(terminal, options) === undefined && !mayBuy(options))
    throw usageError(
      'nothing to open the stream with',
      'Give the token of a subscription (--token), or let 30 days be bought with --max-amount; --sample shows a free hour.',
    )
  await unlessDryRun(terminal, options, () =>
    terminal.untilInterrupted((signal) => follow(terminal, intents, options, signal)),
  ).catch(refusedToken(terminal, options))
}

const tokenOf = (terminal: Terminal, options: StreamOptions) => options.token ?? terminal.env['ASSAY_STREAM_TOKEN']
const mayBuy = ({ maxAmount, dryRun }: StreamOptions) => maxAmount !== undefined || dryRun === true

/** A node that does not take the token asks for its price, or for a proof. */
function refusedToken(terminal: Terminal, options: StreamOptions): (error: unknown) => never {
  return (error) => {
    const { code, details } = error as Partial<AssayError>
    const asks = code === 'no_acceptable_offer' || [401, 402].includes(details?.['status'] as number)
    if (!asks || tokenOf(terminal, options) === undefined) throw error
    throw usageError('--token: the node does not take it', 'It has ended, was revoked, or is of another node.')
  }
}

/** A dry run signs nothing, so that no price is too high to be shown. */
const anyPriceUsd = '1000000'

/** What is free needs no wallet, nor does a token: the one made here is never asked to sign. */
async function openIntents(terminal: Terminal, options: StreamOptions): Promise<Intents> {
  const wallet = mayBuy(options) ? await chooseWallet(options.url, options, terminal) : undefined
  const client = createAssayClient({
    account: wallet?.account ?? privateKeyToAccount(generatePrivateKey()),
    baseUrl: options.url,
    maxPerCallUsd: options.maxAmount ?? (options.dryRun ? anyPriceUsd : '0'),
    confirm: agreeTo(terminal, options),
    ...(wallet ? { networks: wallet.networks } : {}),
  })
  return createIntents(client, { node: options.url })
}

async function showClusters(terminal: Terminal, intents: Intents, { json }: StreamOptions): Promise<void> {
  const answer = await intents.clusters()
  printResult(terminal, json, answer, () =>
    [
      table(answer.data, [
        { title: 'id', of: (row) => row.id },
        { title: 'topic', of: (row) => `${'  '.repeat(row.tier - 1)}${row.name}` },
        { title: 'from', of: (row) => row.source },
      ]),
      answer.attribution,
    ].join('\n'),
  )
}

/** The events of these topics, and those that are of no topic. */
export function onlyClusters<E extends { data: Record<string, unknown> }>(events: readonly E[], list?: string): E[] {
  const wanted = list?.split(',').map((id) => id.trim())
  return events.filter(({ data }) => {
    const { cluster } = data as { cluster?: { id: string } }
    return wanted === undefined || cluster === undefined || wanted.includes(cluster.id)
  })
}

async function showSample(terminal: Terminal, intents: Intents, { json, cluster }: StreamOptions): Promise<void> {
  const whole = await intents.sample()
  const sample = { ...whole, data: onlyClusters(whole.data, cluster) }
  if (json) return terminal.out(toJson(sample))
  const board = createDemandBoard('stretch')
  for (const event of sample.data)
    if (event.type === 'market.intent.tick.v1') board.add(event.data as unknown as Parameters<typeof board.add>[0])
  terminal.out(`${sample.from_at} to ${sample.to_at}${sample.note === null ? '' : `\n${sample.note}`}`)
  terminal.out(board.text())
}

/** What a subscription has published so far, without holding a line open. */
async function showPast(terminal: Terminal, intents: Intents, options: StreamOptions): Promise<void> {
  const token = tokenOf(terminal, options)
  if (token === undefined) throw usageError('--token: needed for what subscribers alone may read')
  if (options.file !== undefined) return terminal.out((await intents.file(token, options.file)).trimEnd())
  if (options.files) {
    const { data } = await intents.files(token)
    return printResult(terminal, options.json, { data }, () =>
      table(data, [
        { title: 'file', of: (row) => row.file },
        { title: 'events', of: (row) => String(row.events), right: true },
        { title: 'complete', of: (row) => (row.complete ? 'yes' : 'no') },
      ]),
    )
  }
  if (options.cluster === undefined) throw usageError('--series: name one --cluster')
  const rows = await intents.series(token, options.cluster)
  printResult(terminal, options.json, { data: rows }, () =>
    table(rows, [
      { title: 'until', of: (row) => row.ends_at },
      { title: 'demand', of: (row) => String(row.demand), right: true },
      { title: '± 95 %', of: (row) => String(row.error_95 ?? ''), right: true },
      { title: 'bonded', of: (row) => String(row.bonded), right: true },
    ]),
  )
}

const pct = (value: number | null): string => (value === null ? '-' : `${value} %`)

async function showSignal(terminal: Terminal, intents: Intents, { json }: StreamOptions): Promise<void> {
  const signal = await intents.signal()
  const { last_day, privacy } = signal
  printResult(terminal, json, signal, () =>
    [
      signal.sold ? 'For sale.' : `Not for sale: ${signal.reason}`,
      last_day === null
        ? 'Nothing was published yet.'
        : `Last day: ${last_day.figures} figures, 95 % error ${pct(last_day.error_pct)} of demand; at most ${signal.promised_error_pct} % is promised.`,
      `Privacy: epsilon ${privacy.epsilon_daily} a day; buckets of ${privacy.bucket_seconds} s, ${privacy.tiers} tiers of topics.`,
      '',
      'Simulated with these settings:',
      table(signal.simulated, [
        { title: 'agents a day', of: (row) => String(row.agents_daily), right: true },
        { title: 'bucket', of: (row) => `${row.bucket_seconds} s`, right: true },
        { title: 'tiers', of: (row) => String(row.tiers), right: true },
        { title: 'topics shown', of: (row) => String(row.figures), right: true },
        { title: '95 % error', of: (row) => pct(row.error_pct), right: true },
        { title: 'within error', of: (row) => pct(row.covered_pct), right: true },
        { title: 'sold', of: (row) => (row.sold ? 'yes' : 'no') },
      ]),
    ].join('\n'),
  )
}

async function follow(
  terminal: Terminal,
  intents: Intents,
  options: StreamOptions,
  signal: AbortSignal,
): Promise<void> {
  const token = tokenOf(terminal, options)
  const board = createDemandBoard()
  let left = options.buckets === undefined ? Number.POSITIVE_INFINITY : Number(options.buckets)
  const events = intents.stream({
    signal,
    ...(token ? { token } : { buy: mayBuy(options) }),
    ...(options.after === undefined ? {} : { lastEventId: options.after }),
    ...(options.cluster === undefined ? {} : { clusters: options.cluster.split(',').map((id) => id.trim()) }),
    onReconnect: (reason) => terminal.say(`connecting again: ${reason}`),
  })
  for await (const received of events) {
    if (options.json) terminal.out(received.json)
    else show(terminal, board, received)
    if (received.name === 'bucket') left -= 1
    if (left <= 0) return
  }
}

function show(terminal: Terminal, board: ReturnType<typeof createDemandBoard>, received: StreamedEvent): void {
  const { name, event } = received
  const tick = tickOf(received)
  const said = (field: string) => String(event.data[field])
  if (tick) board.add(tick)
  else if (name === 'bucket') {
    board.close(said('ends_at'))
    terminal.out(`\n${said('ends_at')}\n${board.text()}`)
  } else if (name === 'gap') terminal.say(`left out: ${said('from')} to ${said('to')}`)
  else if (name === 'end') terminal.say(`the stream ended: ${said('reason')}`)
  else if (name === 'subscription') sayTerms(terminal, event.data)
}

function sayTerms(terminal: Terminal, data: Record<string, unknown>): void {
  const { subscription, token } = data as { subscription: { until_at: string } | null; token: string | null }
  if (subscription) terminal.say(`open until ${subscription.until_at}`)
  if (token !== null) terminal.say(`keep this token to come back without paying: ${token}`)
}
