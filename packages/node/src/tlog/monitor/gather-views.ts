import { originHash } from '../witness-store.ts'
import type { View } from './compare-views.ts'
import { readAnchors, readNote } from './read-anchors.ts'
import { type Description, readHead } from './read-head.ts'
import { remoteTiles } from './tile-source.ts'
import type { Finding, LogState, MonitorDeps } from './types.ts'

const requestsPerView = 256

export type Gathered = { views: View[]; findings: Finding[]; anchors: LogState['anchors'] }

/** What others saw of this log: copies that were named, witnesses with an address, and the chain. */
export async function gatherViews(
  deps: MonitorDeps,
  state: LogState,
  description: Description | undefined,
): Promise<Gathered> {
  const copies = await Promise.all(deps.options.compare.map((prefix) => readCopy(deps, prefix)))
  const witnessed = await Promise.all(
    deps.options.witnesses.flatMap(({ url }) => (url === undefined ? [] : [readWitness(deps, url, state)])),
  )
  const chain = await readChain(deps, state, description)
  return {
    views: [...copies, ...witnessed].flatMap(({ view }) => view ?? []).concat(chain.views),
    findings: [...copies, ...witnessed].flatMap(({ finding }) => finding ?? []).concat(chain.findings),
    anchors: { block: chain.block, seen: state.anchors.seen },
  }
}

type Answer = { view?: View; finding?: Finding }
const unusable = (detail: string): Finding => ({ kind: 'view_unusable', severity: 'warning', detail })

async function readCopy({ http }: MonitorDeps, prefix: string): Promise<Answer> {
  const answer = await readHead(http, prefix)
  if (!answer.ok) return { finding: unusable(`${prefix}: ${answer.reason}`) }
  const tiles = remoteTiles(http, prefix, { requests: requestsPerView })
  return { view: { source: prefix, note: answer.head.note, tiles } }
}

/** C2SP tlog-witness: the head that a witness cosigned last. */
async function readWitness({ http }: MonitorDeps, url: string, { origin }: LogState): Promise<Answer> {
  const prefix = `${url.replace(/\/$/, '')}/${originHash(origin ?? '')}`
  const answer = await readHead(http, prefix)
  return answer.ok
    ? { view: { source: url, note: answer.head.note } }
    : { finding: unusable(`${url}: ${answer.reason}`) }
}

async function readChain({ http, options }: MonitorDeps, state: LogState, description: Description | undefined) {
  const none = { views: [] as View[], findings: [] as Finding[], block: state.anchors.block }
  if (options.rpc === undefined || state.origin === null) return none
  const { origin } = state
  const read = await readAnchors(http, options.rpc, origin, state.anchors.block)
  if (read.problem !== undefined) return { ...none, findings: [unusable(`the chain: ${read.problem}`)] }
  const compared = state.anchors.seen.filter(({ agrees }) => agrees !== null)
  const known = new Set([...compared, ...read.notes].map(({ transaction }) => transaction))
  const notes = [...read.notes]
  const findings: Finding[] = []
  const listed = description?.anchors.filter(({ anchored }) => anchored) ?? []
  for (const { transaction, size } of [...state.anchors.seen, ...listed.slice(0, 10)]) {
    if (known.has(transaction)) continue
    known.add(transaction)
    const note = await readNote(http, options.rpc, transaction, origin).catch(() => undefined)
    if (note) notes.push(note)
    else
      findings.push({
        kind: 'anchor_missing',
        severity: 'warning',
        detail: `the log names ${transaction} as the anchor of size ${size}; that transaction does not hold it`,
      })
  }
  const views = notes.map(({ transaction, note }) => ({ source: `anchor ${transaction}`, note }))
  return { views, findings, block: read.block }
}
