import { lookup } from 'node:dns/promises'
import { discover, readMesh } from '@assay/sdk'
import type { CommandContext } from '../command-context.ts'
import { CliError, exitCodes, usageError } from '../exit-codes.ts'
import { explainMissing } from '../load-node.ts'
import type { Operator } from '../operator/connect.ts'
import { ageText, printResult, table } from '../output.ts'

const loadMesh = () => import('@assay/node/shops/mesh').catch(explainMissing)

export type PeersOptions = { url: string; json?: boolean }
export type JoinOptions = { wait: number; url?: string; json?: boolean }
export type FindOptions = PeersOptions & { maxPrice?: string; schema?: string }

const pollEveryMs = 250

/** Names the node in the database; the running node sees it at its next round and says whether it answered. */
export async function joinMesh(
  context: CommandContext,
  operator: Operator,
  url: string,
  options: JoinOptions,
): Promise<void> {
  const { node, database, stopped } = operator
  const { terminal } = context
  const address = node.parseNodeAddress(url.replace(/\/$/, ''))
  if (address === undefined)
    throw usageError(`not the address of a node: ${url}`, 'An https origin, or http://127.0.0.1:<port> in demo mode.')
  if (options.url !== undefined) await requireNodeOf(operator, parseUrl(options.url).origin)
  const { systemClock: clock } = node
  const { addSeed } = await loadMesh()
  await addSeed(database, address.origin, clock.nowMs())
  const peer = stopped ? undefined : await waitUntilSeen(operator, address.did, options.wait * 1000)
  const state = peer?.state
  const reason =
    state === 'alive' ? undefined : (peer?.problem ?? (stopped ? 'the node is not running' : 'not visited yet'))
  const result = { address: address.origin, did: address.did, state: state ?? 'noted', reason: reason ?? null }
  printResult(terminal, options.json, result, () =>
    state === 'alive'
      ? `joined through ${address.origin} (${address.did})`
      : `noted ${address.origin}; ${stopped ? 'the node joins when it is started' : `it has not answered: ${whyTexts[reason ?? ''] ?? reason}`}`,
  )
  if (!stopped && state !== 'alive') context.endWith(exitCodes.failed)
}

const whyTexts: Record<string, string> = {
  scheme:
    'only https is spoken, on a demo node also http with the ports of this machine that MESH allows (4020 to 4059)',
  no_address: 'its name has no address',
  connect: 'nothing listens there',
  timeout: 'it took too long',
  tls: 'its certificate is not accepted',
}

/** The environment decides which database is written; a node of another one would never hear of it. */
async function requireNodeOf({ database }: Operator, origin: string): Promise<void> {
  const { ownAddress } = await loadMesh()
  const own = await ownAddress(database)
  if (own !== undefined && own !== origin)
    throw usageError(
      `the configured database is of ${own}, not of ${origin}`,
      'Set DATABASE_URL or ASSAY_HOME of that node.',
    )
}

async function waitUntilSeen({ node, database }: Operator, did: string, forMs: number) {
  const { systemClock: clock } = node
  const { findPeer } = await loadMesh()
  const untilMs = clock.monotonicMs() + forMs
  for (;;) {
    const peer = await findPeer(database, did)
    if (peer?.state === 'alive' || clock.monotonicMs() >= untilMs) return peer
    await clock.sleep(pollEveryMs)
  }
}

export async function showPeers({ terminal }: CommandContext, options: PeersOptions): Promise<void> {
  const { origin } = parseUrl(options.url)
  const { node, peers } = await readMesh(origin)
  const document = {
    node: { did: node.did, address: node.address },
    data: peers.map((peer) => ({
      did: peer.did,
      address: peer.address,
      state: peer.state,
      health: peer.health ?? null,
      latency_ms: peer.latencyMs ?? null,
      last_seen_at: peer.lastSeenAt ?? null,
      recommended: peer.recommended,
      price_mismatch: peer.priceMismatch,
    })),
  }
  printResult(terminal, options.json, document, () =>
    document.data.length === 0
      ? `${node.did} knows no peers; \`assay mesh join <url>\` or MESH_PEERS names one`
      : table(document.data, [
          { title: 'node', of: (peer) => peer.address },
          { title: 'state', of: (peer) => peer.state },
          { title: 'health', of: (peer) => peer.health?.toFixed(2) ?? '', right: true },
          { title: 'latency', of: (peer) => (peer.latency_ms === null ? '' : `${peer.latency_ms} ms`), right: true },
          { title: 'seen', of: (peer) => seenText(peer.last_seen_at) },
          { title: '', of: (peer) => (peer.price_mismatch ? 'asks other prices than it states' : '') },
        ]),
  )
}

const seenText = (at: string | null) => (at === null ? '' : `${ageText(Date.now() - Date.parse(at))} ago`)

export async function findNodes({ terminal }: CommandContext, capability: string, options: FindOptions): Promise<void> {
  const { origin } = parseUrl(options.url)
  const { found, rejected, disagreements } = await discover(capability, {
    nodes: [origin],
    limit: 20,
    resolve: addressesOf,
    ...(options.maxPrice === undefined ? {} : { maxPriceUsd: options.maxPrice }),
    ...(options.schema === undefined ? {} : { schema: options.schema }),
  })
  if (found.length === 0 && !options.json) throw nobodyOffers(capability, rejected)
  const rows = found.map((node) => ({
    did: node.did,
    method: node.method,
    url: node.url,
    price_usd: node.priceUsd,
    price_micro: node.priceMicro,
    networks: node.networks,
    health: node.health ?? null,
    latency_ms: node.latencyMs,
    schema: node.schema ?? null,
    evidence: node.evidence,
    why: node.why,
  }))
  for (const { address, about, views } of disagreements)
    terminal.say(
      `nodes disagree on the ${about} of ${address}: ${views.map((view) => `${view.node} says ${view.says}`).join('; ')}`,
    )
  printResult(terminal, options.json, { capability, data: rows, rejected, disagreements }, () =>
    table(rows, [
      { title: 'price', of: (row) => `${row.price_usd} USD`, right: true },
      { title: 'method', of: (row) => row.method },
      { title: 'url', of: (row) => row.url },
      { title: 'health', of: (row) => row.health?.toFixed(2) ?? '', right: true },
      { title: 'latency', of: (row) => `${row.latency_ms} ms`, right: true },
      { title: 'why', of: (row) => row.why },
    ]),
  )
}

export const nobodyOffers = (capability: string, rejected: readonly { address: string; reason: string }[]) =>
  new CliError(exitCodes.failed, 'nobody_offers_it', `nobody offers ${capability}`, {
    hint:
      rejected.map((one) => `${one.address}: ${one.reason}`).join('; ') ||
      'Such as token.control.report; /.well-known/x402 of a node lists what it offers.',
  })

/** A public name must not lead inside. */
export const addressesOf = async (hostname: string): Promise<string[]> =>
  (await lookup(hostname, { all: true })).map(({ address }) => address)

export function parseUrl(url: string): URL {
  if (!URL.canParse(url)) throw usageError(`--url: not a URL: ${url}`)
  return new URL(url)
}
